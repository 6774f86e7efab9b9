"""Runs the command line for ``python -m ordeal``."""

from __future__ import annotations

import sys

from ordeal.cli import main

if __name__ == "__main__":
    sys.exit(main())
