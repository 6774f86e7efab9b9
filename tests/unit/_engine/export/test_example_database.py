"""Failures in Hypothesis' example database: what its own test finds at once, and why it does not find the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar
from unittest import SkipTest

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.database import (
    DirectoryBasedExampleDatabase,
    ExampleDatabase,
    InMemoryExampleDatabase,
    ReadOnlyDatabase,
)
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

import ordeal._native as _native
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.export.example_database import DatabaseOutcome, save_to_database
from ordeal._engine.replay.loading import load_for_replay, tape_of
from ordeal._hypothesis.buggify_choices import BUGGIFY_ARGUMENT
from ordeal.buggify import buggify
from ordeal.chaos import ChaosTest, RuleTimeoutError
from ordeal.explore import Explorer
from ordeal.faults import Fault
from ordeal.trace import Trace, TraceStep

from ...samples.machines import switches

type Machine = type[RuleBasedStateMachine]


def tape(driver: Driver, names: Iterable[str]) -> _native.Tape:
    """A run of rules without arguments; ``+fault`` and ``-fault`` switch one, ``=rule`` initializes."""
    kinds = {"+": "fault_toggle", "-": "fault_toggle", "=": "initialize"}
    steps = [TraceStep(kinds.get(name[0], "rule"), name.removeprefix("=")) for name in names]
    return tape_of(Trace(1, 42, "tests:Machine", steps=steps), driver)


def save(machine: Machine, *runs: str) -> DatabaseOutcome:
    """Save runs, each the names of its steps."""
    driver = make_driver(machine)
    return save_to_database(driver, [tape(driver, run.split()) for run in runs])


def configure(machine: Machine, folder: Path, **changes: Any) -> ExampleDatabase:
    """Give the machine a database, and tests that have one example only: more than that is luck."""
    database = DirectoryBasedExampleDatabase(folder)
    changed = {"database": database, "max_examples": 1, **changes}
    machine.TestCase.settings = settings(machine.TestCase.settings, **changed)
    return database


def run_plainly(machine: Machine) -> None:
    """What pytest without the Explorer does."""
    machine.TestCase("runTest").debug()


class Lock(ChaosTest):
    """Opens with one sequence only, and that while the power is off."""

    faults: ClassVar[list[Fault]] = switches("power", "light")
    dialled: str

    def __init__(self) -> None:
        super().__init__()
        self.dialled = ""

    @rule()
    def north(self) -> None:
        self.dialled += "n"

    @rule()
    def south(self) -> None:
        self.dialled += "s"

    @rule()
    def pull(self) -> None:
        is_on = {fault.name for fault in self.active_faults}
        if self.dialled == "nsnnssn" and is_on == {"power"}:
            raise PermissionError("open")
        if self.dialled == "sssnnns":
            raise LookupError("jammed")


OPENING = "north south north +power north south south north pull"
JAMMING = "south south south north north north south pull"


def test_the_test_case_finds_a_saved_failure_in_its_first_example(tmp_path: Path) -> None:
    class Saved(Lock): ...

    configure(Saved, tmp_path)
    run_plainly(Saved)
    assert save(Saved, OPENING) == DatabaseOutcome(1, ())
    with pytest.raises(PermissionError, match="open") as raised:
        run_plainly(Saved)
    program = "".join(raised.value.__notes__)
    assert program.count("state.") == len(OPENING.split()) + 1, program
    assert [fault.name for fault in Saved.faults if fault.active] == []


def test_a_repaired_failure_is_forgotten_and_the_test_passes(tmp_path: Path) -> None:
    class Saved(Lock):
        is_repaired = False

        @invariant()
        def repair(self) -> None:
            if self.is_repaired:
                self.dialled = ""

    configure(Saved, tmp_path, max_examples=5)
    save(Saved, OPENING)
    Saved.is_repaired = True
    run_plainly(Saved)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


# What can be said in its terms


class Early(RuleBasedStateMachine):
    """Fails where ``fails_in`` says."""

    fails_in: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__()
        self.fail_in("__init__")

    def fail_in(self, place: str) -> None:
        if self.fails_in == place:
            raise BlockingIOError(place)

    @initialize()
    def open(self) -> None:
        self.fail_in("open")

    @rule()
    def go(self) -> None:
        self.fail_in("go")

    @invariant(check_during_init=True)
    def holds(self) -> None:
        self.fail_in("holds")

    def teardown(self) -> None:
        self.fail_in("teardown")


@pytest.mark.parametrize("place", ["__init__", "open", "go", "holds", "teardown"])
def test_a_failure_reaches_the_database_from_wherever_it_is(place: str, tmp_path: Path) -> None:
    class Saved(Early):
        fails_in = place

    configure(Saved, tmp_path, stateful_step_count=2)
    assert save(Saved, "=open go") == DatabaseOutcome(1, ())
    with pytest.raises(BlockingIOError, match=place):
        run_plainly(Saved)


def test_what_was_found_with_bundles_arguments_and_draws_is_said_too(tmp_path: Path) -> None:
    class Books(ChaosTest):
        shelf: Bundle[list[str]] = Bundle("shelf")

        @initialize(target=shelf, titles=st.lists(st.text(max_size=3), min_size=2), size=st.floats(0, 1))
        def fill(self, titles: list[str], size: float) -> list[str]:
            return titles

        @rule(titles=shelf, data=st.data())
        def take(self, titles: list[str], data: st.DataObject) -> None:
            title = data.draw(st.sampled_from(titles))
            if len(title) > 1:
                raise IndexError("title too long")

    configure(Books, tmp_path)
    (failure,) = Explorer(Books).run(max_runs=200).failures
    assert failure.trace is not None
    loaded = load_for_replay(failure.trace, Books)
    assert save_to_database(loaded.driver, [loaded.tape]) == DatabaseOutcome(1, ())
    with pytest.raises(IndexError):
        run_plainly(Books)


class Slow(ChaosTest):
    """Has a rule that waits for ever."""

    rule_timeout = 0.05

    @rule()
    def wait(self) -> None:
        time.sleep(60)


def test_a_rule_that_takes_too_long_does_so_under_hypothesis(tmp_path: Path) -> None:
    class Saved(Slow): ...

    configure(Saved, tmp_path)
    assert save(Saved, "wait") == DatabaseOutcome(1, ())
    with pytest.raises(RuleTimeoutError):
        run_plainly(Saved)


# What cannot


def reason(outcome: DatabaseOutcome) -> str:
    """The one reason for which nothing was saved."""
    assert outcome.saved == 0
    (text,) = outcome.reasons
    assert text.startswith("Hypothesis alone does not find ")
    assert text.endswith(".")
    return text


def test_machines_that_a_function_makes_have_no_test_case() -> None:
    def make() -> Lock:
        return Lock()

    driver = make_driver(make)
    outcome = save_to_database(driver, [tape(driver, OPENING.split()), tape(driver, JAMMING.split())])
    assert "what fails in Lock: a function makes the machines" in reason(outcome)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"database": None}, "no example database"),
        ({"database": None, "derandomize": True}, "no example database"),
        ({"phases": [Phase.generate]}, "leave out the phase that reads the example database"),
        ({"database": InMemoryExampleDatabase()}, "in memory"),
        ({"database": ReadOnlyDatabase(InMemoryExampleDatabase())}, "its example database cannot be written"),
        ({"stateful_step_count": 8}, "it takes 9 steps, and the settings of Saved.TestCase end a run after 8"),
    ],
)
def test_the_settings_of_the_test_case_decide(changes: dict[str, Any], why: str, tmp_path: Path) -> None:
    class Saved(Lock): ...

    configure(Saved, tmp_path, **changes)
    assert why in reason(save(Saved, OPENING))
    assert not list(tmp_path.iterdir())


class Broken(ExampleDatabase):
    """A database of the user's own that is out of order."""

    def save(self, key: bytes, value: bytes) -> None:
        raise ConnectionError("no network")

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return []

    def delete(self, key: bytes, value: bytes) -> None:
        raise AssertionError("nothing is ever deleted")


