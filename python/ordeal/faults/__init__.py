"""Faults: failures that a ChaosTest switches on and off while it runs.

The families are separate modules: ``from ordeal.faults import io, timing``.
"""

from __future__ import annotations

import inspect
from types import FunctionType, ModuleType

from ordeal.faults import concurrency, database, io, network, numerical, randomness, timing
from ordeal.faults.call_faults import CallFault, PatchFault
from ordeal.faults.fault import Fault, LambdaFault, MultiPatchFault, release
from ordeal.faults.patching import bound_elsewhere, kept_elsewhere

__all__ = [
    "CallFault",
    "Fault",
    "LambdaFault",
    "MultiPatchFault",
    "PatchFault",
    "bound_elsewhere",
    "catalog",
    "concurrency",
    "database",
    "io",
    "kept_elsewhere",
    "network",
    "numerical",
    "randomness",
    "release",
    "timing",
]

_FAMILIES: tuple[ModuleType, ...] = (timing, io, numerical, network, concurrency, database)


def catalog() -> list[dict[str, str]]:
    """Return each function that makes a fault: ``name``, ``module``, ``qualname``, ``signature``, ``doc``."""
    return [
        _entry(family, factory)
        for family in _FAMILIES
        for _, factory in inspect.getmembers(family, inspect.isfunction)
        if factory.__name__ in family.__all__
    ]


def _entry(family: ModuleType, factory: FunctionType) -> dict[str, str]:
    return {
        "name": factory.__name__,
        "module": family.__name__,
        "qualname": f"{family.__name__}.{factory.__name__}",
        "signature": str(inspect.signature(factory)),
        "doc": (inspect.getdoc(factory) or "").partition("\n")[0],
    }
