"""Runs variants of a failing trace, until a deadline: without a step, with another argument, in another order."""

from __future__ import annotations

from collections.abc import Sequence

import ordeal._native as _native
from ordeal._engine.execution.bucket import falls_into
from ordeal._engine.execution.driver import Observer, Status
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayed, Replayer
from ordeal._hypothesis import skip_types
from ordeal._native import monotonic
from ordeal.errors import OrdealError


class Trials:
    """Runs variants of the trace that fails in ``bucket``."""

    def __init__(self, replayer: Replayer, bucket: str, deadline: float) -> None:
        self._replayer = replayer
        self._bucket = bucket
        self._deadline = deadline

    def run(self, tape: _native.Tape, observer: Observer | None = None) -> Replayed | None:
        """Return what ``tape`` did; None where it asked to be skipped, or one of its faults could not be switched.

        Raises:
            OutOfTime: the deadline has come.
        """
        if monotonic() >= self._deadline:
            raise OutOfTime
        try:
            return self._replayer.run(tape, observer)
        except OrdealError:
            return None
        except skip_types():
            return None

    def fails_alike(self, replayed: Replayed | None) -> bool:
        """Return whether a run failed as the trace does."""
        return replayed is not None and falls_into(replayed.bucket, self._bucket)


def passes(replayed: Replayed | None) -> bool:
    """Return whether a run came to its end without a failure."""
    return replayed is not None and replayed.outcome.status is Status.DONE


def without(tape: _native.Tape, number: int) -> _native.Tape:
    """Return the tape without one of its steps."""
    return tape.subset([other != number for other in range(len(tape))])


def with_choice(steps: Sequence[_native.StepTuple], number: int, at: int, value: int) -> _native.Tape:
    """Return the tape of ``steps`` where the argument ``at`` of a step, which one choice decides, has another value."""
    kind, target, origin, arguments = steps[number]
    name, (before,) = arguments[at]
    changed = list(arguments)
    changed[at] = name, [bool(value) if isinstance(before, bool) else value]
    return _native.Tape.from_steps([*steps[:number], (kind, target, origin, changed), *steps[number + 1 :]])


def origins(tape: _native.Tape) -> list[int]:
    """Return what identifies the steps of a tape in its variants."""
    return [origin for _, _, origin, _ in tape.steps()]