def test_a_database_that_raises_is_no_error(tmp_path: Path) -> None:
    class Saved(Lock): ...

    configure(Saved, tmp_path, database=Broken())
    assert "its example database raised ConnectionError: no network" in reason(save(Saved, OPENING))


def test_a_failure_that_is_gone_is_not_saved(tmp_path: Path) -> None:
    class Saved(Lock): ...

    configure(Saved, tmp_path)
    assert "what fails in Saved: it does not fail each time" in reason(save(Saved, "north south"))


def test_a_failure_that_needs_buggify_cannot_be_said(tmp_path: Path) -> None:
    class Saved(RuleBasedStateMachine):
        @rule()
        def read(self) -> None:
            if buggify():
                raise EOFError("short read")

    configure(Saved, tmp_path)
    driver = make_driver(Saved)
    steps = [TraceStep("rule", "read"), TraceStep("rule", "read", choices={BUGGIFY_ARGUMENT: [True]})]
    run = tape_of(Trace(1, 42, "tests:Saved", steps=steps), driver)
    assert isinstance(driver.execute(_native.Replay(run)).error, EOFError)
    assert "it needs a buggify point" in reason(save_to_database(driver, [run]))


@pytest.mark.parametrize("why", [SkipTest("it asks to be skipped"), type("End", (BaseException,), {})("End ends")])
def test_a_run_that_skips_or_ends_hypothesis_is_not_saved(why: BaseException, tmp_path: Path) -> None:
    class Saved(RuleBasedStateMachine):
        @rule()
        def go(self) -> None:
            raise why

    configure(Saved, tmp_path)
    assert str(why) in reason(save(Saved, "go"))


