"""How long a step may take in a replay: many times what its rule has taken, where that is less than its limit.

A rule that hangs takes its whole limit, each time. To confirm, shrink and meet again a hang of 30 s would take minutes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

#: How many times the slowest step of a rule that passed is too long.
TIMES = 50.0
#: The lowest limit, in seconds: a busy machine may halt a process for a while.
SECONDS_MIN = 0.05
#: By how much the limits grow when one turned out to be too low.
GROWTH = 10.0


class RuleLimits:
    """The limits of the rules of one machine, none above ``full`` seconds. Not thread-safe.

    Attributes:
        ended_in: the name of what ran when a step was ended last.
    """

    def __init__(self, full: float) -> None:
        self._full = full if full > 0 else math.inf
        self._times = TIMES
        self._slowest: dict[str, float] = {}
        self._slowest_run = 0.0
        self._hanging: set[str] = set()
        self._are_full = False
        self._adapts_all = False
        self.ended_in = ""

    def learn(self, slowest: Mapping[str, float]) -> None:
        """Take in how long the slowest passing steps of some rules took, in seconds."""
        for rule, seconds in slowest.items():
            self._slowest[rule] = max(seconds, self._slowest.get(rule, 0.0))

    def limit_of(self, rule: str) -> float:
        """Return the present limit of a rule, in seconds. One that never passed is taken to be as slow as any other."""
        if self._are_full or not (self._adapts_all or rule in self._hanging):
            return self._full
        slowest = self._slowest.get(rule) or max(self._slowest.values(), default=self._slowest_run)
        if not slowest:
            return self._full
        return min(self._full, max(SECONDS_MIN, self._times * slowest))

    def learn_run(self, seconds: float) -> None:
        """Take in how long a run took that ended well: no step of it can have taken longer."""
        self._slowest_run = max(seconds, self._slowest_run)

    @property
    def expects_hangs(self) -> bool:
        """Whether a rule may have less than its full limit outside blocks that adapt the limits."""
        return bool(self._hanging)

    def expect_hang(self, rule: str) -> None:
        """Adapt the limit of a rule that is known to hang, from now on."""
        self._hanging.add(rule)

    def grow(self) -> None:
        """Raise all limits, because a step that had reached its own passes."""
        self._times *= GROWTH
        self._slowest = {rule: max(seconds, SECONDS_MIN / TIMES) for rule, seconds in self._slowest.items()}

    @contextmanager
    def adapted(self) -> Iterator[None]:
        """Adapt the limits of all rules during the block."""
        before, self._adapts_all = self._adapts_all, True
        try:
            yield
        finally:
            self._adapts_all = before

    @contextmanager
    def full(self) -> Iterator[None]:
        """Give all rules their full limit during the block."""
        before, self._are_full = self._are_full, True
        try:
            yield
        finally:
            self._are_full = before
