"""A fleet from the command line to the report: its job, its members, and what they found, which comes home."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import yaml
from tests.unit.cli.conftest import Run

from ordeal._base.trace_file import TraceFailure, TraceStep
from ordeal._engine.parallel.fleet.plan import MemberTask
from ordeal.store import FailureReport, Outgoing, open_store
from ordeal.trace import Trace

CUPS = """\
    from hypothesis.stateful import RuleBasedStateMachine, rule

    class Cup(RuleBasedStateMachine):
        @rule()
        def drop(self):
            raise KeyError("gone")

        @rule()
        def hold(self):
            pass
    """
COUNTING = """
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


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)


def test_what_fails_here_becomes_a_seed(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    Path("pulled_cups.py").write_text(dedent(CUPS), encoding="utf-8")
    with open_store("dir://shared", "code") as store:
        for test_class, step in (("pulled_cups:Cup", "drop"), ("pulled_cups:Cup", "hold"), ("os:Cup", "drop")):
            trace = Trace(7, 42, test_class, steps=[TraceStep("rule", step)])
            trace.failure = TraceFailure("KeyError", "'gone'", 1, "b")
            store.sync(Outgoing(failures=(FailureReport(f"{test_class} {step}", trace.to_json(), 1, 1),)))
    monkeypatch.setenv("ORDEAL_STORE", "dir://shared")
    monkeypatch.setattr("ordeal.cli.fleet.pull.LIMIT_SECONDS", 300.0)
    code, _, err = run("seeds", "pull", "pulled_cups:Cup")
    assert code == 1
    assert "1 new seed in .ordeal/seeds/, 1 not kept, as it does not fail here." in err
    assert "another class was refused: os:Cup" in err
    assert len(list(Path(".ordeal/seeds/Cup").iterdir())) == 1
    assert "1 known" in run("seeds", "pull", "dir://shared", "pulled_cups:Cup")[2]
    assert [run("seeds", *words)[0] for words in (["push"], ["pull"], ["pull", "--prune-fixed"])] == [2, 2, 2]


def test_the_job_is_printed_and_nothing_is_started(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    lines = ["from ordeal import ChaosTest, rule", "class Dry(ChaosTest):", "    @rule()", "    def go(self): pass"]
    Path("dry_machine.py").write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setenv("ORDEAL_STORE", "redis://:sesame@host:6379/0")
    words = ("explore", "dry_machine:Dry", "--members", "3", "--dry-run")
    code, out, err = run(*words, "--on", "kubernetes", "--image", "registry/app:1")
    assert (code, "sesame" in out + err) == (0, False)
    assert yaml.safe_load(out)["spec"]["completions"] == 3
    code, out, err = run(*words, "--on", "slurm")
    assert (code, "sesame" in out + err, "#SBATCH --array=0-2" in out) == (0, False, True)
    assert run("explore", "dry_machine:Dry", "--dry-run")[0] == 2
    Path("server.pem").write_text("key")
    for on in ("ray://head", "dask://head"):
        code, out, err = run(*words, "--on", on)
        assert (code, "sesame" in out + err) == (0, False)
        assert "Sent: 1 file, 1 KiB packed\n  dry_machine.py\n" in out
        assert "  server.pem: by its name, it may hold secrets\n" in out
    assert not Path(".ordeal").exists()


@pytest.mark.forks
def test_one_report_of_all_members(run: Run) -> None:
    Path("counting.py").write_text(COUNTING)
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
    (tmp_path / "idle.py").write_text(COUNTING.replace('"too many"', "1").replace("< 3", ">= 0"))
    task = MemberTask(fleet="f", test_class="idle:Counter", seconds=600.0, path=(str(tmp_path),), init={"workers": 1})
    module = ["-m", "ordeal.cli.fleet.member"]
    code = f"import os, signal, sys; {way}; os.execv(sys.executable, [sys.executable, *{module}])"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"task": task.to_json(), "store": f"dir://{tmp_path}/store"}).encode())
        process.stdin.close()
        states = [json.loads(process.stdout.readline())["state"] for _ in range(2)]
        assert states == ["starting", "running"]
        process.send_signal(signal.SIGINT)
        last = [json.loads(line) for line in process.stdout][-1]
        assert (last["state"], last["stopped"]) == ("ended", "interrupted")


def test_a_class_that_members_lack_is_an_error(run: Run) -> None:
    Path("counting.py").write_text(COUNTING + "import os\nassert 'ORDEAL_FLEET_MEMBER' not in os.environ, 'not here'\n")
    code, _, err = run("explore", "counting:Counter", "--on", "local:1", "--max-runs", "1")
    assert code == 2
    assert "error: no member could explore" in err
    assert "hint: " in err
