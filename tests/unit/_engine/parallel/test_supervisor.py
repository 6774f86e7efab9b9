"""Workers under a supervisor: what they find together, how it repeats, and how it goes on after a save."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.warm_python import WarmPopen

from ordeal._base.trace_file import Trace
from ordeal.assertions import sometimes
from ordeal.chaos import ChaosTest
from ordeal.errors import FaultError, MachineError, StateError
from ordeal.explore import Explorer, Tuning
from ordeal.faults import Fault, LambdaFault
from ordeal.result import ExplorationResult, ProgressSnapshot

pytestmark = pytest.mark.forks

ROOT = Path(__file__).parents[4]
STAGES = 30
KEYS = (7 * stage % 10 for stage in range(STAGES))
TOWER = "\n".join(
    [
        "def climb(stage, key):",
        *(
            f"    if stage == {stage}:\n        return {stage + 1} if key == {key} else {stage}"
            for stage, key in enumerate(KEYS)
        ),
        '    raise ValueError("the top")',
    ]
)


# Runs end what must repeat, the clock must not: a busy machine then comes to the same.
UNLIMITED: dict[str, Any] = {"max_time": 600.0, "max_shrink_time": 600.0}


@pytest.fixture
def tower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    (tmp_path / "tower.py").write_text(TOWER)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("tower", None)
    import tower as module  # type: ignore[import-not-found]  # noqa: PLC0415 - written a moment ago

    yield module
    sys.modules.pop("tower", None)


class Climber(ChaosTest):
    """Climbs a tower whose stages coverage shows."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = 0

    @rule(key=st.integers(0, 9))
    def climb(self, key: int) -> None:
        self.stage = sys.modules["tower"].climb(self.stage, key)
        sometimes(self.stage > 1, name="climbs")


