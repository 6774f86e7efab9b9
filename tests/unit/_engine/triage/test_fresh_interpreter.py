"""What fresh processes show of failures, and what becomes of those processes."""

from __future__ import annotations

import dataclasses
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

import ordeal
from ordeal._base.limits import TRIES_MAX
from ordeal._base.trace_file import Trace
from ordeal._engine.isolation.child import can_supervise
from ordeal._engine.replay.rerun import ReplayStatus
from ordeal._engine.triage import fresh_interpreter
from ordeal._engine.triage.fresh_interpreter import HIDDEN, REASONS, FreshInterpreter, FreshReplay
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult

from ...samples.monitored import MakeModule

pytestmark = pytest.mark.slow

# Fails here; does what a test says in a fresh process.
MACHINE = """
import os, subprocess, sys, time
from pathlib import Path
from hypothesis.stateful import RuleBasedStateMachine, rule

SEEN = []

class Machine(RuleBasedStateMachine):
    @rule()
    def go(self):
        if "FRESH" in os.environ:
            {body}
        raise ValueError("bad")
"""
REPRODUCED = FreshReplay(ReplayStatus.REPRODUCED)
TOO_LONG = re.compile(r"it took longer than [26] s")
SILENT = FreshReplay(None, "it ended without an answer")


class MakeTrace(Protocol):
    def __call__(self, body: str, name: str = ...) -> Trace: ...


