"""Checks of the arguments that simulations take: each error says what to write instead."""

from __future__ import annotations

import math
from typing import Any

from ordeal.simulate.errors import SimulationError


def checked_number(name: str, value: Any, least: int, most: int) -> int:
    """Return ``value``; raises SimulationError unless it is a whole number in these bounds."""
    if type(value) is not int or not least <= value <= most:
        raise SimulationError(f"{name} is {value!r:.100}", hint=f"write a whole number from {least} to {most:,}")
    return value


def checked_seconds(name: str, value: Any, most: float = math.inf, *, unit: str = "seconds") -> float:
    """Return ``value``; raises SimulationError unless it is a number of ``unit`` above 0 and up to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        limit = "" if most == math.inf else f" and up to {most:g}"
        raise SimulationError(f"{name} is {value!r:.100}", hint=f"write a number of {unit} above 0{limit}")
    return float(value)


def checked_share(name: str, value: Any) -> float:
    """Return ``value``; raises SimulationError unless it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SimulationError(f"{name} is {value!r:.100}", hint="write a share from 0 to 1, such as 0.1")
    return float(value)
