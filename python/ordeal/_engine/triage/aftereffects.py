"""Aftereffects: failures that only show what an earlier step did wrong, where another failure shows its mistake.

A step may leave damage that no check sees at once. Then a later step of any rule breaks an invariant, and looks like a
mistake of its own. It is the aftereffect of another failure if it needs a step of that one's last rule, that step fails
like the other when only its arguments differ, and no change of what came before stops one of the two without the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

import msgspec

import ordeal._native as _native
from ordeal._engine.execution.bucket import place_of
from ordeal._engine.execution.driver import Driver
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.lookalikes import Lookalikes, optional
from ordeal._engine.triage.siblings import Judged
from ordeal._engine.triage.trials import Trials
from ordeal._engine.triage.variations import changed_steps, codes_of

#: Limits: changes of a step until it fails itself, and changes of what came before it.
STEPS_MAX = 40
CHANGES_MAX = 40


class Suspicion(msgspec.Struct, frozen=True):
    """That the failure ``later`` may be an aftereffect of the failure ``cause``. Both number findings."""

    later: int
    cause: int


def suspicions(judged: Sequence[Judged], lookalikes: Lookalikes[Finding]) -> list[Suspicion]:
    """Return which of the failures may be aftereffects, as far as their steps say; the shortest causes come first.

    A failure of which any run lacks the rule of the cause is none.
    """
    order = sorted(range(len(judged)), key=lambda at: (len(judged[at][0].tape), at))
    return [
        Suspicion(later, cause)
        for later in order
        for cause in order
        if _may_follow(judged[later][0], judged[cause][0], lookalikes)
    ]


def _may_follow(later: Finding, cause: Finding, lookalikes: Lookalikes[Finding]) -> bool:
    if len(cause.tape) >= len(later.tape) or place_of(later.bucket) != place_of(cause.bucket):
        return False
    rule = codes_of(cause.tape)[-1]
    runs = [later.tape, *(run.tape for run in lookalikes.of(later.bucket))]
    return rule in codes_of(later.tape)[:-1] and all(rule in optional(tape.codes()) for tape in runs)


class Aftereffects:
    """Examines suspicions with runs, in ``seconds``. Used once."""

    def __init__(self, replayer: Replayer, driver: Driver, *, seconds: float) -> None:
        self._replayer = replayer
        self._trials = Trials(replayer, driver, seconds=seconds)

    def confirmed(self, findings: Sequence[Finding], suspected: Sequence[Suspicion]) -> list[Suspicion]:
        """Return the suspicions that are right: at most one for each failure, and none whose cause has one itself.

        The causes of a failure come in order, and those that may be causes before what may follow from them.
        """
        right: dict[int, Suspicion] = {}
        with self._replayer.adapted():
            for each in suspected:
                is_open = each.later not in right and each.cause not in right
                if is_open and self._is_aftereffect(findings[each.later], findings[each.cause]):
                    right[each.later] = each
        return list(right.values())

    def _is_aftereffect(self, later: Finding, cause: Finding) -> bool:
        steps, rule = later.tape.steps(), codes_of(cause.tape)[-1]
        places = [at for at, code in enumerate(codes_of(later.tape)[:-1]) if code == rule]
        for at in reversed(places):
            failing = self._failing_step(steps, at, cause)
            if failing is not None:
                return self._stop_together(steps, at, failing, (later.bucket, cause.bucket))
        return False

    def _failing_step(self, steps: list[_native.StepTuple], at: int, cause: Finding) -> _native.StepTuple | None:
        """Return the step number ``at`` with other arguments, so that it fails like the cause; None if none does."""
        tried = islice(chain(cause.tape.steps()[-1:], changed_steps(steps[at])), STEPS_MAX)
        return next((step for step in tried if self._trials.fail([*steps[:at], step], cause.bucket)), None)

    def _stop_together(
        self, steps: list[_native.StepTuple], at: int, failing: _native.StepTuple, buckets: tuple[str, str]
    ) -> bool:
        """Return whether changes before the step number ``at`` stop both failures or none, and some stop them.

        One is the failure of ``steps``, the other that of ``failing`` at this place.
        """
        stopped = False
        for before in islice(_changes(steps[:at]), CHANGES_MAX):
            if self._trials.fail([*before, failing], buckets[1]) is not False:
                continue
            still = self._trials.fail([*before, *steps[at:]], buckets[0])
            if still:
                return False
            stopped = stopped or still is False
        return stopped


def _changes(steps: Sequence[_native.StepTuple]) -> Iterator[list[_native.StepTuple]]:
    """Yield the steps with one choice changed, the last step first."""
    for at in reversed(range(len(steps))):
        for changed in changed_steps(steps[at]):
            yield [*steps[:at], changed, *steps[at + 1 :]]
