"""Moments that are the same time apart, whatever is done between them."""

from __future__ import annotations

import time


class Pace:
    """When something is due again: at once after what took longer, and never twice for moments that were missed."""

    def __init__(self, seconds: float) -> None:
        """The first moment is now."""
        self._seconds = seconds
        self._due = time.monotonic()

    def wait_seconds(self) -> float:
        """Return how long it is until the next moment, 0 when it has come."""
        return max(0.0, self._due - time.monotonic())

    def has_come(self) -> bool:
        """Return whether the next moment has come, and if so wait for the one after it from now on."""
        now = time.monotonic()
        if now < self._due:
            return False
        missed = (now - self._due) // self._seconds
        self._due += self._seconds * (missed + 1)
        return True