def test_faults_that_no_rule_switches_cannot_be_said(tmp_path: Path) -> None:
    class Saved(Lock):
        def _nemesis(self) -> None: ...

    configure(Saved, tmp_path)
    assert "Saved has no rule that switches its faults" in reason(save(Saved, OPENING))


def test_a_coroutine_rule_of_a_plain_machine_cannot_be_said(tmp_path: Path) -> None:
    class Saved(RuleBasedStateMachine):
        @rule()  # type: ignore[arg-type]
        async def go(self) -> None:
            raise ConnectionError

    configure(Saved, tmp_path)
    assert "it has coroutine rules" in reason(save(Saved, "go"))


@pytest.mark.parametrize("limit", [1.0, 0.0])
def test_a_limit_that_only_the_explorer_has_cannot_be_said(limit: float, tmp_path: Path) -> None:
    class Saved(Slow):
        rule_timeout = limit

    configure(Saved, tmp_path)
    driver = make_driver(Saved, 0.05)
    outcome = save_to_database(driver, [tape(driver, ["wait"])])
    assert "rule wait took longer than 0.05 s, which the class itself allows" in reason(outcome)


def waiting(place: str) -> Callable[[Any], None]:
    """A method that waits for ever in machines that wait in ``place``."""

    def wait(self: Any) -> None:
        if self.waits_in == place:
            time.sleep(60)

    return wait


@pytest.mark.parametrize("place", ["holds", "teardown"])
def test_only_rules_have_a_limit_under_hypothesis(place: str, tmp_path: Path) -> None:
    class Saved(ChaosTest):
        rule_timeout = 0.05
        waits_in = place
        teardown = waiting("teardown")

        @rule()
        def go(self) -> None: ...

        @invariant()
        def holds(self) -> None:
            waiting("holds")(self)

    configure(Saved, tmp_path)
    assert f"{place} took too long" in reason(save(Saved, "go"))
