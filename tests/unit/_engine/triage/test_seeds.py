"""What an exploration makes of the seeds of its class, and what it leaves behind."""

from __future__ import annotations

import dataclasses
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.explore import Explorer, Tuning
from ordeal.result import ExplorationResult, SeedStatus
from ordeal.trace import Trace

from ...samples.monitored import MakeModule
from ...samples.traced import Counter, Faulty, failing

# With it the first failure of Counter is longer than its shrunk form.
LONG_SEED = 1
SUT = """
    def check(total, twice):
        if total > 30:
            raise ValueError("too much")
        if twice > 2:
            raise KeyError("too often")
"""
MACHINE = """
    import sut
    from hypothesis import strategies as st
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Till(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.total = self.times = 0

        @rule(by=st.integers(0, 9))
        def add(self, by):
            self.total += by
            sut.check(self.total, 0)

        @rule()
        def again(self):
            self.times += 1
            sut.check(0, self.times)
"""


@pytest.fixture
def corpus(tmp_path: Path) -> SeedCorpus:
    return SeedCorpus(tmp_path / "seeds")


@pytest.fixture
def till(make_module: MakeModule) -> ModuleType:
    """A module with a machine, whose code under test is the module ``sut``."""
    make_module(SUT, "sut")
    return make_module(MACHINE, "till")


def explore(machine: Any, corpus: SeedCorpus | None, *, runs: int = 100, **options: Any) -> ExplorationResult:
    explorer = Explorer(machine, corpus_dir=None if corpus is None else corpus.folder, target_modules=["sut"])
    return explorer.run(max_runs=runs, record_traces=True, **options)


def fresh(failure_trace: Trace | None) -> Trace:
    assert failure_trace is not None
    return failure_trace


