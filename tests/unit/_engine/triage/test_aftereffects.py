"""What a step damages and later steps show is one failure; another mistake behind a harmless step is another."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.aftereffects import Aftereffects, Suspicion, suspicions
from ordeal._engine.triage.bare_failure import bare_failure
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.lookalikes import Lookalikes
from ordeal._hypothesis import GlobalRandoms
from ordeal.explore import Explorer
from ordeal.result import Failure

from ...samples.siblings import Pile, SealedPile
from ...samples.triaged import finding_for, setup_for, tape_for

PUT, OTHER, HARD, SOFT = (
    ("put", {"x": [0]}),
    ("put", {"x": [1]}),
    ("press", {"hard": [True]}),
    ("press", {"hard": [False]}),
)


def explored(machine: type[RuleBasedStateMachine], seed: int) -> list[Failure]:
    return Explorer(machine, seed=seed, workers=1, isolate=False).run(max_runs=300).failures


class TestExploration:
    @pytest.mark.parametrize("seed", range(3))
    def test_one_mistake_that_shows_at_once_or_later_is_one_failure(self, seed: int) -> None:
        (failure,) = explored(Pile, seed)
        assert failure.rule_log == ["put", "put", "press"]
        assert failure.broken_by[0] == "press"
        assert set(failure.broken_by) == {"press", "put", "turn"}
        apart = Explorer(Pile, seed=seed, workers=1, isolate=False).run(max_runs=300, shrink=False).failures
        assert failure.count == sum(each.count for each in apart)

    @pytest.mark.parametrize("seed", range(3))
    def test_another_mistake_stays_apart(self, seed: int) -> None:
        assert sorted(failure.broken_by for failure in explored(SealedPile, seed)) == [["clear"], ["press"]]


class TestAftereffects:
    def found(
        self, machine: type[RuleBasedStateMachine], later: Sequence[object], seconds: float = 60.0
    ) -> list[Suspicion]:
        setup = setup_for(machine)
        findings = [finding_for(setup, tape_for(setup.driver, *steps)) for steps in ([PUT, PUT, HARD], later)]  # type: ignore[arg-type]
        examined = Aftereffects(
            Replayer(setup.driver, setup.bucketer(), GlobalRandoms()), setup.driver, seconds=seconds
        )
        return examined.confirmed(findings, [Suspicion(1, 0)])

    def test_what_stops_with_its_cause_is_one(self) -> None:
        assert self.found(Pile, [PUT, PUT, SOFT, "turn"]) == [Suspicion(1, 0)]

    def test_what_goes_on_without_its_cause_is_none(self) -> None:
        assert self.found(SealedPile, [PUT, PUT, SOFT, "clear"]) == []

    def test_without_time_nothing_is_one(self) -> None:
        assert self.found(Pile, [PUT, PUT, SOFT, "turn"], seconds=0.0) == []


class TestSuspicions:
    def judged(self, *tapes: Sequence[object]) -> list[tuple[Finding, Failure]]:
        setup = setup_for(Pile)
        found = [finding_for(setup, tape_for(setup.driver, *steps)) for steps in tapes]  # type: ignore[arg-type]
        return [(each, bare_failure(setup, each)) for each in found]

    def test_the_longer_may_follow_from_the_shorter(self) -> None:
        judged = self.judged([PUT, PUT, SOFT, "turn"], [PUT, PUT, HARD], [OTHER, OTHER, SOFT, PUT])
        assert suspicions(judged, Lookalikes()) == [Suspicion(0, 1), Suspicion(2, 1)]

    def test_a_run_without_the_rule_of_the_cause_clears_it(self) -> None:
        judged = self.judged([PUT, PUT, SOFT, "turn"], [PUT, PUT, HARD])
        lookalikes = Lookalikes[Finding]()
        finding, _ = judged[0]
        other = Finding(finding.bucket, finding.tape.subset([True, True, False, True]), finding.origin, finding.error)
        other.lookalike = "lacking"
        lookalikes.add(other)
        assert suspicions(judged, lookalikes) == []
