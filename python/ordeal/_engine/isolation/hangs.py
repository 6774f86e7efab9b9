"""Decides about hangs: when a step counts as hung, how often that is confirmed, and what its rule may still cost.

1. A step hangs that takes the whole limit of its rule, ``rule_timeout``. The watchdog asks here for the present limit
   and ends the step; a process that cannot be interrupted is ended from outside a little later.
2. A search that is short compared with this limit cannot wait for it. It suspects a step that has taken a tenth of its
   time, and looks once more, for as long. Each rule that hangs halves that. After the search, every suspect takes its
   whole limit once, in its own process, and counts only then. What comes before and after the steps of a run is never
   suspected: no search can leave it out.
3. A rule that is known to hang costs little from then on: it may take many times what its steps that passed took. So
   may all rules while a hang is replayed or shrunk; only the result takes the whole limit. If that passes, all limits
   grow. The core gives all known hangs and crashes a quarter of the time of a search: see ``core/search/rule_stats.h``.

Where a number of runs ends a search, nothing that a report shows may depend on the clock: there, every step has its
whole limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager

from ordeal._native import monotonic

#: A step that takes this many times as long as the slowest that passed hangs.
TIMES = 50.0
#: The lowest limit, in seconds: a busy machine may halt a process for a while.
SECONDS_MIN = 0.05
#: By how much the limits grow when one turned out to be too low.
GROWTH = 10.0
#: The part of a search after which a step is suspected, and of its limit that a step takes again that took all of it.
SHARE = 0.1
#: The least of both, in seconds.
PATIENCE_MIN = 1.0
#: What runs outside the steps of a run.
OUTSIDE_STEPS = ("__init__", "teardown")
#: An alarm rings this often within a limit, and at least once a second.
TICKS_PER_LIMIT, TICK_SECONDS_MAX = 4, 1.0
#: The most that a watched clock advances between two readings: more than passes between two looks of those who wait.
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
        self._share = math.inf  # the seconds of a short search after which a step is suspected
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
            self._share /= 2
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
        """Return for how many seconds to watch a step that has taken its full limit before."""
        return max(PATIENCE_MIN, SHARE * self._full)

    def _usual(self, rule: str) -> float:
        return self._adapted(rule) if rule in self._hanging else math.inf

    def _many_times(self, rule: str) -> float:
        """Return many times what steps of the rule took. One that never passed is taken to be as slow as any other."""
        return TIMES * self._grown * (self._slowest.get(rule) or max(self._slowest.values(), default=self._slowest_run))

    def _adapted(self, rule: str) -> float:
        limit = self._many_times(rule)
        if not limit:
            return self.glance if rule == self.ended_in != "" else math.inf
        return max(SECONDS_MIN, limit)

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
        is_short = max_runs is None and max(PATIENCE_MIN, SHARE * max_time) < self._full < math.inf
        self._share = SHARE * max_time if is_short else math.inf

    @property
    def is_short(self) -> bool:
        """Whether the search cannot wait for the full limit of its rules."""
        return self._share < math.inf

    @property
    def looks_for(self) -> float:
        """For how many seconds a search looks again at a step that it suspects."""
        return max(PATIENCE_MIN, self._share)

    @property
    def expects_hangs(self) -> bool:
        """Whether a rule may have less than its full limit outside blocks that adapt the limits."""
        return bool(self._hanging) or self._limit != self._usual

    def patience(self, name: str) -> float:
        """Return for how many seconds a short search waits for a step: hardly for one of a rule that is known to hang.

        It waits longer where a step was suspected wrongly, or where runs that ended well took as long.
        """
        if name in OUTSIDE_STEPS:
            return math.inf
        if name in self._hanging:
            return min(self.looks_for, max(SECONDS_MIN, self._many_times(name)))
        return max(self._grown * self.looks_for, self._slowest_run)

    def hurried(self) -> AbstractContextManager[None]:
        """Suspect steps of hanging during the block, which is a search."""
        return self._with(self.patience if self.is_short else self._limit)


class WatchedClock:
    """A clock that begins at 0, and stops while it is not read for long.

    A host that stops for some seconds stops both the waiting and the awaited processes: by this clock hardly any
    time passes then, so the others have their turn before they count as late.
    """

    __slots__ = ("_read_at", "_seconds")

    def __init__(self) -> None:
        self._read_at = monotonic()
        self._seconds = 0.0

    def seconds(self) -> float:
        """Return the seconds until now. A caller that waits reads it at every look."""
        now = monotonic()
        self._seconds += min(now - self._read_at, GAP_SECONDS_MAX)
        self._read_at = now
        return self._seconds
