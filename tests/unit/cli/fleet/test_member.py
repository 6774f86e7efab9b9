"""A fleet of two on this machine, from the command line to the report."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ordeal._engine.parallel.fleet.plan import MemberTask

Run = Callable[..., tuple[int, str, str]]
MACHINE = """
from hypothesis.stateful import RuleBasedStateMachine, rule

class Counter(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.count = 0

    @rule()
    def add(self):
        self.count += 1

    @rule()
    def check(self):
        assert self.count < 3, "too many"
"""


def test_one_report_of_all_members(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counting.py").write_text(MACHINE)
    code, out, err = run("explore", "counting:Counter", "--on", "local:2", "--max-runs", "40", "--json")
    assert code == 1, err
    (result,) = json.loads(out)["results"]
    assert result["total_runs"] >= 40
    assert len(result["failures"]) == 1
    assert any("fleet of 2 members" in note for note in result["notes"])


@pytest.mark.parametrize(
    "way",
    ["signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])", "signal.signal(signal.SIGINT, signal.SIG_IGN)"],
    ids=["blocked", "ignored"],
)
def test_a_member_stops_though_signals_were_kept_from_who_started_it(way: str, tmp_path: Path) -> None:
    # Ray blocks SIGINT in all that it starts, and a shell has commands in the background ignore it.
    (tmp_path / "idle.py").write_text(MACHINE.replace('"too many"', "1").replace("< 3", ">= 0"))
    task = MemberTask(fleet="f", test_class="idle:Counter", seconds=600.0, path=(str(tmp_path),), init={"workers": 1})
    module = ["-m", "ordeal.cli.fleet.member"]
    code = f"import os, signal, sys; {way}; os.execv(sys.executable, [sys.executable, *{module}])"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"task": task.to_json(), "store": f"dir://{tmp_path}/store"}).encode())
        process.stdin.close()
        assert json.loads(process.stdout.readline())["state"] == "running"
        process.send_signal(signal.SIGINT)
        last = [json.loads(line) for line in process.stdout][-1]
        assert (last["state"], last["stopped"]) == ("ended", "interrupted")


def test_a_class_that_members_lack_is_an_error(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counting.py").write_text(MACHINE + "import os\nassert 'ORDEAL_FLEET_MEMBER' not in os.environ, 'not here'\n")
    code, _, err = run("explore", "counting:Counter", "--on", "local:1", "--max-runs", "1")
    assert code == 2
    assert "error: no member could explore" in err
    assert "hint: " in err