class TestReplaying:
    def test_a_seed_that_fails_is_a_finding_before_the_first_run(self, corpus: SeedCorpus) -> None:
        seed = corpus.save(failing(Counter))
        (failure,) = Explorer(Counter, corpus_dir=corpus.folder).run(max_runs=1, steps_per_run=1).failures
        assert isinstance(failure.error, ValueError)
        assert (failure.run_id, failure.count, failure.seed_path) == (0, 0, str(seed))
        assert failure.shrunk
        assert fresh(failure.trace).content_hash() in seed.name
        assert str(failure).startswith(f"Seed {seed.stem.removeprefix('seed-')}, step {failure.step}: ValueError")

    @pytest.mark.parametrize("coverage", ["auto", "novelty", "counts"])
    def test_the_runs_are_the_same_with_and_without_seeds(
        self, till: ModuleType, corpus: SeedCorpus, coverage: Any
    ) -> None:
        def run(folder: Path | None) -> tuple[object, ...]:
            explorer = Explorer(till.Till, corpus_dir=folder, target_modules=["sut"], tuning=Tuning(coverage=coverage))
            result = explorer.run(max_runs=150, record_traces=True, shrink=False)
            paths = [trace.to_json() for trace in result.traces if trace.failure is None]
            counts = (result.total_runs, result.total_steps, result.unique_edges, result.checkpoints_saved)
            return counts, paths, result.coverage_gaps, result.lines_covered, result.rejected_runs

        without = run(None)
        explore(till.Till, corpus)
        assert len(corpus.paths()) == 2
        assert run(corpus.folder) == without

    def test_each_kind_of_seed_has_its_outcome(
        self, till: ModuleType, make_module: MakeModule, corpus: SeedCorpus
    ) -> None:
        explore(till.Till, corpus)
        of_add, of_again = (Trace.load(path) for path in corpus.paths())
        if of_add.taken_steps()[0].name == "again":
            of_add, of_again = of_again, of_add
        gone = corpus.save(
            dataclasses.replace(of_again, steps=[dataclasses.replace(of_again.taken_steps()[0], name="left")])
        )
        broken = gone.with_name("seed-broken.json")
        broken.write_text("{")
        other = corpus.save(dataclasses.replace(of_again, test_class="other:Till"))
        sys.modules["sut"].check = lambda total, _: 1 / (30 // total - 1) if total > 15 else 0  # type: ignore[attr-defined]
        outcomes = {outcome.path: outcome for outcome in explore(till.Till, corpus, runs=1).seed_replays}
        assert str(other) not in outcomes
        statuses = {
            corpus.folder / "Till" / f"seed-{of_add.content_hash()}.json": (SeedStatus.FAILS_DIFFERENTLY, "ZeroDivisi"),
            corpus.folder / "Till" / f"seed-{of_again.content_hash()}.json": (SeedStatus.FIXED, ""),
            gone: (SeedStatus.NO_LONGER_APPLIES, "it has no rule 'left'"),
            broken: (SeedStatus.UNREADABLE, str(broken)),
        }
        assert set(outcomes) == {str(path) for path in statuses}
        for path, (status, message) in statuses.items():
            assert outcomes[str(path)].status is status
            assert message in outcomes[str(path)].message
        assert [outcome.path for outcome in outcomes.values()] == sorted(outcomes)

    def test_ctrl_c_in_a_seed_ends_the_exploration_with_a_result(self, corpus: SeedCorpus) -> None:
        class Stopping(Counter):
            def teardown(self) -> None:
                signal.raise_signal(signal.SIGINT)

        trace = failing(Counter)
        trace.test_class = f"{Stopping.__module__}:{Stopping.__qualname__}"
        corpus.save(trace)
        result = Explorer(Stopping, corpus_dir=corpus.folder).run(max_runs=5)
        assert (result.stopped_reason, result.total_runs) == ("interrupted", 0)

    def test_a_seed_is_timed_by_the_limit_of_the_exploration(self, corpus: SeedCorpus) -> None:
        class Slow(RuleBasedStateMachine):
            @rule()
            def wait(self) -> None:
                sys.modules["time"].sleep(0.3)

        first = Explorer(Slow, corpus_dir=corpus.folder, rule_timeout=0.1).run(max_runs=1, steps_per_run=1)
        assert len(first.failures) == 1
        again = Explorer(Slow, corpus_dir=corpus.folder, rule_timeout=0.1).run(max_runs=1, steps_per_run=1)
        assert [outcome.status for outcome in again.seed_replays] == [SeedStatus.REPRODUCED]
        # What is set now outweighs what the seed was recorded with: the limit may have been too strict.
        patient = Explorer(Slow, corpus_dir=corpus.folder).run(max_runs=1, steps_per_run=1)
        assert [outcome.status for outcome in patient.seed_replays] == [SeedStatus.FIXED]


class TestSaving:
    def test_failures_are_saved_shrunk_and_once(self, till: ModuleType, corpus: SeedCorpus) -> None:
        failures = explore(till.Till, corpus).failures
        paths = corpus.paths()
        assert sorted(str(failure.seed_path) for failure in failures) == [str(path) for path in paths]
        assert {fresh(failure.trace).content_hash() for failure in failures} == {
            Trace.load(path).content_hash() for path in paths
        }
        written = [path.stat().st_mtime_ns for path in paths]
        explore(till.Till, corpus)
        other = Explorer(till.Till, corpus_dir=corpus.folder, target_modules=["sut"], seed=7).run(max_runs=200)
        assert len(other.failures) == 2
        assert corpus.paths() == paths
        assert [path.stat().st_mtime_ns for path in paths] == written

    def test_a_seed_that_was_not_shrunk_gives_way_to_its_shrunk_form(self, corpus: SeedCorpus) -> None:
        Explorer(Counter, corpus_dir=corpus.folder, seed=LONG_SEED).run(max_runs=300, shrink=False)
        (long,) = corpus.paths()
        steps = len(Trace.load(long).steps)
        (failure,) = Explorer(Counter, corpus_dir=corpus.folder).run(max_runs=1).failures
        (short,) = corpus.paths()
        assert failure.seed_path == str(short)
        assert len(Trace.load(short).steps) < steps
        assert short != long

    def test_a_seed_that_fails_differently_is_kept_beside_the_new_one(
        self, till: ModuleType, corpus: SeedCorpus
    ) -> None:
        explore(till.Till, corpus)
        before = corpus.paths()

        def check(total: int, _: int) -> None:
            if total > 10:
                raise OSError(total)

        sys.modules["sut"].check = check  # type: ignore[attr-defined]
        result = explore(till.Till, corpus, runs=1)
        assert [type(failure.error) for failure in result.failures] == [OSError]
        assert set(before) < set(corpus.paths())
        assert len(corpus.paths()) == 3

    def test_a_flaky_failure_is_no_seed(self, corpus: SeedCorpus) -> None:
        class Moody(Faulty):
            calls: ClassVar[int] = 0

            def is_broken(self, on: set[str]) -> bool:
                Moody.calls += 1
                return Moody.calls == 7

        (failure,) = Explorer(Moody, corpus_dir=corpus.folder).run(max_runs=20).failures
        assert failure.flaky
        assert failure.seed_path is None
        assert corpus.paths() == []

    def test_a_folder_that_cannot_be_written_costs_a_note_and_nothing_else(self, corpus: SeedCorpus) -> None:
        corpus.folder.mkdir()
        (corpus.folder / "Counter").write_text("in the way")
        result = Explorer(Counter, corpus_dir=corpus.folder).run(max_runs=100)
        (failure,) = result.failures
        assert failure.seed_path is None
        (note,) = result.notes
        assert note.startswith("A seed was not saved: cannot write trace ")

    def test_seeds_that_nothing_else_can_import_are_told_of(self, corpus: SeedCorpus) -> None:
        class Local(Counter): ...

        def make() -> Counter:
            return Counter()

        assert Explorer(Counter, corpus_dir=corpus.folder).run(max_runs=100).notes == ()
        for machine in (Local, make):
            result = Explorer(machine, corpus_dir=corpus.folder).run(max_runs=100)
            assert any("can replay its seeds: nothing else can import it." in note for note in result.notes)
            again = Explorer(machine, corpus_dir=corpus.folder).run(max_runs=1, steps_per_run=1)
            assert [seed.status for seed in again.seed_replays] == [SeedStatus.REPRODUCED]
