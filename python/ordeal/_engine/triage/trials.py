"""Trials: runs of steps that no run has made, to see whether they fail alike."""

from __future__ import annotations

from collections.abc import Sequence

import ordeal._native as _native
from ordeal._engine.execution.bucket import falls_into
from ordeal._engine.execution.driver import Driver, Observer, Status
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayed, Replayer
from ordeal._hypothesis import skip_types
from ordeal._native import monotonic
from ordeal.errors import OrdealError

#: How many runs are made for all failures together.
REPLAYS_MAX = 2_000


class Trials:
    """Runs steps in ``seconds``, at most ``REPLAYS_MAX`` times."""

    def __init__(self, replayer: Replayer, driver: Driver, *, seconds: float) -> None:
        self._replayer = replayer
        self._driver = driver
        self._deadline = monotonic() + seconds
        self._replays_left = REPLAYS_MAX

    def fail(self, steps: Sequence[_native.StepTuple], bucket: str) -> bool | None:
        """Return whether a run of these steps fails in the bucket; None if it fails otherwise, or cannot be run so."""
        replayed = self.run(steps)
        if replayed is None or replayed.misaligned or replayed.rejected:
            return None
        if falls_into(replayed.bucket, bucket):
            return True if len(replayed.tape) == len(steps) else None
        return False if replayed.outcome.status is Status.DONE else None

    def run(self, steps: Sequence[_native.StepTuple], observer: Observer | None = None) -> Replayed | None:
        """Return what a replay shows; None if it cannot run, or there is no time left."""
        if self._replays_left <= 0 or monotonic() >= self._deadline:
            return None
        self._replays_left -= 1
        try:
            with self._driver.watchdog.until(self._deadline):
                return self._replayer.run(_native.Tape.from_steps(steps), observer)
        except (OrdealError, OutOfTime):
            return None
        except skip_types():
            return None
