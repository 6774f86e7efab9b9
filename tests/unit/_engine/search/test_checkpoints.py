"""Runs from checkpoints are the same whether states are copied, steps run again, or processes hold states."""

from __future__ import annotations

import itertools
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, initialize, invariant, multiple, precondition, rule

from ordeal import ChaosTest, _native
from ordeal._engine.search.checkpoints import FORK_SERVERS_MAX
from ordeal.assertions import always_lt, sometimes
from ordeal.explore import ExplorationResult, Explorer, Tuning
from ordeal.faults import Fault

from ...samples.explored import KINDS, children, explore
from ...samples.machines import switches

pytestmark = pytest.mark.usefixtures("own_threads_alone")


@pytest.fixture
def depot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module to watch."""
    (tmp_path / "depot.py").write_text(
        "def sort(parcel, lamp):\n"
        "    if parcel['weight'] > 40:\n"
        "        parcel['shelf'] = 'low' if lamp else 'floor'\n"
        "    elif parcel['weight'] > 12:\n"
        "        parcel['shelf'] = 'middle'\n"
        "    for _ in range(parcel['weight'] // 8):\n"
        "        parcel['tries'] += 1\n"
        "    return parcel\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "depot"
    sys.modules.pop("depot", None)


class Depot(ChaosTest):
    """Bundles, faults, initialize rules, shared draws, random numbers, properties, and a failure two faults deep."""

    faults: ClassVar[list[Fault]] = switches("lamp", "scale")
    parcels: Bundle[dict[str, Any]] = Bundle("parcels")

    def __init__(self) -> None:
        super().__init__()
        self.stored: list[dict[str, Any]] = []
        self.draws: list[int] = []
        self.received = 0

    @initialize(start=st.integers(0, 3))
    def open(self, start: int) -> None:
        self.draws.append(start)

    @rule(target=parcels, weight=st.integers(0, 60), label=st.text(max_size=3))
    def receive(self, weight: int, label: str) -> Any:
        self.received += 1
        self.stored.append({"weight": weight, "label": label, "tries": 0, "number": self.received})
        return self.stored[-1]

    @rule(target=parcels, pairs=st.lists(st.floats(0, 9), max_size=2))
    def receive_many(self, pairs: list[float]) -> Any:
        return multiple(*({"weight": int(each), "label": "", "tries": 0, "number": -1} for each in pairs))

    @rule(parcel=parcels, share=st.shared(st.booleans(), key="share"))
    def sort(self, parcel: dict[str, Any], share: bool) -> None:
        lamp, scale = (fault.active for fault in self.faults)
        sys.modules["depot"].sort(parcel, lamp)
        sometimes(parcel.get("shelf") == "low", "something lies low")
        always_lt(len(self.stored), 30, "the depot is not full")
        assert not (lamp and scale and share and parcel.get("shelf") == "low")

    @rule(parcel=consumes(parcels))
    def hand_out(self, parcel: dict[str, Any]) -> None:
        # What a bundle holds and what the machine holds are the same object, also after coming back.
        assert all(parcel is each for each in self.stored if parcel["number"] == each["number"])
        self.stored = [each for each in self.stored if each is not parcel]

    @precondition(lambda self: self.stored)
    @rule()
    def shuffle(self) -> None:
        self.draws.append(random.randrange(1000))
        assert len(self.draws) < 12

    def state_hash(self) -> int:
        return 1 + min(len(self.stored), 6) * 1000 + sum(self.draws) % 7


def facts(result: ExplorationResult) -> dict[str, Any]:
    """What must not depend on the kind."""
    return {
        "runs": (result.total_runs, result.total_steps, result.rejected_runs, result.unconfirmed),
        "edges": result.unique_edges,
        "checkpoints": result.checkpoints_saved,
        "failures": [(each.bucket, each.count, each.run_id, each.flaky) for each in result.failures],
        "traces": [trace.content_hash() for trace in result.traces],
        "properties": result.properties,
        "lines": (result.lines_covered, result.coverage_gaps),
    }


@pytest.mark.supervised
@pytest.mark.parametrize("swarm", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_each_kind_explores_the_same(depot: str, swarm: bool) -> None:
    results = {
        kind: explore(Depot, kind, target_modules=[depot], coverage="counts", rule_swarm=swarm, max_runs=60)
        for kind in KINDS
    }
    assert {kind: result.snapshot_kind for kind, result in results.items()} == {kind: kind for kind in KINDS}
    assert results["copy"].checkpoints_saved > 20
    assert results["copy"].failures
    assert facts(results["replay"]) == facts(results["copy"])
    assert facts(results["fork"]) == facts(results["copy"])
    assert results["fork"].notes == results["copy"].notes


#: A target with code of every kind: what runs once, what runs often, and what only deep states reach.
WORKS = '''
FRESH = """
def fresh(a):
    if a > 2:
        return 1
    return 2
