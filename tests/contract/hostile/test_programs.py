"""No program ends the exploration: what it does to its process is a finding, or does no harm to the search."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._base.outside import NOTE
from ordeal._engine.isolation.child import can_supervise
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

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_supervise(), reason="processes are watched on Linux only")]

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "workers.md"
HEAD = ("| A rule that | is | as |", "|---|---|---|")
BEGIN, END = "<!-- hostile programs: begin -->\n", "<!-- hostile programs: end -->\n"
#: Set to have the table of the guide written, where it is not as it should be.
UPDATE = "ORDEAL_UPDATE_DOCS"

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
    program: str
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


def hanging(machine: type[RuleBasedStateMachine], program: str) -> Case:
    """A program that is waited for each time that it runs."""
    return Case(machine, program, TOO_LONG, minimal=False)


WITH_THE_GUARD = "A worker was replaced: the process that guards it was killed."
MUTE = "A worker ended (exit code 1) while it ran no code of yours, and was replaced."
#: What is said of a run that came before goes on like this.
COMMON = " Each time, its last run had"
MADE_AGAIN = "The working folder was deleted while code of yours ran. It was made again, and is empty."

CASES = [
    Case(machines.Exits, "calls `os._exit(3)`", "ProcessExitError"),
    Case(machines.ExitsWell, "calls `os._exit(0)`", "ProcessExitError"),
    Case(machines.RaisesSystemExit, "calls `sys.exit(0)`, raises `SystemExit`", "SystemExit"),
    Case(machines.RaisesKeyboardInterrupt, "raises `KeyboardInterrupt`", "KeyboardInterrupt"),
    Case(machines.Segfaults, "reads memory that is not there", "ProcessKilledError"),
    Case(machines.Aborts, "calls `os.abort()`", "ProcessKilledError"),
    Case(machines.OverflowsStack, "overflows the stack of C", "ProcessKilledError"),
    Case(machines.KillsItself, "sends itself SIGKILL", "ProcessKilledError"),
    Case(machines.EatsMemory, "takes more memory than `max_memory`", "MemoryError"),
    hanging(machines.HangsInC, "loops in C, where no signal is looked at"),
    hanging(machines.Sleeps, "sleeps for ten minutes"),
    hanging(machines.CatchesAll, "sleeps for ever, and catches every `Exception`"),
    hanging(machines.TakesSignals, "ignores SIGALRM, SIGINT and SIGTERM, and sleeps"),
    hanging(machines.BlocksSignals, "blocks all signals, and sleeps"),
    hanging(machines.HangsInThread, "waits for a thread that does not end"),
    Case(machines.Forks, "forks, and both processes go on with the rule"),
    Case(machines.LeavesDaemonThread, "starts a daemon thread that does not end"),
    Case(machines.LeavesThread, "starts a thread that does not end"),
    Case(machines.LeavesProcess, "starts a program that does not end"),
    Case(machines.LeavesSession, "starts a program in a session of its own"),
    Case(machines.LeavesDaemon, "forks a daemon: twice, with a session of its own, all files closed"),
    Case(machines.LeavesDaemonAndExits, "forks a daemon and calls `os._exit(5)`", "ProcessExitError"),
    Case(machines.ClosesStandardStreams, "closes the descriptors 0, 1 and 2"),
    Case(machines.ClosesEverything, "closes all descriptors", note=MUTE),
    Case(machines.ChangesFolder, "changes the working folder"),
    Case(machines.DeletesFolder, "deletes the working folder", note=MADE_AGAIN),
    Case(machines.Floods, "floods stdout and stderr"),
    Case(machines.StopsParent, "stops its parent process"),
    Case(machines.KillsParent, "kills its parent process", note=WITH_THE_GUARD),
    Case(machines.ExitsInInit, "calls `os._exit(3)` in `__init__`", "ProcessExitError", steps=(), ordinary=False),
    Case(machines.HangsInInit, "loops in C in `__init__`", TOO_LONG, steps=(), ordinary=False),
    Case(machines.ExitsInInvariant, "calls `os._exit(3)` in an invariant", "ProcessExitError"),
    Case(machines.ExitsInTeardown, "calls `os._exit(3)` in `teardown`", "ProcessExitError"),
    Case(machines.ExitsInStrategy, "calls `os._exit(3)` in a strategy's `map`", "ProcessExitError", steps=("draw",)),
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


def rendered_row(case: Case, done: Explored) -> str:
    if not case.error:
        return f"| {case.program} | contained | {f'a note: {case.note}' if case.note else 'nothing'} |"
    message = str(named(done)[case.error].error).split(". ")[0]
    told = f"`{case.error}`: {message}" if message else f"`{case.error}`"
    return f"| {case.program} | a finding | {told} |"


class TestHostileProgram:
    @each(*CASES)
    def test_is_reported_or_contained(self, case: Case, done: Explored) -> None:
        expected = {case.error, "ValueError" if case.ordinary else ""} - {""}
        assert set(named(done)) == expected

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

    @each(*CASES)
    def test_has_its_row_in_the_guide(self, case: Case, done: Explored) -> None:
        _, _, rest = GUIDE.read_text("utf-8").partition(BEGIN)
        table, _, _ = rest.partition(END)
        assert rendered_row(case, done) in table.splitlines() or os.environ.get(UPDATE)

    @each(*(case for case in CASES if case.machine is machines.HangsInC))
    def test_a_rule_timeout_names_the_limit(self, case: Case, done: Explored) -> None:
        assert f"timed out after {RULE_TIMEOUT:g}s" in str(named(done)[TOO_LONG].error)

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


def rendered_table() -> str:
    return "\n".join([*HEAD, *(rendered_row(case, case.explored) for case in CASES), ""])


def test_the_guide_has_a_row_for_each_in_this_order() -> None:
    before, _, rest = GUIDE.read_text("utf-8").partition(BEGIN)
    table, _, after = rest.partition(END)
    if os.environ.get(UPDATE):
        table = f"\n{rendered_table()}\n"
        GUIDE.write_text(f"{before}{BEGIN}{table}{END}{after}", "utf-8")
    empty, *head_and_rows, last = table.split("\n")[:-1]
    assert (empty, last) == ("", "")
    assert tuple(head_and_rows[:2]) == HEAD
    # What else is in a row, the test of its machine has compared.
    assert [row.split(" | ")[0] for row in head_and_rows[2:]] == [f"| {case.program}" for case in CASES]
