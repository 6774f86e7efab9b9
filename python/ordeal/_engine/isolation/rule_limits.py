"""How long a step may take in a replay: many times what its rule has taken, where that is less than its limit.

A rule that hangs takes its whole limit, each time. To confirm, shrink and meet again a hang of 30 s would take minutes.
A search of 20 s cannot even wait for the first: it suspects a step that takes a good part of its time, looks once more,
and leaves it to what follows the search to see whether the step takes its whole limit.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

#: How many times the slowest step of a rule that passed is too long.
TIMES = 50.0
#: The lowest limit, in seconds: a busy machine may halt a process for a while.
SECONDS_MIN = 0.05
#: By how much the limits grow when one turned out to be too low.
GROWTH = 10.0
#: The parts of a search after which a step is suspected to hang: when it is met, and when it is looked at again. For
#: each rule that hangs both are halved, so that no number of them takes most of the search.
SUSPECTED, LOOKED_AT = 0.05, 0.1
#: The part of its limit that a step takes again where it took all of it before.
GLANCE = 0.1
#: The least of these, in seconds, and how many times the slowest run that ended well.
PATIENCE_MIN, PATIENCE_TIMES = 1.0, 10.0


def less_patience(seconds: float) -> float:
    """Return for how long a search waits once another rule hangs, if it waited so many seconds before."""
    return max(PATIENCE_MIN, seconds / 2)


class RuleLimits:
    """The limits of the rules of one machine, none above ``full`` seconds. Not thread-safe.

    Attributes:
        ended_in: the name of what ran when a step was ended last.
        looks_for: for how many seconds a search looks at a step at most; 0 if it waits for the full limit.
    """

    def __init__(self, full: float) -> None:
        self._full = full if full > 0 else math.inf
        self._times = TIMES
        self._slowest: dict[str, float] = {}
        self._slowest_run = 0.0
        self._hanging: set[str] = set()
        self._patience = math.inf
        self._hurried: frozenset[str] = frozenset()
        self._are_full = False
        self._longest = math.inf  # while a step is looked at
        self._adapts_all = False
        self.ended_in = ""
        self.looks_for = 0.0

    def learn(self, slowest: Mapping[str, float]) -> None:
        """Take in how long the slowest passing steps of some rules took, in seconds."""
        for rule, seconds in slowest.items():
            self._slowest[rule] = max(seconds, self._slowest.get(rule, 0.0))

    def limit_of(self, rule: str) -> float:
        """Return the present limit of a rule, in seconds. One that never passed is taken to be as slow as any other."""
        if self._are_full:
            return min(self._full, self._longest)
        if not (self._adapts_all or rule in self._hanging):
            return min(self._full, self._patience_with(rule))
        slowest = self._slowest.get(rule) or max(self._slowest.values(), default=self._slowest_run)
        if not slowest:
            return min(self._full, self._patience_with(rule), self.glance if rule == self.ended_in != "" else math.inf)
        return min(self._full, max(SECONDS_MIN, self._times * slowest))

    def _patience_with(self, rule: str) -> float:
        return max(self._patience, PATIENCE_TIMES * self._slowest_run) if rule in self._hurried else math.inf

    def begin_search(self, max_time: float, max_runs: int | None) -> None:
        """Take in how long a search may take.

        Where a number of runs ends it, nothing that a report shows may depend on the clock.
        """
        looks_for = max(PATIENCE_MIN, LOOKED_AT * max_time)
        self.looks_for = looks_for if max_runs is None and looks_for < self._full < math.inf else 0.0
        self._patience = max(PATIENCE_MIN, SUSPECTED * max_time) if self.looks_for else math.inf

    @contextmanager
    def hurried(self, rules: Collection[str]) -> Iterator[None]:
        """Let no step of ``rules`` take too much of the search during the block, unless runs that ended well did."""
        before, self._hurried = self._hurried, frozenset(rules) if self.looks_for else frozenset()
        try:
            yield
        finally:
            self._hurried = before

    def learn_run(self, seconds: float) -> None:
        """Take in how long a run took that ended well: no step of it can have taken longer."""
        self._slowest_run = max(seconds, self._slowest_run)

    @property
    def slowest_run(self) -> float:
        """How many seconds the slowest run took that ended well, as far as was told."""
        return self._slowest_run

    @property
    def glance(self) -> float:
        """For how many seconds a step is watched that has taken its full limit before."""
        return max(PATIENCE_MIN, GLANCE * self._full)

    @property
    def expects_hangs(self) -> bool:
        """Whether a rule may have less than its full limit outside blocks that adapt the limits."""
        return bool(self._hanging) or bool(self._hurried)

    def expect_hang(self, rule: str) -> None:
        """Adapt the limit of a rule that is known to hang, from now on; the search waits less for the next."""
        if rule not in self._hanging and self.looks_for:
            self.looks_for = less_patience(self.looks_for)
            self._patience = less_patience(self._patience)
        self._hanging.add(rule)

    def grow(self) -> None:
        """Raise all limits, because a step that had reached its own passes."""
        self._times *= GROWTH
        self._patience *= GROWTH
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
    def full(self, at_most: float = math.inf) -> Iterator[None]:
        """Give all rules their full limit during the block, or ``at_most`` so many seconds."""
        before, self._are_full, self._longest = (self._are_full, self._longest), True, at_most
        try:
            yield
        finally:
            self._are_full, self._longest = before
