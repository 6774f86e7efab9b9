"""No program ends the exploration: what it does to its process is a finding, or does no harm to the search."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._base.outside import NOTE
from ordeal.explore import Explorer
from ordeal.result import Failure

from ..projects import step_names
from . import machines
from .runs import (
    MAX_RUNS,
    MAX_RUNS_FAILING,
    MAX_SHRINK_TIME,
    MAX_SHRINK_TIME_HANGING,
    MAX_TIME,
    RULE_TIMEOUT,
    SLACK_SECONDS,
    UNLIMITED_S,
    Explored,
    explored,
)

pytestmark = [pytest.mark.slow, pytest.mark.supervised]

#: What an error says that the search has made itself.
MESSAGES = {
    "ProcessExitError": r"ended the process (with exit code \d|by replacing it with another program)",
    "ProcessKilledError": r"ended the process by SIG\w+",
    "RuleTimeoutError": rf"timed out after {RULE_TIMEOUT:g}s",
}

#: Machines that run tests beside this one make it slow.
BUSY_SECONDS = 5.0
#: What takes no time that it is given takes this long at most.
ENDING_SECONDS = 20.0
LEADING = ("walk", "walk", "strike")
TOO_LONG = "RuleTimeoutError"


@dataclass(frozen=True)
class Case:
    """A machine, and what is reported of it.

    Without an ``error`` the program is contained: nothing of it is a failure, and at most the result has a ``note``.
    ``steps`` are those of the shrunk trace, of which all but the last may be others where a run takes so long that
    shrinking comes to no end.
    """

    machine: type[RuleBasedStateMachine]
    error: str = ""
    steps: tuple[str, ...] = LEADING
    minimal: bool = True
    ordinary: bool = True
    note: str = ""

    @property
    def name(self) -> str:
        return self.machine.__name__

    @property
    def hangs(self) -> bool:
        """Whether the time ends the search: one that stops its parent stops its worker, where that had forked it."""
        return self.error == TOO_LONG or self.machine is machines.StopsParent

    @property
    def max_time(self) -> float:
        return MAX_TIME if self.hangs else UNLIMITED_S

    @property
    def max_shrink_time(self) -> float:
        if not self.minimal:
            return MAX_SHRINK_TIME_HANGING
        return MAX_SHRINK_TIME if self.hangs else UNLIMITED_S

    @property
    def explored(self) -> Explored:
        limit = RULE_TIMEOUT if self.hangs else UNLIMITED_S
        runs = MAX_RUNS if self.ordinary else MAX_RUNS_FAILING
        return explored(self.machine, limit, self.max_time, self.max_shrink_time, runs)


def hanging(machine: type[RuleBasedStateMachine]) -> Case:
    """A program that is waited for each time that it runs."""
    return Case(machine, TOO_LONG, minimal=False)


WITH_THE_GUARD = "A worker lost the process that guards it, and was replaced."
MUTE = "A worker was cut off by a rule that closed all descriptors, and was replaced."
#: What is said of a run that came before goes on like this.
COMMON = " Each time, its last run had"
MADE_AGAIN = "The working folder was deleted while code of yours ran. It was made again, and is empty."

CASES = [
    Case(machines.Exits, "ProcessExitError"),
    Case(machines.ExitsWell, "ProcessExitError"),
    Case(machines.RaisesSystemExit, "SystemExit"),
    Case(machines.RaisesKeyboardInterrupt, "KeyboardInterrupt"),
    Case(machines.Segfaults, "ProcessKilledError"),
    Case(machines.Aborts, "ProcessKilledError"),
    Case(machines.OverflowsStack, "ProcessKilledError"),
    Case(machines.KillsItself, "ProcessKilledError"),
    Case(machines.ReplacesItself, "ProcessExitError"),
    Case(machines.EatsMemory, "MemoryError"),
    hanging(machines.HangsInC),
    hanging(machines.Sleeps),
    hanging(machines.CatchesAll),
    hanging(machines.TakesSignals),
    hanging(machines.BlocksSignals),
    hanging(machines.HangsInThread),
    Case(machines.Forks),
    Case(machines.LeavesDaemonThread),
    Case(machines.LeavesThread),
    Case(machines.LeavesProcess),
    Case(machines.LeavesSession),
    Case(machines.LeavesDaemon),
    Case(machines.LeavesDaemonAndExits, "ProcessExitError"),
    Case(machines.ClosesStandardStreams),
    Case(machines.ClosesEverything, note=MUTE),
    Case(machines.ChangesFolder),
    Case(machines.DeletesFolder, note=MADE_AGAIN),
    Case(machines.Floods),
    Case(machines.StopsParent),
    Case(machines.KillsParent, note=WITH_THE_GUARD),
    Case(machines.ExitsInInit, "ProcessExitError", steps=(), ordinary=False),
    Case(machines.HangsInInit, TOO_LONG, steps=(), ordinary=False),
    Case(machines.ExitsInInvariant, "ProcessExitError"),
    Case(machines.ExitsInTeardown, "ProcessExitError"),
    Case(machines.ExitsInStrategy, "ProcessExitError", steps=("draw",)),
]


#: Those that do as another of them does, by another call.
LIKE_ANOTHER = {
    *(machines.ExitsWell, machines.Aborts, machines.KillsItself, machines.Sleeps, machines.BlocksSignals),
    *(machines.LeavesSession, machines.LeavesDaemon, machines.ExitsInTeardown),
    *(machines.LeavesDaemonAndExits, machines.ExitsInInvariant, machines.ExitsInStrategy),
}


def each(*cases: Case) -> pytest.MarkDecorator:
    """Runs a test for each of these, one after the other, as they share what was explored."""
    given = [
        pytest.param(case, id=case.name, marks=[pytest.mark.nightly] if case.machine in LIKE_ANOTHER else [])
        for case in cases
    ]
    return pytest.mark.parametrize("case", given, scope="module")


REPORTED = [case for case in CASES if case.error]
CONTAINED = [case for case in CASES if not case.error]


@pytest.fixture
def done(case: Case) -> Explored:
    return case.explored


def named(done: Explored) -> dict[str, Failure]:
    """The failures by the type of their error, of which there must be one each."""
    failures = {type(failure.error).__name__: failure for failure in done.result.failures}
    assert len(failures) == len(done.result.failures)
    return failures


class TestHostileProgram:
    @each(*CASES)
    def test_is_reported_or_contained(self, case: Case, done: Explored) -> None:
        expected = {case.error, "ValueError" if case.ordinary else ""} - {""}
        assert set(named(done)) == expected
        assert all(re.search(MESSAGES.get(name, ""), str(failure.error)) for name, failure in named(done).items())

    @each(*CONTAINED)
    def test_tells_of_what_is_no_failure(self, case: Case, done: Explored) -> None:
        told = {note.partition(COMMON)[0] for note in done.result.notes if not note.startswith(("Shrinking of", NOTE))}
        assert told == {case.note} - {""}

    @each(*CASES)
    def test_leaves_nothing_behind(self, case: Case, done: Explored) -> None:
        assert done.left == []

    @each(*REPORTED)
    def test_has_a_trace_with_the_right_last_step(self, case: Case, done: Explored) -> None:
        failure = named(done)[case.error]
        assert failure.trace is not None
        steps = tuple(step_names(failure.trace))
        assert steps == case.steps if case.minimal else steps[-1:] == case.steps[-1:]
        assert failure.trace.failure is not None
        assert failure.trace.failure.bucket == failure.bucket
        assert failure.shrunk or not case.minimal or len(case.steps) <= 1
        assert not failure.flaky
        assert type(failure.count) is int
        if case.steps == LEADING:
            assert failure.trace.steps[-1].params == {"number": str(machines.HARMFUL)}

    @each(*(case for case in CASES if case.ordinary))
    def test_does_not_keep_the_ordinary_bug_from_being_found(self, case: Case, done: Explored) -> None:
        failure = named(done)["ValueError"]
        assert failure.trace is not None
        assert step_names(failure.trace) == ["walk", "walk", "walk", "ordinary"]
        assert failure.shrunk
        assert not failure.flaky

    @each(*CASES)
    def test_has_its_seeds_and_its_state_written(self, case: Case, done: Explored) -> None:
        saved = {path for path in done.files if path.startswith("seeds/")}
        assert {str(failure.seed_path) for failure in done.result.failures} == saved
        assert len(saved) == len(done.result.failures)
        # A machine that cannot even be made has no state.
        assert "state" in done.files or done.result.total_steps == 0

    @pytest.mark.nightly  # a machine that is busy takes its time
    @each(*CASES)
    def test_takes_no_longer_than_was_asked_for(self, case: Case, done: Explored) -> None:
        print(f"{case.name}: {done.seconds:.2f} s")  # noqa: T201 - for who runs it with -s: the bound is a wide one
        asked = case.max_time + case.max_shrink_time if case.hangs else ENDING_SECONDS
        assert done.seconds <= asked + SLACK_SECONDS + BUSY_SECONDS

    @each(*(case for case in REPORTED if case.error != TOO_LONG))  # the time is over when those have ended
    def test_goes_on_with_a_fresh_worker(self, case: Case, done: Explored) -> None:
        (count,) = (failure.count for failure in done.result.failures if type(failure.error).__name__ == case.error)
        assert count > 2  # more than there are workers

    @each(*(case for case in CASES if case.machine is machines.Segfaults))
    def test_a_fatal_signal_tells_where_it_came(self, case: Case, done: Explored) -> None:
        failure = named(done)["ProcessKilledError"]
        assert "Segmentation fault" in failure.error_traceback
        assert "in harm" in failure.error_traceback


class Uprooted(RuleBasedStateMachine):
    """Leaves its process in a folder that is gone."""

    @rule()
    def uproot(self) -> None:
        with suppress(FileNotFoundError), tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
            os.chdir(folder)

    @rule(step=st.integers(0, 3))
    def walk(self, step: int) -> None:
        if step == 4:
            raise ValueError("a gap, for which the search looks in the source")


@pytest.mark.parametrize("isolate", [False, True])
def test_a_process_without_a_working_folder_goes_on_exploring(
    isolate: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = Explorer(Uprooted, target_modules=[__name__], isolate=isolate, seed=1).run(max_runs=600)
    assert (result.total_runs, result.stopped_reason, list(result.notes)) == (600, "max_runs", [])
