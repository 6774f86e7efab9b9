"""The installed version of ordeal."""

from __future__ import annotations

import importlib
from functools import cache


@cache
def version() -> str:
    """Return the version, as the installed distribution names it."""
    metadata = importlib.import_module("importlib.metadata")  # which takes a fifth of the time of a help text
    try:
        return str(metadata.version("ordeal"))
    except metadata.PackageNotFoundError:
        # The package is used from a checkout that was never installed.
        return "0+unknown"
