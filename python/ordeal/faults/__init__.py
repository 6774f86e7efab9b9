"""Faults: failures that a ChaosTest switches on and off while it runs.

The families are separate modules: ``from ordeal.faults import io, timing``.
"""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import TYPE_CHECKING

from ordeal.faults.call_faults import CallFault, PatchFault
from ordeal.faults.fault import Fault, LambdaFault, MultiPatchFault, release

if TYPE_CHECKING:
    from ordeal.faults import concurrency, database, io, memory, network, numerical, randomness, timing

__all__ = [
    "CallFault",
    "Fault",
    "LambdaFault",
    "MultiPatchFault",
    "PatchFault",
    "catalog",
    "concurrency",
    "database",
    "io",
    "memory",
    "network",
    "numerical",
    "randomness",
    "release",
    "timing",
]

_FAMILIES = ("timing", "io", "numerical", "network", "concurrency", "database", "memory")


def __getattr__(name: str) -> ModuleType:
    # After `import ordeal.faults`, `ordeal.faults.io` works; a search loads only the families that its machine names.
    if name in _FAMILIES or name == "randomness":
        return importlib.import_module(f"ordeal.faults.{name}")
    raise AttributeError(f"module 'ordeal.faults' has no attribute {name!r}")


def catalog() -> list[dict[str, str]]:
    """Return each function that makes a fault: ``name``, ``module``, ``qualname``, ``signature``, ``doc``."""
    return [
        {
            "name": factory.__name__,
            "module": family.__name__,
            "qualname": f"{family.__name__}.{factory.__name__}",
            "signature": str(inspect.signature(factory)),
            "doc": (inspect.getdoc(factory) or "").partition("\n")[0],
        }
        for family in (importlib.import_module(f"ordeal.faults.{name}") for name in _FAMILIES)
        for _, factory in inspect.getmembers(family, inspect.isfunction)
        if factory.__name__ in family.__all__
    ]
