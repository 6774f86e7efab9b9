"""Opens a page that was written, where somebody sits before a screen."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ordeal.cli import terminal


def open_page(path: Path) -> None:
    """Open a page in a browser where somebody sits before a screen."""
    if has_screen(os.environ) and terminal.is_terminal():
        importlib.import_module("webbrowser").open(path.absolute().as_uri())


def has_screen(environment: Mapping[str, str]) -> bool:
    """Return whether a browser has a window to open in: one that draws in this terminal would take it over."""
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))
