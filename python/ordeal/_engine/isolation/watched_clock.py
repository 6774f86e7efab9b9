"""Measures how long something is waited for, without the time in which nobody could look."""

from __future__ import annotations

from ordeal._native import monotonic

#: How far it goes on between two readings at most: more than those who wait let pass between two looks.
GAP_SECONDS_MAX = 0.25


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
