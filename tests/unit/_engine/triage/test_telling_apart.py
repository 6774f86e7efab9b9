"""Failures in one bucket: two mistakes are two failures, and one mistake on many paths is one."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._engine.execution.bucket import place_of, whole_bucket
from ordeal._report.exploration import json_report
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult, Failure, SeedStatus
from ordeal.trace import Trace, replay, shrink

from ...samples.one_place_machines import MODULES, ONE, TWO, Checkout, Notebook, Register, Shop

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers need Linux")


def explored(machine: type[RuleBasedStateMachine], seed: int = 1, **options: Any) -> ExplorationResult:
    arguments: dict[str, Any] = {"workers": 1, "isolate": False, "target_modules": MODULES} | options
    run: dict[str, Any] = {
        name: arguments.pop(name)
        for name in ("shrink", "save_state_to", "resume_from", "max_runs", "max_shrink_time")
        if name in arguments
    }
    return Explorer(machine, seed=seed, **arguments).run(**{"max_runs": 250, **run})


def mistakes(result: ExplorationResult, machine: type[RuleBasedStateMachine]) -> list[str]:
    return sorted(TWO[machine](failure) for failure in result.failures)


class TestTwoMistakes:
    @pytest.mark.parametrize("machine", TWO)
    def test_are_two_failures(self, machine: type[RuleBasedStateMachine]) -> None:
        result = explored(machine)
        first, second = result.failures
        assert len(set(mistakes(result, machine))) == 2
        assert whole_bucket(first.bucket) == whole_bucket(second.bucket)
        assert first.bucket != whole_bucket(first.bucket)
        assert len({first.bucket, second.bucket, first.id, second.id}) == 4
        assert place_of(first.bucket) == place_of(second.bucket)
        assert first.shrunk
        assert second.shrunk
        assert (first.flaky, second.flaky) == (False, False)

    def test_come_out_the_same_each_time(self) -> None:
        first, again = (json.loads(json_report([explored(Register)])) for _ in range(2))
        for report in (first, again):
            del report["results"][0]["timing"]
        assert first == again

    def test_have_names_and_counts_of_their_own(self) -> None:
        result = explored(Checkout)
        named = {failure.bucket.partition(" [through ")[2]: failure for failure in result.failures}
        assert set(named) == {
            "one_place.py: self.taken += amount + 1]",
            "one_place.py: self.taken += 30]",
        }
        assert all(failure.count > 0 for failure in result.failures)
        assert "\n  Told apart by: one_place.py: self.taken += 30\n" in str(named["one_place.py: self.taken += 30]"])

    def test_need_the_faults_that_they_need(self) -> None:
        needed = [failure.necessary_faults for failure in explored(Notebook).failures]
        assert sorted(len(faults or {}) for faults in needed) == [1, 1]
        assert needed[0] != needed[1]

    def test_without_targets_nothing_tells_them_apart(self) -> None:
        (failure,) = explored(Shop, target_modules=[]).failures
        assert failure.bucket == whole_bucket(failure.bucket)

    def test_without_shrinking_nothing_is_told_apart(self) -> None:
        assert len(explored(Shop, shrink=False).failures) == 1

    def test_without_time_to_shrink_nothing_is_told_apart(self) -> None:
        assert len(explored(Shop, max_shrink_time=0).failures) == 1


class TestOneMistake:
    @pytest.mark.parametrize("machine", ONE)
    def test_is_one_failure(self, machine: type[RuleBasedStateMachine]) -> None:
        (failure,) = explored(machine).failures
        assert failure.bucket == whole_bucket(failure.bucket)
        assert failure.count > 1


class TestSeedsAndStates:
    def test_seeds_of_both_replay_and_stay_theirs(self, tmp_path: Path) -> None:
        saved = explored(Shop, corpus_dir=tmp_path).failures
        paths = {failure.bucket: failure.seed_path for failure in saved}
        assert len(set(paths.values())) == 2
        again = explored(Shop, seed=2, corpus_dir=tmp_path, max_runs=60)
        assert [seed.status for seed in again.seed_replays] == [SeedStatus.REPRODUCED] * 2
        assert {failure.bucket: failure.seed_path for failure in again.failures} == paths
        assert len(list(tmp_path.rglob("seed-*"))) == 2

    def test_traces_replay_and_keep_their_bucket_when_shrunk(self) -> None:
        for failure in explored(Shop).failures:
            trace = failure.trace
            assert trace is not None
            assert trace.failure is not None
            assert trace.failure.bucket == failure.bucket
            read = Trace.from_json(trace.to_json())
            assert replay(read, Shop) is not None
            small = shrink(read, Shop)
            assert small.failure is not None
            assert small.failure.bucket == failure.bucket

    def test_a_resumed_search_knows_what_the_first_one_kept(self, tmp_path: Path) -> None:
        state = tmp_path / "state"
        whole = explored(Shop)
        explored(Shop, max_runs=120, save_state_to=state)
        resumed = explored(Shop, resume_from=state)
        assert facts(resumed) == facts(whole)


class TestKnown:
    def both(self) -> list[Failure]:
        return list(explored(Checkout).failures)

    @pytest.mark.parametrize("by", ["id", "bucket"])
    def test_one_that_is_known_leaves_the_other(self, by: str) -> None:
        for known, other in zip(self.both(), reversed(self.both()), strict=True):
            result = explored(Checkout, known=[getattr(known, by)])
            assert [failure.bucket for failure in result.failures] == [other.bucket]
            assert [each.bucket for each in result.known] == [known.bucket]

    def test_one_that_is_known_is_so_if_no_other_is_met(self) -> None:
        by_mistake = {TWO[Checkout](failure): failure for failure in self.both()}
        single = (explored(Checkout, seed, max_runs=1).failures for seed in range(20))
        (seed, alone) = next((seed, found[0]) for seed, found in enumerate(single) if len(found) == 1)
        known = by_mistake[TWO[Checkout](alone)]
        assert alone.bucket == whole_bucket(known.bucket)
        result = explored(Checkout, seed, max_runs=1, known=[known.id])
        assert not result.failures
        assert [each.bucket for each in result.known] == [known.bucket]

    def test_the_whole_bucket_stands_for_both(self) -> None:
        result = explored(Checkout, known=[whole_bucket(self.both()[0].bucket)])
        assert not result.failures
        assert len(result.known) == 1

    def test_known_ones_leave_no_seed(self, tmp_path: Path) -> None:
        result = explored(Checkout, known=[self.both()[0].id], corpus_dir=tmp_path)
        assert len(list(tmp_path.rglob("seed-*"))) == len(result.failures) == 1


@linux_only
class TestProcesses:
    @pytest.mark.parametrize("workers", [1, 2])
    def test_workers_tell_them_apart_as_well(self, workers: int) -> None:
        result = explored(Register, isolate=True, workers=workers)
        assert mistakes(result, Register) == ["drop", "rename"]

    def test_a_store_keeps_both(self, tmp_path: Path) -> None:
        options = {"isolate": True, "store": f"dir://{tmp_path}/store"}
        first, second = (explored(Shop, seed, **options) for seed in (1, 2))
        assert mistakes(first, Shop) == mistakes(second, Shop) == ["receive", "ship"]


def facts(result: ExplorationResult) -> list[tuple[object, ...]]:
    return [(each.bucket, each.count, each.run_id, each.program) for each in result.failures]
