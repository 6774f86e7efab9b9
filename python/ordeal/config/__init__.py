"""The options of ordeal: their names, their valid values, and the settings file that holds them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ordeal.config.settings_file import OrdealConfig, load_config

__all__ = ["OrdealConfig", "load_config"]


def __getattr__(name: str) -> Any:
    """Return what the settings file is read with, which an exploration does not wait for."""
    if name in __all__:
        return getattr(importlib.import_module("ordeal.config.settings_file"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
