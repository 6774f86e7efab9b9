"""Machines that compare: a system with a model of it, and oracles that need no model."""

from __future__ import annotations

from ordeal.errors import DivergenceError
from ordeal.model.call_result import same
from ordeal.model.idempotence import Idempotence
from ordeal.model.incremental import Incremental
from ordeal.model.operation import VacuousOpWarning, op
from ordeal.model.pair import Pair
from ordeal.model.round_trip import RoundTrip
from ordeal.model.two_implementations import TwoImplementations
from ordeal.model.undo import Undo

__all__ = [
    "DivergenceError",
    "Idempotence",
    "Incremental",
    "Pair",
    "RoundTrip",
    "TwoImplementations",
    "Undo",
    "VacuousOpWarning",
    "op",
    "same",
]
