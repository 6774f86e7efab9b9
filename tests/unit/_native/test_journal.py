"""When a process dies in the middle of a run, another one reads the tape in its journal, whose replay dies alike."""

from __future__ import annotations

import ctypes
import faulthandler
import gc
import mmap
import os
import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, multiple, precondition, rule
from hypothesis.strategies import DataObject

from ordeal import ChaosTest, _native, buggify
from ordeal._engine.execution.driver import Driver, Outcome
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.execution.snapshot import Snapshot
from ordeal._engine.search.checkpoints import Checkpoints
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._hypothesis.run_context import RunContext
from ordeal.config.options import ExplorationOptions
from ordeal.explore import ExplorationResult, Explorer
from ordeal.faults import Fault

from ..samples.machines import switches

pytestmark = pytest.mark.usefixtures("own_threads_alone")

Machine = type[RuleBasedStateMachine]

BYTES = 1 << 20
ENDED = 98
BROKEN = 99
DIED = 7


def leave() -> None:
    os._exit(DIED)


def segfault() -> None:
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    ctypes.string_at(0)


class Death:
    """How a machine dies. It is chosen before the process is forked."""

    now: ClassVar[Callable[[], object]] = leave


@pytest.fixture(autouse=True)
def _death() -> Iterator[None]:
    yield
    Death.now = leave


# -- processes --------------------------------------------------------------------------------------------------------


# Runs end the explorations, the clock must not: a busy machine then comes to the same.
UNLIMITED_S = 600.0


def apart(work: Callable[[mmap.mmap], object]) -> tuple[int, mmap.mmap]:
    """How a process of its own ended that did ``work`` with memory that is shared; that of a signal is negative."""
    child, memory = start(work)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), memory


def start(work: Callable[[mmap.mmap], object]) -> tuple[int, mmap.mmap]:
    memory = mmap.mmap(-1, BYTES)
    child = os.fork()
    if child == 0:
        try:
            faulthandler.disable()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            work(memory)
        except BaseException:  # noqa: BLE001 - nothing of the test may go on in this process
            traceback.print_exc()
            os._exit(BROKEN)
        os._exit(ENDED)
    return child, memory


def explore(machine: Machine, memory: mmap.mmap, **options: Any) -> ExplorationResult:
    """Explore ``machine`` with a journal in ``memory``."""
    runs = options.pop("max_runs", 2000)
    shrink = options.pop("shrink", False)
    explorer = Explorer.of(machine, ExplorationOptions().with_arguments(seed=3, **options))
    explorer._driver.journal = _native.Journal(memory)
    return explorer.run(max_time=UNLIMITED_S, max_shrink_time=UNLIMITED_S, max_runs=runs, shrink=shrink)


def replay(machine: Machine, tape: _native.Tape, memory: mmap.mmap) -> Outcome:
    """Replay ``tape`` with a journal in ``memory``."""
    driver = make_driver(machine)
    driver.journal = _native.Journal(memory)
    with GlobalRandoms().managed() as randoms, driver.watchdog.watching():
        randoms.reseed()
        return driver.execute(_native.Replay(tape))


def read(machine: Machine, memory: mmap.mmap) -> _native.JournalRecord:
    driver = make_driver(machine)
    definition = driver.definition
    shape = (len(definition.rules), len(definition.initializers), len(driver.faults))
    return _native.read_journal(memory, shape, len(definition.argument_names))


def dies_alike(machine: Machine, code: int = DIED, **options: Any) -> _native.JournalRecord:
    """What the journal of a process says that died while it explored; the replay of its tape dies as well."""
    ended, memory = apart(lambda memory: explore(machine, memory, **options))
    assert ended == code
    record = read(machine, memory)
    assert not record.cut
    assert not record.ended
    assert record.steps == _native.journal_steps(memory)
    ended, memory = apart(lambda memory: replay(machine, record.tape, memory))
    assert ended == code
    assert read(machine, memory).tape.steps() == record.tape.steps()
    return record


# -- deaths -----------------------------------------------------------------------------------------------------------


class Depot(ChaosTest):
    """Dies when a fifth heavy parcel is handed out while both faults are on."""

    faults: ClassVar[list[Fault]] = switches("lamp", "scale")
    parcels: Bundle[int] = Bundle("parcels")

    def __init__(self) -> None:
        super().__init__()
        self.heavy = 0

    @initialize(target=parcels, weight=st.integers(0, 60))
    def open(self, weight: int) -> Any:
        return multiple(weight, 60 - weight)

    @rule(target=parcels, weight=st.integers(0, 60), label=st.text(max_size=3))
    def receive(self, weight: int, label: str) -> int:
        return weight + len(label)

    @precondition(lambda self: self.heavy < 9)
    @rule(parcel=consumes(parcels))
    def hand_out(self, parcel: int) -> None:
        self.heavy += parcel > 30
        if self.heavy == 5 and all(fault.active for fault in self.faults):
            Death.now()


