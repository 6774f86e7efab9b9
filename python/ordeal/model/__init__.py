"""Machines that compare: a system with a model of it, and oracles that need no model."""

from __future__ import annotations

from ordeal.errors import DivergenceError
from ordeal.model.call_result import same
from ordeal.model.laws import Idempotence, Incremental, RoundTrip, TwoImplementations, Undo
from ordeal.model.operation import op
from ordeal.model.pair import Pair

__all__ = [
    "DivergenceError",
    "Idempotence",
    "Incremental",
    "Pair",
    "RoundTrip",
    "TwoImplementations",
    "Undo",
    "op",
    "same",
]
