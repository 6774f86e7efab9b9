"""Shared causes: failures of several rules that one mistake of the program makes, raised where no frame of it remains.

The bucket of an exception names the innermost place in the targets. Where these have returned, as when an iterator of
the standard library finds its dict changed, it names the rule, and each rule that iterates looks like a mistake of its
own. Two such failures are one if the steps before the last of one bring about the other as well, every change of them
stops both or neither, and the last step of one executes all of the targets that the last step of the other does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import ordeal._native as _native
from ordeal._base.untrusted import type_name
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import Bucketer, falls_into, place_of
from ordeal._engine.execution.driver import RULE, Driver
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.aftereffects import Suspicion
from ordeal._engine.triage.executed import EdgesByStep, Watch
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.siblings import Judged
from ordeal._engine.triage.trials import Trials
from ordeal._engine.triage.variations import changed_tapes, codes_of

#: How many changes of the steps before the last are tried.
CHANGES_MAX = 60


def possibly_shared(judged: Sequence[Judged]) -> list[Suspicion]:
    """Return which failures may have the cause of another, as far as their types and steps say; the shortest first."""
    order = sorted(range(len(judged)), key=lambda at: (len(judged[at][0].tape), at))
    return [
        Suspicion(later, cause)
        for number, later in enumerate(order)
        for cause in order[:number]
        if _may_share(judged[later][0], judged[cause][0])
    ]


def _may_share(one: Finding, other: Finding) -> bool:
    if type_name(type(one.error)) != type_name(type(other.error)) or one.bucket == other.bucket:
        return False
    if place_of(one.bucket) != one.bucket or place_of(other.bucket) != other.bucket:
        return False  # of an invariant, or told apart from another
    (*_, last), (*_, other_last) = codes_of(one.tape), codes_of(other.tape)
    return last != other_last and last & 7 == other_last & 7 == RULE


class SharedCauses:
    """Examines suspicions with runs, in ``seconds``. Used once; no other monitor may run meanwhile."""

    def __init__(
        self, replayer: Replayer, driver: Driver, bucketer: Bucketer, targets: Sequence[Target], *, seconds: float
    ) -> None:
        self._replayer = replayer
        self._bucketer = bucketer
        self._trials = Trials(replayer, driver, seconds=seconds)
        self._watch = Watch(targets)

    def confirmed(self, findings: Sequence[Finding], suspected: Sequence[Suspicion]) -> list[Suspicion]:
        """Return the suspicions that are right: at most one for each failure, and none whose cause has one itself.

        Raises:
            CoreError: other tools leave no way to watch the targets.
        """
        right: dict[int, Suspicion] = {}
        with self._replayer.adapted(), self._watch.watching():
            for each in suspected:
                is_open = each.later not in right and each.cause not in right
                if is_open and self._are_one(findings[each.later], findings[each.cause]):
                    right[each.later] = each
        return list(right.values())

    def _are_one(self, later: Finding, cause: Finding) -> bool:
        *before, last = cause.tape.steps()
        other_last = later.tape.steps()[-1]
        mine = self._last_edges([*before, last], cause.bucket)
        others = self._last_edges([*before, other_last], later.bucket)
        if not mine or not others or not (mine <= others or others <= mine):
            return False
        stopped = False
        for changed, _ in islice(changed_tapes(cause.tape, CHANGES_MAX), CHANGES_MAX):
            *near, near_last = changed.steps()
            if near_last != last:
                continue
            fails, fails_too = (
                self._trials.fail([*near, last], cause.bucket),
                self._trials.fail([*near, other_last], later.bucket),
            )
            if fails is None or fails_too is None:
                continue
            if fails != fails_too:
                return False
            stopped = stopped or not fails
        return stopped

    def _last_edges(self, steps: Sequence[_native.StepTuple], bucket: str) -> frozenset[int]:
        """Return what the last of these steps executes of the targets; nothing if it does not fail as it must."""
        observer = EdgesByStep(self._watch.take)
        self._watch.anew()
        replayed = self._trials.run(steps, observer)
        if replayed is None or not falls_into(replayed.bucket, bucket) or len(replayed.tape) != len(steps):
            return frozenset()
        error = replayed.outcome.error
        return observer.parts[-1] if error is not None and self._bucketer.is_below_rule(error) else frozenset()
