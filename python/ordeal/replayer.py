"""Runs tapes again from fresh machines: to confirm a failure, to shrink it, and to write it down."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis.errors import InvalidDefinition

from ordeal import _native
from ordeal._hypothesis import GlobalRandoms
from ordeal.bucket import Bucketer
from ordeal.driver import Driver, Observer, Outcome, Status

CONFIRMATIONS = 2


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay did. ``bucket`` is empty when it did not fail; ``tape`` holds the steps that really ran."""

    outcome: Outcome
    bucket: str
    tape: _native.Tape
    misaligned: int
    rejected: int


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The smallest failing tape found; ``finished`` is False when time ran out before it was minimal."""

    tape: _native.Tape
    candidates: int
    finished: bool


class Replayer:
    """Replays tapes with one driver. Steps of a tape whose rule is not available are left out, and counted."""

    def __init__(self, driver: Driver, bucketer: Bucketer, randoms: GlobalRandoms) -> None:
        self._driver = driver
        self._bucketer = bucketer
        self._randoms = randoms

    def run(self, tape: _native.Tape, observer: Observer | None = None) -> Replayed:
        """Run ``tape`` from a fresh machine while ``observer`` watches."""
        script = _native.Replay(tape)
        self._randoms.reseed()
        try:
            outcome = self._driver.execute(script, observer=observer)
        except InvalidDefinition as error:
            outcome = Outcome(Status.REJECTED, 0, error)
        bucket = ""
        if outcome.status is Status.FAILED and outcome.error is not None:
            bucket = self._bucketer.bucket(outcome.error)
        return Replayed(outcome, bucket, script.tape, script.source.misaligned, script.rejected)

    def confirm(self, tape: _native.Tape) -> list[Replayed]:
        """Two replays. Their tapes know which step made each value of a bundle, which the shrinker needs."""
        return [self.run(tape) for _ in range(CONFIRMATIONS)]

    def shrink(self, tape: _native.Tape, bucket: str, seconds: float, tick: Callable[[], None] | None = None) -> Shrunk:
        """Make ``tape`` as small as can be while it still fails in ``bucket``; at most ``seconds`` long."""
        shrinker = _native.Shrinker(tape)
        deadline = time.monotonic() + seconds
        while (candidate := shrinker.candidate()) is not None:
            if time.monotonic() >= deadline:
                return Shrunk(shrinker.current, shrinker.candidates, finished=False)
            replayed = self.run(candidate)
            if replayed.bucket == bucket:
                shrinker.accept(replayed.tape)
            else:
                shrinker.refuse()
            if tick is not None:
                tick()
        return Shrunk(shrinker.current, shrinker.candidates, finished=True)

    def ablate(self, tape: _native.Tape, bucket: str, seconds: float = math.inf) -> dict[str, bool] | None:
        """For each fault of ``tape`` whether the failure in ``bucket`` needs it; None when ``seconds`` were too few."""
        ablation = _native.FaultAblation(tape)
        deadline = time.monotonic() + seconds
        while (candidate := ablation.candidate()) is not None:
            if time.monotonic() >= deadline:
                return None
            ablation.tell(self.run(candidate).bucket == bucket)
        return {self._driver.faults[fault].name: necessary for fault, necessary in ablation.verdicts()}