class Quick(ChaosTest):
    """Fails in two ways."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = 0

    @rule(x=st.integers(0, 100))
    def add(self, x: int) -> None:
        self.sum += x

    @rule()
    def clear(self) -> None:
        assert self.sum < 900, "too much"
        self.sum = 0

    @invariant()
    def small(self) -> None:
        if self.sum > 1000:
            raise OverflowError("far too much")


def explored(workers: int, runs: int = 600, **options: Any) -> ExplorationResult:
    return Explorer(Climber, target_modules=["tower"], workers=workers, **options).run(
        max_runs=runs, steps_per_run=5, **UNLIMITED
    )


def shown(result: ExplorationResult) -> tuple[Any, ...]:
    """What must repeat."""
    failures = [(failure.bucket, failure.count, failure.run_id, failure.program) for failure in result.failures]
    return failures, result.unique_edges, result.total_runs, result.total_steps, result.lines_covered, result.notes


@pytest.mark.usefixtures("tower")
@pytest.mark.parametrize("workers", [2, 3])
def test_the_same_seed_and_number_of_workers_give_the_same(workers: int) -> None:
    first = explored(workers, 300)
    assert shown(explored(workers, 300)) == shown(first)
    assert first.total_runs == 300
    assert shown(explored(workers, 300, seed=7)) != shown(first)


class Razing(RuleBasedStateMachine):
    """Deletes the folder that all is written to, and fails."""

    @rule()
    def raze(self) -> None:
        with suppress(FileNotFoundError):
            shutil.rmtree(Path.cwd())
        raise ValueError("nothing is left")


class Leaving(RuleBasedStateMachine):
    """Goes to another folder, and fails."""

    @rule()
    def leave(self) -> None:
        os.chdir("/")
        raise ValueError("where am I?")


class Dying(Climber):
    """Ends its process now and then, at no certain time."""

    @rule(key=st.integers(0, 100))
    def fall(self, key: int) -> None:
        time.sleep(os.urandom(1)[0] / 100_000)
        if key == 13 and self.stage > 1:
            os._exit(3)


@pytest.mark.usefixtures("tower")
@pytest.mark.parametrize(("runs", "times"), [(80, 2), pytest.param(900, 4, marks=pytest.mark.nightly)])
def test_the_clock_decides_nothing_where_workers_crash(runs: int, times: int) -> None:
    first, *others = (
        shown(Explorer(Dying, target_modules=["tower"], workers=3).run(max_runs=runs, steps_per_run=20, **UNLIMITED))
        for _ in range(times)
    )
    assert any("ProcessExitError" in failure[0] for failure in first[0])
    assert others == [first] * (times - 1)


class Tiring(Climber):
    """Ends its process when it has worked for long, whatever the argument."""

    work = 0

    @rule(key=st.integers(0, 100))
    def toil(self, key: int) -> None:
        self.work += 1
        if self.work > 9:
            os._exit(3)


class Brief(Climber):
    """Ends its process with the second run that it makes."""

    runs = 0

    def __init__(self) -> None:
        super().__init__()
        Brief.runs += 1
        if Brief.runs > 1:
            os._exit(3)


@pytest.mark.usefixtures("tower")
@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_process_saw_before_it_crashed_counts(workers: int) -> None:
    result = Explorer(Brief, target_modules=["tower"], workers=workers, isolate=True).run(max_runs=6)
    assert result.unique_edges > 1


@pytest.mark.usefixtures("tower")
def test_one_worker_in_a_process_of_its_own_does_what_it_does_in_this_one() -> None:
    inside, apart = explored(1), explored(1, isolate=True)
    assert shown(apart) == shown(inside)
    assert apart.discovery == inside.discovery
    assert apart.run_kinds == inside.run_kinds
    assert [p.name for p in apart.properties] == [p.name for p in inside.properties]
    assert [p.hits for p in apart.properties] == [p.hits for p in inside.properties]


@pytest.mark.slow
@pytest.mark.usefixtures("tower")
def test_workers_that_share_come_further_in_as_many_runs() -> None:
    def edges(*, share: bool) -> int:
        results = [
            explored(
                4, 4800, seed=seed, share_edges=share, share_checkpoints=share, tuning=Tuning(swarm_policy="classic")
            )
            for seed in range(2)
        ]
        return sum(result.unique_edges for result in results)

    assert edges(share=True) > edges(share=False)


def test_failures_of_all_workers_are_one_list_with_counts() -> None:
    result = Explorer(Quick, workers=3).run(max_runs=900)
    assert sorted(type(failure.error).__name__ for failure in result.failures) == ["AssertionError", "OverflowError"]
    assert all(failure.shrunk and not failure.flaky and failure.trace for failure in result.failures)
    assert sum(failure.count for failure in result.failures) <= result.total_runs


# -- ends --


class Slow(ChaosTest):
    @rule()
    def wait(self) -> None:
        time.sleep(0.02)


INTERRUPTED = """
from ordeal.explore import Explorer
from tests.unit._engine.parallel.test_supervisor import Quick