@pytest.mark.parametrize(("death", "code"), [(leave, DIED), (segfault, -signal.SIGSEGV)])
def test_the_tape_of_a_step_that_ends_its_process_is_in_the_journal(death: Callable[[], None], code: int) -> None:
    Death.now = death
    record = dies_alike(Depot, code)
    assert record.stage == "step"
    assert record.run > 1
    (kind, target, _, _) = record.tape.steps()[-1]
    assert kind == 0
    assert make_driver(Depot).definition.rules[target].name == "hand_out"


def test_a_process_that_hangs_has_no_heartbeat_and_can_be_ended() -> None:
    hanging = mmap.mmap(-1, mmap.PAGESIZE)

    def hang() -> None:
        hanging[0] = 1
        while True:
            time.sleep(60)

    Death.now = hang
    child, memory = start(lambda memory: explore(Depot, memory))
    while not hanging[0]:
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
        time.sleep(0.01)
    before = _native.journal_steps(memory)
    time.sleep(0.1)
    assert _native.journal_steps(memory) == before > 0
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    record = read(Depot, memory)
    assert (record.stage, record.steps) == ("step", before)
    Death.now = leave
    ended, _ = apart(lambda memory: replay(Depot, record.tape, memory))
    assert ended == DIED


class Weighed(st.SearchStrategy[int]):
    """A strategy of the user's own, which draws through Hypothesis."""

    def do_draw(self, data: Any) -> int:
        return int(data.draw_integer(0, 9))


def fatal(numbers: list[int]) -> list[int]:
    if sum(numbers) > 400:
        Death.now()
    return numbers


class Planner(ChaosTest):
    """Dies in a function that a strategy calls: half of an argument is drawn by then."""

    @rule(
        choice=st.one_of(st.integers(), st.floats(), st.binary(max_size=3), st.sampled_from("abc")),
        size=st.integers(-(2**90), 2**90),
        weighed=Weighed(),
        lists=st.tuples(st.dictionaries(st.integers(0, 9), st.text()), st.lists(st.integers(0, 300)).map(fatal)),
    )
    def plan(self, choice: object, size: int, weighed: int, lists: object) -> None: ...


def test_what_plans_draw_is_in_the_journal_before_the_code_of_the_user_goes_on() -> None:
    record = dies_alike(Planner)
    assert record.tape.choice_count > 3


class Jumpy(ChaosTest):
    """Dies when two points of buggify act in one step, between two draws."""

    @rule(data=st.data())
    def jump(self, data: DataObject) -> None:
        first = buggify(0.3)
        data.draw(st.integers(0, 9))
        if buggify(0.3) and first:
            Death.now()


def test_decisions_of_the_step_under_way_are_in_the_journal() -> None:
    record = dies_alike(Jumpy)
    (_, _, _, arguments) = record.tape.steps()[-1]
    assert arguments[-1][1] == [True, True]


class Deep(ChaosTest):
    """Dies in a run from a copy of a state; a replay, which has none, dies in the same state."""

    exploring = False
    armed = True

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        type(self).armed = not self.exploring

    @rule(number=st.integers(0, 9))
    def dig(self, number: int) -> None:
        self.depth += number == self.depth % 10
        if self.depth > 3 and number % 2 and self.armed:
            Death.now()

    def state_hash(self) -> int:
        return self.depth + 1


def test_the_journal_of_a_run_from_a_checkpoint_begins_with_its_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    Death.now = segfault  # an exit of a copy is judged in this process
    restore = Checkpoints.restore

    def restored(self: Checkpoints, snapshot: Snapshot, run: RunContext, faults_on: list[bool]) -> Any:
        machine = restore(self, snapshot, run, faults_on)
        Deep.armed = True
        return machine

    def work(memory: mmap.mmap) -> None:
        Deep.exploring = True
        monkeypatch.setattr(Checkpoints, "restore", restored)
        explore(Deep, memory, checkpoint_prob=0.8, checkpoint_kind="copy")

    ended, memory = apart(work)
    assert ended == -signal.SIGSEGV
    record = read(Deep, memory)
    ended, memory = apart(lambda memory: replay(Deep, record.tape, memory))
    assert ended == -signal.SIGSEGV
    assert read(Deep, memory).tape.steps() == record.tape.steps()


class Restless(ChaosTest):
    """Dies while the third machine is made."""

    made: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1
        if self.made == 3:
            Death.now()

    @rule()
    def work(self) -> None: ...


class Tired(ChaosTest):
    """Dies in the end."""

    @rule()
    def work(self) -> None: ...

    def teardown(self) -> None:
        Death.now()


