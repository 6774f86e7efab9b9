"""The agent of a member: it refuses another version, and stops when its launcher has gone."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ordeal._base.interpreter import LineReader
from ordeal._engine.parallel.fleet import agent
from ordeal._engine.parallel.fleet.agent import Agent, number_from
from ordeal._engine.parallel.fleet.board import Board, text_of
from ordeal._engine.parallel.fleet.plan import MemberTask

TASK = MemberTask(fleet="f", test_class="no_such_module:A", seconds=1.0, path=())


def begun(folder: Path) -> Board:
    """The board of a fleet whose launcher has begun."""
    board = Board(f"dir://{folder}", "f")
    board.begin()
    return board


@pytest.mark.parametrize(("change", "said"), [({"python": "3.1"}, "Python 3.1"), ({"ordeal": "0.0"}, "ordeal")])
def test_another_version_is_refused(change: dict[str, str], said: str, tmp_path: Path) -> None:
    board = begun(tmp_path)
    assert Agent(replace(TASK, **change), 4, f"dir://{tmp_path}").run() == 2  # type: ignore[arg-type]
    record = board.get("member-000004")
    assert text_of(record, "state") == "failed"
    assert said in text_of(record, "error")
    assert text_of(record, "hint")


@pytest.mark.parametrize(("state", "restarts"), [("running", 1), ("waiting", 0)])
def test_a_member_that_is_started_again_goes_on_where_it_was(state: str, restarts: int, tmp_path: Path) -> None:
    board = begun(tmp_path)
    board.put("member-000001", {"state": state, "runs": 5, "past_runs": 2, "steps": 9, "since": 1.0})
    assert Agent(TASK, 1, f"dir://{tmp_path}").run() == 0
    found = board.get("member-000001")
    assert {name: found[name] for name in ("restarts", "past_runs", "past_steps", "since")} == {
        "restarts": restarts,
        "past_runs": 7,
        "past_steps": 9,
        "since": 1.0,
    }
    # The time of the task is over since 1970.
    assert (found["state"], found["stopped"]) == ("ended", "time")


@pytest.mark.parametrize(
    "former",
    [
        {"state": "ended", "stopped": "time", "runs": 5, "since": 1.0},
        {"state": "failed", "runs": 5, "since": 1.0},
        {"state": "running", "job": "7", "runs": 5, "since": 1.0},
    ],
)
def test_the_same_job_submitted_once_more_begins_anew(former: dict[str, object], tmp_path: Path) -> None:
    board = begun(tmp_path)
    board.put("member-000001", former)
    Agent(TASK, 1, f"dir://{tmp_path}").run()
    found = board.get("member-000001")
    assert found["since"] > 1.0
    assert "past_runs" not in found


def test_a_member_has_the_time_that_its_launcher_has_left(tmp_path: Path) -> None:
    board = begun(tmp_path)
    for left, state in ((0.0, "ended"), (5.0, "failed")):
        board.put("launcher", {"state": "running", "left": left})
        Agent(TASK, 1, f"dir://{tmp_path}", attempt=1).run()
        # With time left, it goes on to find that the module does not exist.
        assert board.get("member-000001")["state"] == state
        board.remove("member-000001")


def test_a_member_of_a_scheduler_waits_for_a_store_that_is_away(tmp_path: Path) -> None:
    begun(tmp_path / "store")
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    url = f"dir://{tmp_path}/store"
    # A launcher starts it again.
    assert Agent(TASK, 1, url, attempt=1).run() == 2
    timer = threading.Timer(0.5, (tmp_path / "elsewhere").rename, [tmp_path / "store"])
    timer.start()
    assert Agent(replace(TASK, seconds=60.0), 1, url).run() == 2
    timer.join()
    assert Board(url, "f").get("member-000001")["state"] == "failed"
    assert not (tmp_path / "elsewhere").exists()


def test_a_job_that_is_submitted_after_a_stopped_one_is_not_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = Board(f"dir://{tmp_path}", "f")
    for job, state in (("7", "left"), ("7", "stopping"), ("8", "left")):
        monkeypatch.setenv("SLURM_ARRAY_JOB_ID", job)
        Agent(replace(TASK, alone=True), 0, f"dir://{tmp_path}").run()
        record = board.get("launcher")
        assert (record["job"], record["state"]) == (job, state)
        board.put("launcher", {**record, "state": "stopping"})


def test_the_lease_ends_with_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    lease = agent._Lease()
    assert not lease.has_ended({"state": "running", "at": 1.0})
    assert lease.has_ended({"state": "stopping", "at": 2.0})
    assert not lease.has_ended({})
    monkeypatch.setattr(agent, "LEASE_SECONDS", -1.0)
    assert lease.has_ended({"state": "running", "at": 1.0})


def test_time_without_the_store_is_not_time_without_the_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    lease = agent._Lease()
    assert not lease.has_ended({"state": "running", "at": 1.0})
    for _ in range(40):
        now += 1.0
        lease.pause()
    # The launcher has not written since the store is back.
    assert not lease.has_ended({"state": "running", "at": 1.0})
    now += 31.0
    assert lease.has_ended({"state": "running", "at": 1.0})


def test_the_number_is_what_the_scheduler_says() -> None:
    assert number_from({"SLURM_ARRAY_TASK_ID": "7"}) == 7
    assert number_from({"JOB_COMPLETION_INDEX": "x"}) == 0


def test_a_member_that_is_told_twice_waits_for_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It takes as long as it likes to end, and an agent that is told once waits.
    stubborn = (
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nprint(1, flush=True)\ntime.sleep(600)\n"
    )
    (tmp_path / "stubborn.py").write_text(stubborn)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(agent, "EXPLORER_MODULE", "stubborn")
    begun(tmp_path / "store")
    member = Agent(TASK, 0, f"dir://{tmp_path}/store")

    class Lines(LineReader):
        def read(self, seconds: float = 0.0) -> list[bytes]:
            lines = super().read(seconds)
            for _ in range(2 * len(lines)):
                member.stop()
            return lines

    monkeypatch.setattr(agent, "LineReader", Lines)
    assert member.run() == 3


def test_an_agent_needs_nothing_of_what_explores() -> None:
    # It stays beside the process that explores all the time, once for each member.
    code = "import sys, ordeal._engine.parallel.fleet.agent; print('hypothesis' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "False\n"


@pytest.mark.parametrize("given", ["ORDEAL_STORE", "ORDEAL_FLEET_TASK"])
def test_what_is_missing_is_named(
    given: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ORDEAL_STORE", raising=False)
    monkeypatch.delenv("ORDEAL_FLEET_TASK", raising=False)
    monkeypatch.setenv(given, "x")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert agent.main() == 2
    assert "is not set" in capsys.readouterr().err
