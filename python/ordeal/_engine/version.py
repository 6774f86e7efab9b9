"""The installed version of ordeal."""

from __future__ import annotations

import importlib.metadata
from functools import cache


@cache
def version() -> str:
    """Return the version, as the installed distribution names it."""
    try:
        return importlib.metadata.version("ordeal")
    except importlib.metadata.PackageNotFoundError:
        # The package is used from a checkout that was never installed.
        return "0+unknown"