def test_the_stage_says_where_the_process_was() -> None:
    ended, memory = apart(lambda memory: explore(Restless, memory))
    assert (ended, read(Restless, memory).stage, len(read(Restless, memory).tape)) == (DIED, "making", 0)
    ended, memory = apart(lambda memory: explore(Tired, memory))
    assert (ended, read(Tired, memory).stage) == (DIED, "teardown")
    assert len(read(Tired, memory).tape) > 0


# -- strangers --------------------------------------------------------------------------------------------------------


class Splitting(ChaosTest):
    """Forks, and what comes out of it goes on with the run."""

    memory: ClassVar[mmap.mmap]
    raises = False

    def __init__(self) -> None:
        super().__init__()
        self.parent = os.getpid()
        self.splits = 0

    @precondition(lambda self: self.splits < 2)
    @rule(data=st.data())
    def split(self, data: DataObject) -> None:
        self.splits += 1
        before = self.memory[:]
        child = os.fork()
        if child != 0:
            _, status = os.waitpid(child, 0)
            assert status == 0
            assert self.memory[:] == before
        elif self.raises:
            raise ValueError("a stranger")
        data.draw(st.integers(0, 9))

    @rule()
    def work(self) -> None: ...

    def teardown(self) -> None:
        if os.getpid() != self.parent:
            os._exit(DIED)
        super().teardown()


@pytest.mark.parametrize("raises", [False, True])
def test_what_a_rule_forks_ends_before_it_writes(raises: bool) -> None:
    def work(memory: mmap.mmap) -> None:
        Splitting.memory = memory
        Splitting.raises = raises
        assert explore(Splitting, memory, max_runs=30).failures == []

    ended, memory = apart(work)
    assert ended == ENDED
    assert read(Splitting, memory).run >= 30


# -- explorations that live -------------------------------------------------------------------------------------------


class Failing(Depot):
    """Fails where the other dies."""

    @rule()
    def look(self) -> None:
        assert self.heavy < 4 or not self.faults[0].active

    def state_hash(self) -> int:
        return self.heavy + 1


@pytest.mark.parametrize("kind", ["copy", "replay"])
def test_it_is_the_tape_of_every_run_and_replay(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Death.now = int
    memory = mmap.mmap(-1, BYTES)
    execute = Driver.execute
    seen = {_native.Session: 0, _native.Replay: 0}

    def executed(self: Driver, step_source: Any, **options: Any) -> Outcome:
        outcome = execute(self, step_source, **options)
        followed = getattr(step_source, "replay", step_source)
        record = read(Failing, memory)
        assert record.tape == followed.tape
        assert record.ended == isinstance(followed, _native.Replay)
        assert record.stage == ("idle" if record.ended else "teardown")
        assert followed.journal is (self.journal if isinstance(followed, _native.Session) else None)
        seen[type(followed)] += 1
        return outcome

    monkeypatch.setattr(Driver, "execute", executed)
    result = explore(Failing, memory, checkpoint_kind=kind, checkpoint_prob=0.5, max_runs=150, shrink=True)
    assert len(result.failures) == 1
    assert result.total_runs == 150 <= seen[_native.Session]  # a run that steps back is executed again
    assert seen[_native.Replay] > 20
    assert read(Failing, memory).run >= sum(seen.values())


def test_the_loop_in_python_writes_the_same() -> None:
    def tape(in_cpp: bool) -> list[Any]:
        memory = mmap.mmap(-1, BYTES)
        before, Driver.in_cpp = Driver.in_cpp, in_cpp
        try:
            explore(Jumpy, memory, max_runs=3)
        finally:
            Driver.in_cpp = before
        return read(Jumpy, memory).tape.steps()

    Death.now = int
    assert tape(True) == tape(False)


# -- the memory -------------------------------------------------------------------------------------------------------


def a_replay(steps: int = 1) -> _native.Replay:
    return _native.Replay(_native.Tape.from_steps([(0, 0, at, [(1, ["text", 2**80])]) for at in range(steps)]))


def test_a_script_keeps_its_journal_and_the_journal_its_memory() -> None:
    memory = mmap.mmap(-1, BYTES)
    step_source = a_replay()
    assert step_source.journal is None
    step_source.journal = _native.Journal(memory)
    gc.collect()
    assert step_source.journal.steps == 1
    step_source.next()
    with pytest.raises(BufferError):
        memory.close()
    assert _native.read_journal(memory, (1, 0, 0), 2).tape == step_source.tape
    step_source.journal = None
    memory.close()


@pytest.mark.parametrize(
    ("memory", "error"),
    [
        (bytearray(100), _native.CoreError),
        (bytes(BYTES), BufferError),
        (memoryview(bytearray(BYTES))[1:], _native.CoreError),
        (memoryview(bytearray(BYTES))[::2], BufferError),
        ("text", TypeError),
    ],
)
def test_memory_that_does_not_serve_is_refused(memory: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        _native.Journal(memory)