tell = lambda now: now.failures == 2 and print("found", flush=True)
result = Explorer(Quick, workers=2).run(max_time=60, progress=tell)
print(result.stopped_reason, len(result.failures))
"""


def test_ctrl_c_ends_the_search_and_reports() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    with WarmPopen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "found\n"
        process.send_signal(signal.SIGINT)
        *_, last = process.stdout.read().splitlines()
    assert last == "interrupted 2"
    assert process.returncode == 0


def test_time_and_patience_end_it() -> None:
    assert Explorer(Slow, workers=2).run(max_time=0.5).stopped_reason == "time"
    assert Explorer(Slow, workers=2).run(patience=5, max_time=20).stopped_reason == "patience"


class Impossible(ChaosTest):
    @rule()
    def skip(self) -> None:
        raise unittest.SkipTest("not here")


def test_what_ends_an_exploration_in_one_process_does_so_in_several() -> None:
    with pytest.raises(unittest.SkipTest, match="not here"):
        Explorer(Impossible, workers=2).run(max_runs=10)

    class Stuck(ChaosTest):
        @rule(value=st.nothing())
        def never(self, value: Any) -> None:
            pass

    with pytest.raises(MachineError):
        Explorer(Stuck, workers=2).run(max_runs=10)


def fail_to_switch() -> None:
    raise FaultError("the fault cannot be switched")


class WorkerError(ChaosTest):
    faults: ClassVar[list[Fault]] = [LambdaFault("broken", fail_to_switch, lambda: None)]

    @rule()
    def step(self) -> None:
        pass


@pytest.mark.parametrize("workers", [1, 2])
def test_a_fault_that_cannot_be_switched_is_an_error_of_the_exploration(workers: int) -> None:
    with pytest.raises(FaultError, match="cannot be switched"):
        Explorer(WorkerError, workers=workers).run(max_runs=200, max_time=600)


class Many(RuleBasedStateMachine):
    """Fails in several ways, each as soon as the others."""

    @rule(key=st.integers(0, 3))
    def fail(self, key: int) -> None:
        raise (ValueError, KeyError, TypeError, OSError)[key]("it fails")


def test_failures_come_in_the_order_of_their_runs() -> None:
    failures = Explorer(Many, workers=2, seed=3).run(max_runs=60).failures
    assert len(failures) == 4
    assert [failure.run_id for failure in failures] == sorted(failure.run_id for failure in failures)


def test_progress_is_told_in_the_process_that_asked() -> None:
    told: list[int] = []

    def tell(now: ProgressSnapshot) -> None:
        told.append(now.total_runs)
        if now.total_runs > 0:
            raise KeyboardInterrupt

    Explorer(Slow, workers=2).run(max_time=60, progress=tell)
    assert told == sorted(told)
    assert told[-1] > 0


# -- states --


@pytest.mark.usefixtures("tower")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_resumed_exploration_goes_on_as_if_it_had_not_stopped(tmp_path: Path, workers: int) -> None:
    def explore(runs: int, **files: Path) -> ExplorationResult:
        explorer = Explorer(Climber, target_modules=["tower"], workers=workers, isolate=True)
        return explorer.run(max_runs=runs, shrink=False, **UNLIMITED, **files)  # type: ignore[arg-type]

    state = tmp_path / "state"
    whole = explore(120, save_state_to=tmp_path / "whole")
    explore(50, save_state_to=state)
    rest = explore(120, resume_from=state, save_state_to=state)
    assert rest.total_runs == whole.total_runs
    if workers == 1:
        assert shown(rest) == shown(whole)


@pytest.mark.usefixtures("tower")
@pytest.mark.parametrize(("before", "after"), [(2, 3), (3, 1), (1, 2)])
def test_a_state_goes_on_with_another_number_of_workers(tmp_path: Path, before: int, after: int) -> None:
    state = tmp_path / "state"

    def explore(workers: int, runs: int, **files: Path) -> ExplorationResult:
        explorer = Explorer(Climber, target_modules=["tower"], workers=workers, isolate=True)
        return explorer.run(max_runs=runs, shrink=False, **UNLIMITED, **files)  # type: ignore[arg-type]

    first = explore(before, 80, save_state_to=state)
    second = explore(after, 140, resume_from=state, save_state_to=state)
    assert second.total_runs == 140
    assert second.unique_edges >= first.unique_edges
    assert {failure.bucket for failure in second.failures} >= {failure.bucket for failure in first.failures}
    assert explore(after, 180, resume_from=state, save_state_to=state).total_runs == 180
    assert explore(before, 200, resume_from=state).total_runs == 200


@pytest.mark.usefixtures("tower")
@pytest.mark.parametrize("after", [pytest.param(2, marks=pytest.mark.nightly), 3])
def test_what_crashed_workers_counted_is_in_the_state(tmp_path: Path, after: int) -> None:
    state = tmp_path / "state"

    def explore(workers: int, runs: int, **files: Path) -> ExplorationResult:
        explorer = Explorer(Tiring, target_modules=["tower"], workers=workers)
        return explorer.run(max_runs=runs, steps_per_run=20, shrink=False, **UNLIMITED, **files)  # type: ignore[arg-type]

    first = explore(2, 100, save_state_to=state)
    (crash,) = first.failures
    assert crash.count > 1
    second = explore(after, 170, resume_from=state, save_state_to=state)
    third = explore(after, 240, resume_from=state)
    assert [result.total_runs for result in (first, second, third)] == [100, 170, 240]
    assert crash.count < second.failures[0].count < third.failures[0].count
    assert first.total_steps < second.total_steps < third.total_steps
    assert first.unique_edges <= second.unique_edges <= third.unique_edges


@pytest.mark.usefixtures("tower")
def test_a_state_of_several_workers_is_refused_where_one_goes_on_in_this_process(tmp_path: Path) -> None:
    explorer = Explorer(Climber, target_modules=["tower"], workers=2)
    explorer.run(max_runs=50, save_state_to=tmp_path / "state")
    with pytest.raises(StateError, match="was saved by 2 workers"):
        Explorer(Climber, target_modules=["tower"]).run(max_runs=60, resume_from=tmp_path / "state")


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize("harm", ["raze", "leave"])
def test_a_failure_that_deletes_or_leaves_the_working_folder_has_its_state_and_its_seed_there(
    harm: str, isolate: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    explorer = Explorer({"raze": Razing, "leave": Leaving}[harm], isolate=isolate, corpus_dir="seeds")
    result = explorer.run(max_runs=20, save_state_to="state", confirm_fresh=False)
    (failure,) = result.failures
    assert failure.seed_path is not None
    assert Trace.load(folder / failure.seed_path).failure is not None
    assert Path.cwd() == folder
    assert explorer.run(max_runs=30, resume_from="state", shrink=False).total_runs == 30


@pytest.mark.usefixtures("tower")
def test_a_state_that_has_crashes_is_refused_where_replaying_them_would_end_this_process(tmp_path: Path) -> None:
    isolated = Explorer(Dying, target_modules=["tower"], isolate=True)
    first = isolated.run(max_runs=60, shrink=False, save_state_to=tmp_path / "state")
    with pytest.raises(StateError, match="was saved by several processes in turn") as refused:
        Explorer(Dying, target_modules=["tower"]).run(max_runs=80, resume_from=tmp_path / "state")
    assert "isolate=True" in (refused.value.hint or "")
    second = isolated.run(max_runs=120, shrink=False, resume_from=tmp_path / "state")
    assert second.failures[0].count > first.failures[0].count


class Ledger(ChaosTest):
    """Keeps its state in one file, the same for all machines."""

    path: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.path.write_text("")
        self.lines = 0

    @rule()
    def add(self) -> None:
        self.path.write_text(self.path.read_text() + "x")
        self.lines += 1

    @invariant()
    def nothing_is_lost(self) -> None:
        assert len(self.path.read_text()) == self.lines


def test_workers_that_write_the_same_file_make_way_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Ledger, "path", tmp_path / "ledger", raising=False)
    result = Explorer(Ledger, workers=2, tuning=Tuning(checkpoint_kind="replay")).run(
        max_runs=30, steps_per_run=20, **UNLIMITED
    )
    assert result.failures == []
    assert result.total_runs == 30
    assert any("One worker explored" in note and str(tmp_path / "ledger") in note for note in result.notes)


SEEN: set[int] = set()


class Hoarder(ChaosTest):
    """Fails at the fourth key, and keeps the keys in its module."""

    @rule(key=st.integers(0, 50))
    def see(self, key: int) -> None:
        SEEN.add(key)
        assert len(SEEN) < 4, "too many"


def test_a_failure_is_shrunk_where_no_earlier_run_left_anything() -> None:
    result = Explorer(Hoarder, workers=1, isolate=True).run(max_runs=20, steps_per_run=20, **UNLIMITED)
    (failure,) = result.failures
    assert not failure.flaky
    assert failure.trace is not None
    assert sorted(step.params["key"] for step in failure.trace.taken_steps()) == ["0", "1", "2", "3"]
    assert any(f"{__name__}.SEEN (0 before the first run" in note for note in result.notes)
