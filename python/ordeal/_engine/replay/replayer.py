"""Runs tapes again from fresh machines: to confirm a failure, to shrink it, and to record it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress

import msgspec
from hypothesis.errors import InvalidDefinition

import ordeal._native as _native
from ordeal._base.outside import outside_notes
from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._base.untrusted import stand_in, type_name
from ordeal._engine.execution.bucket import Bucketer, falls_into, traceback_text
from ordeal._engine.execution.driver import BODY, Driver, Outcome, Status, StepSource, TimedReplay
from ordeal._engine.execution.recorder import Observer
from ordeal._engine.execution.where import AssertionReader, Places, is_plain_assertion, written_assertion
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._hypothesis.internals import skip_types
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._native import monotonic
from ordeal.errors import OrdealError
from ordeal.result.parts import FailurePlace


class Replayed(msgspec.Struct, frozen=True):
    """The result of a replay. ``bucket`` is empty when it did not fail; ``tape`` holds the steps that really ran.

    ``misaligned`` counts draws without a fitting recorded choice, ``unused`` counts recorded choices that nothing drew.
    Steps after a failure, the step that failed and the body of the last one do not count. ``rejected`` counts steps
    that could not run.
    """

    outcome: Outcome
    bucket: str
    tape: _native.Tape
    misaligned: int
    unused: int
    rejected: int


class ShrinkProgress(msgspec.Struct, frozen=True):
    """The progress of shrinking: its phase, the steps of the smallest failing tape, and the replays so far."""

    phase: str
    steps: int
    candidates: int


class ShrinkResult(msgspec.Struct, frozen=True):
    """The simplest failing tape found.

    ``candidates`` counts the replays. ``finished`` is False when time ran out or Ctrl-C was pressed before the tape was
    minimal; ``interrupted`` is true for Ctrl-C, and leaves it to the caller to stop. ``failed_check`` is the failed
    check of this package that ended it, if any.
    """

    tape: _native.Tape
    candidates: int
    finished: bool
    interrupted: bool = False
    failed_check: _native.CheckError | None = None


class Replayer:
    """Replays tapes with one driver. Steps whose rule is not available are left out, and counted.

    Attributes:
        watches: called, if set, before a step may take its full limit to show that it hangs: with that, in seconds.
    """

    def __init__(self, driver: Driver, bucketer: Bucketer, randoms: GlobalRandoms) -> None:
        self._driver = driver
        self._bucketer = bucketer
        self._randoms = randoms
        self._in_body = (BODY, len(driver.definition.argument_names) - 1)  # the index is the one of buggify
        self.watches: Callable[[float], object] | None = None

    def run(self, tape: _native.Tape, observer: Observer | None = None) -> Replayed:
        """Run ``tape`` from a fresh machine while ``observer`` watches."""
        return self.follow(_native.Replay(tape), observer)

    def follow(self, step_source: _native.Replay, observer: Observer | None = None) -> Replayed:
        """Run the tape of ``step_source`` from a fresh machine while ``observer`` watches."""
        # A deadline that never comes has the step loop note how long the steps take.
        outcome, bucket = self._execute(TimedReplay(step_source, sys.float_info.max), observer)
        return self._facts_of(step_source, outcome, bucket)

    def continued(self, tape: _native.Tape, continuation: _native.Continuation, deadline: float) -> str:
        """Run ``tape`` from a fresh machine and go on at random; return the bucket, empty when it did not fail.

        Raises:
            OutOfTime: the ``deadline`` came, by monotonic().
        """
        return self._execute(TimedReplay(_native.Replay(tape, continuation), deadline))[1]

    def written(self, error: BaseException) -> tuple[BaseException, str]:
        """Return ``error`` as it is kept, with its traceback: an isolated process keeps no object of the user's."""
        text = traceback_text(error)
        return (stand_in(error) if self._driver.isolated else error), text

    def place(self, tape: _native.Tape, error: BaseException, last_step: str) -> FailurePlace | None:
        """Return where ``error`` was raised, with which a run of ``tape`` fails after it began ``last_step``.

        The values of a bare ``assert`` are read in another run: its expressions are evaluated again.
        """
        asserted = written_assertion(error)
        if is_plain_assertion(error):
            reader = AssertionReader()
            self.run(tape, reader)
            asserted = reader.asserted
        places = Places(self._driver.definition, self._bucketer.here)
        return places.place(error, last_step=last_step, asserted=(*asserted, *outside_notes(error)))

    def confirm(self, tape: _native.Tape, *, took_limit: bool = False) -> list[Replayed]:
        """Replay twice. The tapes know which step made each value of a bundle, which the shrinker needs.

        Each rule has its full limit the first time. If one takes all of it, or ``took_limit`` before, it need not do so
        again.
        """
        with self.adapted() if took_limit else self._driver.limits.full():
            first = self.run(tape)
        with self.adapted() if _timed_out(first) else nullcontext():
            return [first, self.run(tape)]

    @contextmanager
    def adapted(self) -> Iterator[None]:
        """Give rules less time during the block: many times what they are known to take."""
        self._driver.adapt_limits()
        with self._driver.limits.adapted():
            yield

    @contextmanager
    def glancing(self) -> Iterator[None]:
        """Give rules as much time during the block as shows a hang that has taken its full limit before."""
        self._driver.adapt_limits()
        with self._driver.limits.full(self._driver.limits.glance):
            yield

    def hangs(self, tape: _native.Tape, bucket: str = "", *, at_most: float = math.inf) -> _native.Tape | None:
        """Return what ran if a rule takes its full limit in a replay of ``tape``, which fails in ``bucket``, if given.

        With ``at_most``, it may stop after this many seconds.
        """
        if self.watches is not None:
            self.watches(float(min(self._driver.rule_timeout, at_most)))
        with self._driver.limits.full(at_most):
            replayed = self.run(tape)
        hangs = _timed_out(replayed) and (not bucket or falls_into(replayed.bucket, bucket))
        return replayed.tape if hangs else None

    def shrink_hang(
        self, tape: _native.Tape, bucket: str, seconds: float, tick: Callable[[ShrinkProgress], None] | None = None
    ) -> ShrinkResult | None:
        """Shrink the trace of a rule that takes its whole limit: each try has less, and only the result takes it all.

        If the result takes less, and ``tape`` does not, the limits grow and another attempt begins with ``tape``, until
        the time is over. Returns None if ``tape`` takes less, too.
        """
        deadline = monotonic() + seconds
        has_hung = False
        while True:
            with self.adapted():
                shrunk = self.shrink(tape, bucket, deadline - monotonic(), tick)
            if shrunk.interrupted or shrunk.failed_check is not None:
                return shrunk
            if (has_hung and shrunk.tape == tape) or self.hangs(shrunk.tape, bucket) is not None:
                return shrunk
            if not has_hung and (shrunk.tape == tape or self.hangs(tape, bucket) is None):
                return None
            has_hung = True
            self._driver.limits.grow()

    def shrink(
        self,
        tape: _native.Tape,
        bucket: str,
        seconds: float,
        tick: Callable[[ShrinkProgress], None] | None = None,
    ) -> ShrinkResult:
        """Make ``tape`` as simple as can be while it still fails in ``bucket``; see ``shrink_while``."""
        return self.shrink_while(
            tape,
            lambda replayed: falls_into(replayed.bucket, bucket),
            seconds,
            tick=tick,
        )

    def shrink_while(
        self,
        tape: _native.Tape,
        holds: Callable[[Replayed], bool],
        seconds: float,
        *,
        candidates_max: int | None = None,
        prepare: Callable[[], None] | None = None,
        tick: Callable[[ShrinkProgress], None] | None = None,
    ) -> ShrinkResult:
        """Make ``tape`` as simple as can be while ``holds`` is true of its replay.

        Takes at most ``seconds``, and at most ``candidates_max`` replays. A replay that is running when time is up is
        ended. A replay that asks to be skipped or whose fault cannot be switched does not hold. ``prepare`` is called
        before each replay, ``tick`` after it. Ctrl-C or a failed check of the shrinker ends the shrinking and keeps the
        best tape so far.
        """
        shrinker = _native.Shrinker(tape)
        deadline = monotonic() + seconds
        finished = interrupted = False
        failed_check: _native.CheckError | None = None
        try:
            with self._driver.watchdog.until(deadline):
                while monotonic() < deadline and shrinker.candidates != candidates_max:
                    candidate = shrinker.candidate()
                    if candidate is None:
                        finished = True
                        break
                    if prepare is not None:
                        prepare()
                    replayed, ran = self._within(candidate, deadline)
                    if replayed is not None and holds(replayed):
                        shrinker.accept(replayed.tape if ran is None else ran)
                    elif ran is not None:
                        shrinker.refuse(ran)
                    else:
                        shrinker.refuse()
                    if tick is not None:
                        tick(ShrinkProgress(shrinker.phase, len(shrinker.current), shrinker.candidates))
        except OutOfTime:
            finished = False
        except KeyboardInterrupt:
            interrupted = True
        except _native.CheckError as error:
            failed_check = error
        return ShrinkResult(shrinker.current, shrinker.candidates, finished, interrupted, failed_check)

    def _within(self, tape: _native.Tape, deadline: float) -> tuple[Replayed | None, _native.Replay | None]:
        """Run ``tape`` until ``deadline``; return the result, and what ran, if it ran in this process.

        The result is None for a run that asks to be skipped, or whose fault cannot be switched.
        """
        step_source = _native.Replay(tape)
        with suppress(OrdealError, *skip_types()):
            outcome, bucket = self._execute(TimedReplay(step_source, deadline))
            return self._facts_of(step_source, outcome, bucket), step_source
        return None, step_source

    def ablate(self, tape: _native.Tape, bucket: str, seconds: float = math.inf) -> dict[str, bool] | None:
        """Return for each fault of ``tape`` whether the failure in ``bucket`` needs it; None when time ran out."""
        ablation = _native.FaultAblation(tape)
        deadline = monotonic() + seconds
        try:
            with self._driver.watchdog.until(deadline):
                while (candidate := ablation.candidate()) is not None:
                    if monotonic() >= deadline:
                        return None
                    replayed, _ = self._within(candidate, deadline)
                    ablation.accept(replayed is not None and falls_into(replayed.bucket, bucket))
        except OutOfTime:
            return None
        return {self._driver.faults[fault].name: necessary for fault, necessary in ablation.verdicts()}

    def _facts_of(self, step_source: _native.Replay, outcome: Outcome, bucket: str) -> Replayed:
        return Replayed(
            outcome=outcome,
            bucket=bucket,
            tape=step_source.tape,
            misaligned=step_source.source.misaligned,
            unused=step_source.unused(self._in_body, outcome.status is Status.DONE),
            rejected=step_source.rejected,
        )

    def _execute(self, step_source: StepSource, observer: Observer | None = None) -> tuple[Outcome, str]:
        """Run ``step_source``; return the outcome, and the bucket, which is empty when the run did not fail."""
        self._randoms.reseed()
        try:
            outcome = self._driver.execute(step_source, observer=observer)
        except InvalidDefinition as error:
            outcome = Outcome(Status.REJECTED, 0, error)
        bucket = ""
        if outcome.status is Status.FAILED and outcome.error is not None:
            bucket = self._bucketer.bucket(outcome.error, outcome.broken_by)
        return outcome, bucket


def _timed_out(replayed: Replayed) -> bool:
    """Return True if a rule took all the time that it had."""
    return type_name(type(replayed.outcome.error)) == RuleTimeoutError.__name__
