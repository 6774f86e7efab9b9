"""Faults: failures that a ChaosTest switches on and off while it runs.

The families are modules of their own: ``from ordeal.faults import io, timing``.
"""

from __future__ import annotations

import inspect
from types import ModuleType

from ordeal.faults import io, randomness, timing
from ordeal.faults.fault import CallFault, Fault, LambdaFault, MultiPatchFault, PatchFault, release
from ordeal.faults.patching import bound_elsewhere

__all__ = [
    "CallFault",
    "Fault",
    "LambdaFault",
    "MultiPatchFault",
    "PatchFault",
    "bound_elsewhere",
    "catalog",
    "io",
    "randomness",
    "release",
    "timing",
]

_FAMILIES: tuple[ModuleType, ...] = (timing, io)


def catalog() -> list[dict[str, str]]:
    """Every function that makes a fault: ``name``, ``qualname``, ``signature``, and the first line of its ``doc``."""
    return [_entry(family, name) for family in _FAMILIES for name in sorted(family.__all__)]


def _entry(family: ModuleType, name: str) -> dict[str, str]:
    factory = getattr(family, name)
    return {
        "name": name,
        "qualname": f"{family.__name__}.{name}",
        "signature": str(inspect.signature(factory)),
        "doc": (inspect.getdoc(factory) or "").partition("\n")[0],
    }
