"""Invariants on values: what must hold of a result, said once and checked by a call.

``finite(weights)`` returns nothing when the invariant holds and raises AssertionError when it does not. ``a & b`` is
both. numpy is needed only by the invariants on vectors and matrices, and imported when one of them is checked.
"""

from __future__ import annotations

import inspect

from ordeal.invariants.arrays import orthonormal, positive_semi_definite, rank_bounded, symmetric, unit_normalized
from ordeal.invariants.check import Check, Invariant
from ordeal.invariants.collections import monotonic, non_empty, unique
from ordeal.invariants.numbers import bounded, finite, mean_bounded, no_inf, no_nan, variance_bounded

__all__ = [
    "Check",
    "Invariant",
    "bounded",
    "catalog",
    "finite",
    "mean_bounded",
    "monotonic",
    "no_inf",
    "no_nan",
    "non_empty",
    "orthonormal",
    "positive_semi_definite",
    "rank_bounded",
    "symmetric",
    "unique",
    "unit_normalized",
    "variance_bounded",
]

_READY = {
    "finite": "Every number is finite.",
    "no_inf": "No number is infinite.",
    "no_nan": "No number is NaN.",
}
_NOT_INVARIANTS = {"Check", "Invariant", "catalog"}


def catalog() -> list[dict[str, str]]:
    """List every invariant.

    ``name``, ``qualname``, ``signature`` (empty for those ready to use), first line of ``doc``.
    """
    rows = []
    for name in __all__:
        if name in _NOT_INVARIANTS:
            continue
        signature, doc = "", _READY.get(name)
        if doc is None:
            factory = globals()[name]
            signature, doc = str(inspect.signature(factory)), (inspect.getdoc(factory) or "").partition("\n")[0]
        rows.append({"name": name, "qualname": f"{__name__}.{name}", "signature": signature, "doc": doc})
    return rows
