"""Limits: on which of the calls that meet a fault it acts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ordeal.errors import FaultError
from ordeal.faults.arguments import is_number, is_whole
from ordeal.faults.randomness import fault_chance


@dataclass(frozen=True)
class CallLimits:
    """Calls are counted from 1, from ``first`` to ``last`` (None: no end); each is met with ``probability``."""

    probability: float | None = None
    first: int = 1
    last: int | None = None

    def admits(self, fault_name: str, number: int) -> bool:
        """Return whether the fault acts on call ``number``. Draws only when that decides."""
        if number < self.first or (self.last is not None and number > self.last):
            return False
        return self.probability is None or fault_chance(self.probability, occasion=f"{fault_name} #{number}")

    def __str__(self) -> str:
        """Format it as in the name of a fault; empty without limits."""
        parts = [] if self.probability is None else [f"p={self.probability}"]
        if self.first > 1 or self.last is not None:
            parts.append(f"calls {self.first}..{'' if self.last is None else self.last}")
        return f"[{', '.join(parts)}]" if parts else ""


def make_limits(fault_name: str, probability: Any, calls: Any) -> CallLimits:
    """Make the limits that a user wrote. Raises FaultError when they are invalid."""
    if probability is not None and not (is_number(probability) and 0 <= probability <= 1):
        raise FaultError(f"fault {fault_name!r} got the probability {probability!r}", hint="write a number from 0 to 1")
    if calls is None:
        return CallLimits(probability)
    first: Any
    last: Any
    first, last = calls if isinstance(calls, tuple) and len(calls) == 2 else (None, None)
    if not (is_whole(first) and first >= 1 and (last is None or (is_whole(last) and last >= first))):
        raise FaultError(
            f"fault {fault_name!r} got the calls {calls!r}",
            hint="write the first and the last call it acts on, such as calls=(1, 3), or calls=(4, None) for no end",
        )
    return CallLimits(probability, first, last)