@pytest.fixture
def failing(make_module: MakeModule, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> MakeTrace:
    """Make a trace that fails; ``body`` is what its rule does first in a fresh process."""
    monkeypatch.setenv("PYTHONPATH", str(Path(ordeal.__file__).absolute().parents[1]))
    monkeypatch.setenv("NOTES", str(tmp_path / "notes"))

    def make(body: str, name: str = "machines") -> Trace:
        source = MACHINE.format(body=textwrap.indent(textwrap.dedent(body), " " * 12).strip())
        (failure,) = Explorer(make_module(source, name).Machine).run(max_runs=1, steps_per_run=1).failures
        assert failure.trace is not None
        return failure.trace

    return make


def process(seconds: float = 20.0, *, rule_timeout: float = 0.0, targets: tuple[str, ...] = ()) -> FreshInterpreter:
    os.environ["FRESH"] = "1"
    try:
        return FreshInterpreter(target_modules=targets, rule_timeout=rule_timeout, seconds=seconds)
    finally:
        del os.environ["FRESH"]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> FreshInterpreter:
    """Waits for two seconds, whatever the import takes: a process beside many others starts slowly.

    Without forks each replay starts an interpreter, which counts.
    """
    monkeypatch.setattr(fresh_interpreter, "IMPORT_SECONDS_MAX", 0.0 if can_supervise() else 4.0)
    return process(2.0)


def is_gone(pid: int) -> bool:
    """Whether a process ends soon, or is dead and nobody has asked for its end yet."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False


def wait_for(path: Path) -> str:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        if path.exists() and path.read_text():
            return path.read_text()
        time.sleep(0.02)
    raise AssertionError(f"{path.name} is not written")


HANG = """
Path(os.environ["NOTES"]).write_text(str(os.getpid()))
time.sleep(600)
"""


class TestReplay:
    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ("pass", ReplayStatus.REPRODUCED),
            ("return", ReplayStatus.NOT_REPRODUCED),
            ("raise KeyError(1)", ReplayStatus.FAILS_DIFFERENTLY),
        ],
    )
    def test_says_how_the_failure_compares(self, failing: MakeTrace, body: str, status: ReplayStatus) -> None:
        assert process().replay([failing(body)]) == [FreshReplay(status)]

    def test_half_a_pair_of_surrogates_in_a_message_is_no_obstacle(self, failing: MakeTrace) -> None:
        trace = failing("pass")
        assert trace.failure is not None
        trace = dataclasses.replace(trace, failure=dataclasses.replace(trace.failure, error_message="caf\udce9.txt"))
        assert process().replay([trace]) == [REPRODUCED]

    def test_what_the_code_prints_and_reads_is_kept_apart(
        self, failing: MakeTrace, capfd: pytest.CaptureFixture[str]
    ) -> None:
        body = """
            print('{"status": "not_reproduced", "number": 0}', flush=True)
            os.write(1, b'{"number": 1}')
            print("talk", file=sys.stderr)
            assert sys.stdin.read() == ""
        """
        trace = failing(body)
        capfd.readouterr()
        assert process().replay([trace] * 2) == [REPRODUCED] * 2
        assert capfd.readouterr() == ("", "")

    @pytest.mark.usefixtures("cold_interpreters")
    def test_the_world_is_as_it_was_before_the_runs(
        self, failing: MakeTrace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        body = f"""
            assert "LEFT" not in os.environ
            assert "gone" not in sys.path
            assert sys.argv == {sys.argv!r}
            assert os.getcwd() == {str(Path.cwd())!r}
        """
        trace = failing(body)
        before = process()
        monkeypatch.setenv("LEFT", "1")
        monkeypatch.syspath_prepend("gone")
        monkeypatch.setattr(sys, "argv", ["other"])
        monkeypatch.chdir(tmp_path)
        assert before.replay([trace]) == [REPRODUCED]

    @pytest.mark.usefixtures("cold_interpreters")
    def test_the_modules_of_a_project_do_not_stand_in_for_those_of_python(
        self, failing: MakeTrace, make_module: MakeModule, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        trace = failing("pass")
        make_module("raise RuntimeError", "subprocess", import_it=False)
        monkeypatch.chdir(tmp_path)
        assert process().replay([trace]) == [REPRODUCED]

    def test_the_limit_of_rules_is_that_of_the_exploration(self, make_module: MakeModule) -> None:
        source = MACHINE.format(body="pass").replace('raise ValueError("bad")', "time.sleep(0.3)")
        explorer = Explorer(make_module(source, "machines").Machine, rule_timeout=0.1)
        (failure,) = explorer.run(max_runs=1, steps_per_run=1).failures
        assert failure.trace is not None
        assert process(rule_timeout=0.1).replay([failure.trace]) == [REPRODUCED]
        assert process(rule_timeout=9.0).replay([failure.trace]) == [FreshReplay(ReplayStatus.NOT_REPRODUCED)]

    def test_a_class_that_cannot_be_imported_there_gives_the_reason(self, failing: MakeTrace, tmp_path: Path) -> None:
        trace = failing("pass")
        (tmp_path / "machines.py").write_text("1 / 0")
        (replay,) = process().replay([trace])
        assert replay.status is None
        assert replay.reason.startswith("importing `machines` raised ZeroDivisionError")

    def test_a_process_that_cannot_start_gives_the_reason(
        self, failing: MakeTrace, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        trace = failing("pass")
        monkeypatch.setattr(sys, "executable", "no/such/python")
        (replay,) = process().replay([trace])
        assert replay.reason.startswith("it cannot be started (")

    def test_without_fork_each_trace_has_a_process_of_its_own(
        self, failing: MakeTrace, make_module: MakeModule, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        trace = failing("SEEN.append(1)\nif len(SEEN) > 1: return")
        other = failing("os._exit(0)", "leaving")
        # Found by the interpreter itself; what it prints is not an answer.
        make_module("import os\nvars(os).pop('pidfd_open', None)\nprint('{}\\n[')", "sitecustomize", import_it=False)
        monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ['PYTHONPATH']}")
        monkeypatch.delattr(os, "pidfd_open", raising=False)
        # Python 3.15 has asked once, when it imported subprocess.
        monkeypatch.setattr(subprocess, "_CAN_USE_PIDFD_OPEN", False, raising=False)
        assert process().replay([trace, other, trace]) == [REPRODUCED, SILENT, REPRODUCED]


class TestEnd:
    @pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)"])
    def test_a_replay_that_dies_has_no_answer_and_the_next_has(self, failing: MakeTrace, end: str) -> None:
        traces = [failing(end, "dying"), failing("pass")]
        assert process().replay(traces) == [SILENT, REPRODUCED]

    def test_a_replay_that_takes_too_long_is_ended_and_the_next_has_its_turn(
        self, failing: MakeTrace, hasty: FreshInterpreter, tmp_path: Path
    ) -> None:
        late, reproduced = hasty.replay([failing(HANG, "hanging"), failing("pass")])
        assert TOO_LONG.fullmatch(late.reason)
        assert reproduced == REPRODUCED
        assert is_gone(int((tmp_path / "notes").read_text()))

    def test_after_some_that_hang_no_more_are_tried(self, failing: MakeTrace, hasty: FreshInterpreter) -> None:
        replays = hasty.replay([failing(HANG)] * (TRIES_MAX + 2))
        late, *given_up = (replay.reason for replay in replays[-3:])
        assert TOO_LONG.fullmatch(late)
        assert given_up == ["others before it took too long"] * 2

    def test_processes_of_the_code_under_test_end_as_well(self, failing: MakeTrace, tmp_path: Path) -> None:
        body = """
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            Path(os.environ["NOTES"]).write_text(str(child.pid))
        """
        assert process().replay([failing(body)]) == [REPRODUCED]
        assert is_gone(int((tmp_path / "notes").read_text()))

    def test_ctrl_c_passes_and_leaves_no_process(self, failing: MakeTrace, tmp_path: Path) -> None:
        trace = failing(HANG)
        started = process()

        def interrupt() -> None:
            wait_for(tmp_path / "notes")
            os.kill(os.getpid(), signal.SIGINT)

        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            started.replay([trace])
        thread.join()
        assert is_gone(int((tmp_path / "notes").read_text()))

    def test_the_end_of_the_process_that_asks_is_the_end_of_all(self, failing: MakeTrace, tmp_path: Path) -> None:
        failing(HANG).save(tmp_path / "trace.json")
        script = (
            "from ordeal._engine.triage.fresh_interpreter import FreshInterpreter\n"
            "from ordeal._base.trace_file import Trace\n"
            "process = FreshInterpreter(target_modules=[], rule_timeout=0, seconds=60)\n"
            "process.replay([Trace.load('trace.json')])\n"
        )
        path = f"{os.environ['PYTHONPATH']}{os.pathsep}{tmp_path}"
        environment = os.environ | {"FRESH": "1", "PYTHONPATH": path}
        with subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, env=environment) as asking:
            replaying = int(wait_for(tmp_path / "notes"))
            asking.kill()
        assert is_gone(replaying)


class TestExplorer:
    LEAK = """
        from hypothesis.stateful import RuleBasedStateMachine, rule

        CALLS = []

        class Machine(RuleBasedStateMachine):
            @rule()
            def go(self):
                CALLS.append(1)
                if {condition}:
                    raise ValueError("bad")
    """

    @staticmethod
    def explore(machine: type[RuleBasedStateMachine], *, shrink: bool = True) -> ExplorationResult:
        return Explorer(machine).run(max_runs=20, steps_per_run=5, shrink=shrink, confirm_fresh=True)

    @pytest.mark.parametrize("shrink", [True, False])
    def test_what_is_left_over_from_runs_is_flaky(self, make_module: MakeModule, shrink: bool) -> None:
        machine = make_module(self.LEAK.format(condition="len(CALLS) > 9"), "machines").Machine
        (failure,) = self.explore(machine, shrink=shrink).failures
        assert failure.flaky
        assert failure.flaky_reason == REASONS[ReplayStatus.NOT_REPRODUCED]

    def test_what_only_a_fresh_process_shows_is_told_of(self, make_module: MakeModule) -> None:
        machine = make_module(self.LEAK.format(condition="len(CALLS) == 1"), "machines").Machine
        (failure,) = self.explore(machine).failures
        assert failure.flaky
        assert failure.flaky_reason == f"it failed the same way in 0 of 10 replays; {HIDDEN}"

    def test_a_class_that_nothing_else_can_import_is_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class Local(RuleBasedStateMachine):
            @rule()
            def go(self) -> None:
                raise ValueError

        monkeypatch.delattr(fresh_interpreter, "start")
        result = self.explore(Local)
        assert ([failure.flaky for failure in result.failures], result.notes) == ([False], ())

    def test_ctrl_c_leaves_the_failures_as_they_were(
        self, make_module: MakeModule, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupt(*_: object, **_options: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(FreshInterpreter, "replay", interrupt)
        result = self.explore(make_module(self.LEAK.format(condition="True"), "machines").Machine)
        assert (len(result.failures), result.stopped_reason) == (1, "interrupted")
        assert result.notes == ("No failure was confirmed in a fresh process: that was interrupted.",)
