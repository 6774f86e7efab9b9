"""Model pairs: the same operations on a system and on a model of it, with every result compared."""

from __future__ import annotations

from ordeal.model.call_result import same
from ordeal.model.pair import DivergenceError, Pair, VacuousOpWarning, op

__all__ = ["DivergenceError", "Pair", "VacuousOpWarning", "op", "same"]
