"""Decides about hangs: when a step counts as hung, how often that is confirmed, and what its rule may still cost.

1. A step hangs that takes the whole limit of its rule, ``rule_timeout``. The watchdog asks here for the present limit
   and ends the step; a process that cannot be interrupted is ended from outside a little later.
2. A search that is short beside this limit cannot wait for it. It suspects a step that has taken a twentieth of its
   time, and looks once more, for a tenth. With each rule that hangs, both are halved. After the search, every suspect
   takes its whole limit once, in its own process, and counts only then.
3. A rule that is known to hang costs little from then on: it may take many times what its steps that passed took. So
   may all rules while a hang is replayed or shrunk; only the result takes the whole limit. If that passes, all limits
   grow. The core gives all known hangs and crashes a quarter of the time of a search: see ``core/search/rule_stats.h``.

Where a number of runs ends a search, nothing that a report shows may depend on the clock: there, every step has its
whole limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from ordeal._native import monotonic

#: A step that takes this many times as long as the slowest that passed hangs.
TIMES = 50.0
#: The lowest limit, in seconds: a busy machine may halt a process for a while.
SECONDS_MIN = 0.05
#: By how much the limits grow when one turned out to be too low.
GROWTH = 10.0
#: The share of a search after which a step is suspected; for twice as long it is looked at again.
SUSPECTED = 0.05
#: The least of both, in seconds, and how many times the slowest run that ended well.
PATIENCE_MIN, PATIENCE_TIMES = 1.0, 10.0
#: The part of its limit that a step takes again where it took all of it before.
GLANCE = 0.1
#: An alarm rings this often within a limit, and at least once a second.
TICKS_PER_LIMIT, TICK_SECONDS_MAX = 4, 1.0
#: How far a watched clock goes on between two readings at most: more than those who wait let pass between two looks.
GAP_SECONDS_MAX = 0.25


def ends_within(limit: float) -> float:
    """Return the latest time, in seconds, at which an interruptible step with this limit ends.

    The step is seen at the first tick, and ends at one: where that comes a little early, at the next.
    """
    return limit + 2 * min(limit / TICKS_PER_LIMIT, TICK_SECONDS_MAX)


class HangPolicy:
    """The limits of the rules of one machine, none above ``full`` seconds. Not thread-safe.

    Attributes:
        ended_in: the name of what ran when a step was ended last.
    """

    def __init__(self, full: float) -> None:
        self._full = full if full > 0 else math.inf
        self._grown = 1.0  # by how much the limits grew
        self._slowest: dict[str, float] = {}  # steps that passed, by rule
        self._slowest_run = 0.0  # that ended well
        self._hanging: set[str] = set()
        self._suspected = math.inf  # the share of the search after which a step is suspected, in seconds
        self._limit: Callable[[str], float] = self._usual
        self.ended_in = ""

    # -- what is known ------------------------------------------------------------------------------------------------

    def learn(self, slowest: Mapping[str, float]) -> None:
        """Take in how long the slowest passing steps of some rules took, in seconds."""
        for rule, seconds in slowest.items():
            self._slowest[rule] = max(seconds, self._slowest.get(rule, 0.0))

    def learn_run(self, seconds: float) -> None:
        """Take in how long a run took that ended well: no step of it can have taken longer."""
        self._slowest_run = max(seconds, self._slowest_run)

    @property
    def slowest_run(self) -> float:
        """How many seconds the slowest run took that ended well, as far as was reported."""
        return self._slowest_run

    def expect_hang(self, rule: str) -> None:
        """Note that a rule is known to hang; a search waits less for the next one."""
        if rule not in self._hanging:
            self._suspected /= 2
        self._hanging.add(rule)

    def grow(self) -> None:
        """Raise all limits, because a step that had reached its own passes."""
        self._grown *= GROWTH
        self._slowest = {rule: max(seconds, SECONDS_MIN / TIMES) for rule, seconds in self._slowest.items()}

    # -- how long a step may take -------------------------------------------------------------------------------------

    def limit_of(self, rule: str) -> float:
        """Return the present limit of a rule, in seconds."""
        return min(self._full, self._limit(rule))

    @property
    def glance(self) -> float:
        """For how many seconds a step is watched that has taken its full limit before."""
        return max(PATIENCE_MIN, GLANCE * self._full)

    def _usual(self, rule: str) -> float:
        return self._adapted(rule) if rule in self._hanging else math.inf

    def _adapted(self, rule: str) -> float:
        """Return many times what steps of the rule took. One that never passed is taken to be as slow as any other."""
        slowest = self._slowest.get(rule) or max(self._slowest.values(), default=self._slowest_run)
        if not slowest:
            return self.glance if rule == self.ended_in != "" else math.inf
        return max(SECONDS_MIN, TIMES * self._grown * slowest)

    @contextmanager
    def _with(self, limit: Callable[[str], float]) -> Iterator[None]:
        before, self._limit = self._limit, limit
        try:
            yield
        finally:
            self._limit = before

    def adapted(self) -> AbstractContextManager[None]:
        """Give all rules less time during the block: many times what they are known to take."""
        return self._with(self._adapted)

    def full(self, at_most: float = math.inf) -> AbstractContextManager[None]:
        """Give all rules their full limit during the block, or ``at_most`` this many seconds."""
        return self._with(lambda _rule: at_most)

    # -- a search that is short ---------------------------------------------------------------------------------------

    def begin_search(self, max_time: float, max_runs: int | None) -> None:
        """Take in how long a search may take, in seconds or runs."""
        is_short = max_runs is None and max(PATIENCE_MIN, 2 * SUSPECTED * max_time) < self._full < math.inf
        self._suspected = SUSPECTED * max_time if is_short else math.inf

    @property
    def looks_for(self) -> float:
        """For how many seconds a search looks again at a step that it suspects; 0 if it waits for the full limit."""
        return max(PATIENCE_MIN, 2 * self._suspected) if self._suspected < math.inf else 0.0

    @property
    def expects_hangs(self) -> bool:
        """Whether a rule may have less than its full limit outside blocks that adapt the limits."""
        return bool(self._hanging) or self._limit != self._usual

    def hurried(self, rules: Collection[str]) -> AbstractContextManager[None]:
        """Suspect steps of ``rules`` during the block, which is a search, unless runs that ended well took as long."""

        def limit(rule: str) -> float:
            patience = max(self._grown * max(PATIENCE_MIN, self._suspected), PATIENCE_TIMES * self._slowest_run)
            return min(self._usual(rule), patience if rule in rules else math.inf)

        return self._with(limit if self.looks_for else self._limit)

    def waits_for(self, rule: str, slowest_run: float) -> float:
        """Return for how many seconds a search waits for a step in another process, which cannot be interrupted.

        In that process, the slowest run that ended well took ``slowest_run`` seconds. 0 if it waits for the full limit.
        """
        if rule not in self._hanging:
            return self.looks_for
        return min(self.looks_for, max(SECONDS_MIN, PATIENCE_TIMES * slowest_run))


class WatchedClock:
    """A clock that begins at 0, and stands still while nobody reads it for long.

    A machine that stops for some seconds stops those who wait and those they wait for alike: by this clock hardly any
    time passes then, so the others have their turn before they count as late.
    """

    __slots__ = ("_read_at", "_seconds")

    def __init__(self) -> None:
        self._read_at = monotonic()
        self._seconds = 0.0

    def seconds(self) -> float:
        """Return the seconds until now. Whoever waits reads it at every look."""
        now = monotonic()
        self._seconds += min(now - self._read_at, GAP_SECONDS_MAX)
        self._read_at = now
        return self._seconds