"""

def once(number):
    if number > 3:
        seen = [each for each in range(number) if each % 2]
    else:
        seen = []
    return len(seen)

class Works:
    def __init__(self):
        self.level, self.log = 0, []

    def __deepcopy__(self, memo):
        made = Works()
        vars(made).update(vars(self))
        made.level, made.log = copied(self.level), list(self.log)
        return made

    def turn(self, by):
        for _ in range(by):
            if self.level % 7 == 3:
                self.level += 2
            self.level += 1
        while self.level > 60:
            self.level -= 31
        self.log.append(self.level)
        if self.level > 20:
            self.deep(by)
        return self.level

    def deep(self, by):
        def inner(more):
            match more:
                case 0:
                    return "none"
                case 1 | 2:
                    return "few"
                case _ if self.level > 40:
                    return "many, high"
            return "many"

        try:
            made = inner(by)
            if len(self.log) > 6:
                exec(compile(FRESH, __file__, "exec"), names := {})
                names["fresh"](by)
            if by == 5 and self.level % 5 == 2:
                raise LookupError(made)
        except LookupError:
            self.level = 1
        finally:
            self.rest = sum(each for each in (1, 2, by) if each != 2)

def copied(level):
    return level if level < 30 else int(str(level))

class Broken(Exception):
    pass
'''


@pytest.fixture
def works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Another module to watch."""
    (tmp_path / "works.py").write_text(WORKS)
    monkeypatch.syspath_prepend(tmp_path)
    yield "works"
    sys.modules.pop("works", None)


class Worker(ChaosTest):
    """Goes deep into what it works with."""

    def __init__(self) -> None:
        super().__init__()
        self.works = sys.modules["works"].Works()

    @rule(by=st.integers(0, 6))
    def turn(self, by: int) -> None:
        self.works.turn(by)

    @rule(number=st.integers(0, 5))
    def once(self, number: int) -> None:
        sys.modules["works"].once(number)

    @precondition(lambda self: self.works.level > 45)
    @rule(by=st.integers(0, 3))
    def deep(self, by: int) -> None:
        self.works.deep(by)
        assert by != 3 or self.works.level % 3

    def teardown(self) -> None:
        if self.works.level > 30:
            sys.modules["works"].once(self.works.level)
        super().teardown()


@pytest.mark.supervised
@pytest.mark.slow
@pytest.mark.parametrize(
    ("coverage", "swarm", "runs"),
    [
        ("counts", True, 160),  # from run 129 on, places that show nothing new are silent
        ("novelty", False, 60),
        pytest.param("auto", True, 230, marks=pytest.mark.nightly),
        pytest.param("counts", True, 230, marks=pytest.mark.nightly),
        pytest.param("counts", False, 230, marks=pytest.mark.nightly),
        pytest.param("novelty", True, 230, marks=pytest.mark.nightly),
        pytest.param("novelty", False, 230, marks=pytest.mark.nightly),
        pytest.param("auto", False, 230, marks=pytest.mark.nightly),
    ],
)
def test_each_kind_explores_the_same_at_each_level(works: str, coverage: str, swarm: bool, runs: int) -> None:
    options: dict[str, Any] = {"target_modules": [works], "coverage": coverage, "rule_swarm": swarm, "max_runs": runs}
    results = {kind: facts(explore(Worker, kind, **options)) for kind in KINDS}
    assert results["copy"]["checkpoints"] > 10
    assert results["replay"] == results["copy"]
    assert results["fork"] == results["copy"]


@pytest.mark.supervised
def test_no_process_stays(depot: str) -> None:
    before = children()
    seen: list[int] = []
    explorer = Explorer(
        Depot, target_modules=[depot], seed=3, tuning=Tuning(checkpoint_kind="fork"), checkpoint_prob=0.6
    )
    explorer.run(max_runs=40, steps_per_run=30, shrink=False, progress=lambda _: seen.append(len(children())))
    assert 2 < max(seen) <= FORK_SERVERS_MAX + len(before)
    assert children() == before


def iter_once() -> Iterator[int]:
    """A generator: nothing can copy it."""
    yield 1


class Locked(ChaosTest):
    """State that cannot be copied, and steps that take their time where they are told to."""

    pause_s = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.numbers = iter_once()
        self.count = 0

    @rule(by=st.integers(0, 3))
    def count_up(self, by: int) -> None:
        time.sleep(self.pause_s)
        self.count += by
        assert self.count < 60


@pytest.mark.supervised
def test_the_clock_decides_nothing_where_the_number_of_runs_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "perf_counter", itertools.count(0, 1_000).__next__)
    assert explore(Locked, "auto", max_runs=60).snapshot_kind == "replay"


def test_what_cannot_be_copied_runs_again() -> None:
    result = explore(Locked, "auto")
    assert result.snapshot_kind == "replay"


@pytest.mark.supervised
def test_what_cannot_be_copied_and_is_expensive_to_run_again_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_expensive(_policy: _native.RunPolicy, *, runs: int, **_: object) -> bool:
        return runs > _native.RunPolicy.WARM_UP_RUNS

    def pays(_policy: _native.RunPolicy, *, steps: int, **_: object) -> bool:
        asked.append(steps)
        return steps % 2 == 0

    asked: list[int] = []
    monkeypatch.setattr(_native.RunPolicy, "returning_is_expensive", is_expensive)
    monkeypatch.setattr(_native.RunPolicy, "holding_pays", pays)
    held = explore(Locked, "auto")
    assert held.snapshot_kind == "fork"
    assert {steps % 2 for steps in asked} == {0, 1}, "some are held, and some are not"
    assert any("held in separate processes" in note for note in held.notes)
    assert facts(held) == facts(explore(Locked, "replay"))


