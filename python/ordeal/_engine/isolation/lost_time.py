"""Tells how long this process was kept from running: the machine stopped, or others had their turn."""

from __future__ import annotations

import sys

if sys.platform != "win32":
    from resource import RUSAGE_SELF, getrusage

#: How many alarms may be missed before anything is looked at: a few are late wherever others run.
MISSED_MAX = 2.0
#: The part of the missed alarms that wakes what waits in C and goes on waiting at least; a process that is kept from
#: running wakes once, in the end.
WOKEN_SHARE = 0.5


def _used() -> tuple[float, int]:
    """The CPU time of this process, and how often it gave up its turn by itself."""
    usage = getrusage(RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime, usage.ru_nvcsw


class LostTime:
    """Measures, between two alarms that ring in turn, the time that this process could not use.

    An alarm comes late where C code runs that Python cannot interrupt, and where the process has no turn. The first
    takes CPU time, or wakes at each alarm and goes on waiting. The second does neither.
    """

    __slots__ = ("_at", "_cpu", "_waits")

    def __init__(self) -> None:
        self._at, self._cpu, self._waits = 0.0, 0.0, 0

    def begin(self, now: float) -> None:
        """Measure from ``now`` on, where alarms begin, also in a fork."""
        self._at = now
        self._cpu, self._waits = _used()

    def until(self, now: float, tick: float) -> float:
        """Return the seconds lost since the last call, with an alarm due every ``tick`` seconds."""
        gap, cpu, waits = now - self._at, self._cpu, self._waits
        self.begin(now)
        if gap <= MISSED_MAX * tick or self._waits - waits > WOKEN_SHARE * gap / tick:
            return 0.0
        return max(0.0, gap - max(tick, self._cpu - cpu))