def test_a_fork_is_refused_while_another_thread_runs() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        result = explore(Locked, "fork")
    finally:
        end.set()
        thread.join()
    assert result.snapshot_kind == "replay"
    assert any("No process can hold a state of Locked: " in note for note in result.notes)
    assert facts(result) == facts(explore(Locked, "replay"))


class Coroutines(ChaosTest):
    @rule()  # type: ignore[arg-type, unused-ignore]
    async def act(self) -> None:
        """Act."""


def test_a_fork_is_refused_where_there_is_an_event_loop() -> None:
    result = explore(Coroutines, "fork", max_runs=30)
    assert result.snapshot_kind == "replay"


class Ledger(ChaosTest):
    """Counts in a database on disk, which its forks would share."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.db = sqlite3.connect(Path(self.folder.name) / "ledger.db")
        self.db.execute("CREATE TABLE entry (amount INTEGER)")
        self.entries = 0

    @rule()
    def enter(self) -> None:
        self.db.execute("INSERT INTO entry VALUES (7)")
        self.db.commit()
        self.entries += 1

    @invariant()
    def holds_what_was_entered(self) -> None:
        assert self.db.execute("SELECT count(*) FROM entry").fetchone() == (self.entries,)

    def teardown(self) -> None:
        self.db.close()
        self.folder.cleanup()
        super().teardown()


@pytest.mark.supervised
def test_a_fork_is_refused_where_it_would_share_a_database() -> None:
    result = explore(Ledger, "fork", max_runs=20)
    assert (result.snapshot_kind, result.failures) == ("replay", [])
    assert any("its forks would share a file that is open for writing" in note for note in result.notes)


class Reopened(ChaosTest):
    """Counts in a file that it opens for each step: copies and forks share it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "ledger"
        self.path.touch()
        self.entries = 0

    @rule()
    def enter(self) -> None:
        with self.path.open("a") as file:
            file.write("7")
        self.entries += 1

    def teardown(self) -> None:
        self.folder.cleanup()
        super().teardown()


class CheckedReopened(Reopened):
    """Fails where others have written to it."""

    @invariant()
    def holds_what_was_entered(self) -> None:
        assert self.path.stat().st_size == self.entries


class BranchedReopened(Reopened):
    """Has fewer rules where others have written to it."""

    @precondition(lambda self: self.path.stat().st_size == self.entries)
    @rule()
    def look(self) -> None:
        pass


@pytest.mark.supervised
@pytest.mark.parametrize("machine", [CheckedReopened, BranchedReopened])
def test_forks_that_share_what_is_outside_are_noticed(machine: type[ChaosTest]) -> None:
    result = explore(machine, "fork", max_runs=60)
    assert (result.snapshot_kind, result.failures) == ("replay", [])
    assert result.unconfirmed <= 1
    assert any("from a held state" in note and "from a fresh machine" in note for note in result.notes)


outside: list[int] = []


class Leaking(ChaosTest):
    """A copy of it leaves behind what is outside, and no failure tells so."""

    def __init__(self) -> None:
        super().__init__()
        outside.clear()

    @rule()
    def add(self) -> None:
        outside.append(1)

    @rule()
    def look(self) -> None:
        """Look."""

    def state_hash(self) -> int:
        return 1 + min(len(outside), 40)


class LeakingInSteps(Leaking):
    """The steps that can run show it."""

    state_hash = ChaosTest.state_hash

    @precondition(lambda _: len(outside) % 2 == 1)
    @rule(number=st.integers())
    def add_oddly(self, number: int) -> None:
        outside.append(number)


@pytest.mark.parametrize("machine", [Leaking, LeakingInSteps])
def test_a_copy_that_goes_another_way_is_noticed_without_a_failure(machine: type[ChaosTest]) -> None:
    result = explore(machine, "auto", max_runs=400)
    assert result.snapshot_kind == "replay"
    assert not result.failures
    assert any("went another way" in note for note in result.notes)


class Leaving(ChaosTest):
    """Only a copy of it ends the process; a fork of the process may end."""

    def __init__(self) -> None:
        super().__init__()
        outside[:] = [id(self)]

    @rule()
    def leave(self) -> None:
        if outside != [id(self)]:
            os._exit(3)

    @rule()
    def fork(self) -> None:
        if (child := os.fork()) == 0:
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_a_copy_does_not_end_this_process() -> None:
    result = explore(Leaving, "copy", max_runs=20)
    assert (result.failures, result.unconfirmed, result.snapshot_kind) == ([], 1, "replay")


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(Exception, match="checkpoint_kind is 'pickle'; it must be one of auto, copy, replay, fork"):
        Explorer(Locked, tuning=Tuning(checkpoint_kind="pickle"))  # type: ignore[arg-type]
