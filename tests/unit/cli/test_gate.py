"""``ordeal gate``: each reason that stops a merge, and a project that nothing stops."""

from __future__ import annotations

import json
import time
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from ordeal.explore import Explorer

from .conftest import Run, commit_all, git

MACHINES = """
    from ordeal import ChaosTest, rule
    import gated_program

    class Account(ChaosTest):
        def __init__(self):
            super().__init__()
            self.balance = 0

        @rule()
        def pay(self):
            self.balance = gated_program.pay(self.balance)
            assert self.balance < 3
"""
SETTINGS = '[[tests]]\nclass = "gated_machines:Account"\n[[tests]]\nclass = "gated_free:Other"\n'
RIGHT = "def pay(balance):\n    return min(balance + 1, 2)\n"
WRONG = "def pay(balance):\n    return balance + 1\n"
FREE = """
    from ordeal import ChaosTest, precondition, rule

    class Other(ChaosTest):
        @rule()
        def nothing(self):
            pass
"""
NEVER = """
    @precondition(lambda self: False)
    @rule()
    def never(self):
        pass
"""

ONCE = """
    calls = 0

    @rule()
    def call(self):
        Other.calls += 1
        assert Other.calls != 5_000
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with one commit: two machines, of which one imports the program."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("gated_machines.py").write_text(dedent(MACHINES))
    Path("gated_free.py").write_text(dedent(FREE))
    Path("gated_program.py").write_text(RIGHT)
    Path("ordeal.toml").write_text(SETTINGS)
    Path(".gitignore").write_text(".ordeal\n__pycache__\n")
    commit_all("first")


def status_of(run: Run, *arguments: str) -> tuple[int, dict[str, tuple[str, str]]]:
    code, out, _ = run("gate", "--json", "--max-time", "12", *arguments)
    return code, {each["name"]: (each["status"], each["message"]) for each in json.loads(out)["checks"]}


@pytest.mark.slow
def test_only_changed_programs_are_judged_and_a_finding_stops_the_merge(run: Run) -> None:
    code, checks = status_of(run, "--changed", "HEAD")
    assert code == 0
    assert checks["seeds"] == ("passed", "no failure is saved")
    assert checks["explore"] == ("skipped", "no class has changed since HEAD")
    Path("gated_program.py").write_text(WRONG)
    code, checks = status_of(run, "--changed", "HEAD")
    assert code == 1
    assert checks["explore"][0] == "failed"
    assert checks["explore"][1].startswith("1 finding, ")
    assert checks["explore"][1].endswith(" of 1 class, 1 of 2 classes unchanged")
    assert (checks["reach"][0], checks["determinism"][0]) == ("passed", "passed")
    # What it has found is saved as ever, and stops the next merge without a search.
    code, checks = status_of(run, "--changed", "HEAD")
    assert (code, checks["seeds"]) == (1, ("failed", "0 of 1 saved failure pass"))
    Path("gated_program.py").write_text(RIGHT)
    code, checks = status_of(run, "--changed", "HEAD")
    assert (code, checks["seeds"]) == (0, ("passed", "1 of 1 saved failure pass"))


@pytest.mark.slow
def test_a_failure_that_does_not_come_back_stops_the_merge_unless_it_is_in_the_budget(run: Run) -> None:
    with Path("gated_free.py").open("a") as file:
        file.write(ONCE)
    code, checks = status_of(run, "--changed", "HEAD")
    assert code == 1
    assert [name for name, (status, _) in checks.items() if status == "failed"] == ["explore"]
    assert checks["explore"][1].startswith("0 findings, ")
    code, out, _ = run("gate", "--changed", "HEAD", "--max-time", "12", "--flakes", "2")
    assert code == 0, out
    assert "did not fail each time; `--flakes " in out


@pytest.mark.slow
def test_a_rule_that_never_ran_stops_the_merge(run: Run) -> None:
    with Path("gated_free.py").open("a") as file:
        file.write(NEVER)
    code, out, _ = run("gate", "--changed", "HEAD", "--max-time", "8")
    assert code == 1
    assert "reach       FAILED   1 class examined, 1 of 2 classes unchanged\n" in out
    assert "rule `never` never ran in " in out
    assert out.splitlines()[-1].startswith("stops the merge: reach, ")


@pytest.mark.slow
def test_mutants_of_changed_lines_that_no_test_notices_stop_the_merge(run: Run) -> None:
    Path("test_program.py").write_text("from gated_program import pay\n\ndef test_it():\n    pay(0)\n")
    Path("ordeal.toml").write_text(f'{SETTINGS}[mutations]\ntargets = ["gated_program.py"]\n')
    commit_all("second")
    code, checks = status_of(run, "--changed", "HEAD", "--mutate")
    assert (code, checks["mutants"]) == (0, ("passed", "no mutants in the lines that changed"))
    Path("gated_program.py").write_text(RIGHT.replace("+ 1", "+ 2"))
    code, checks = status_of(run, "--changed", "HEAD", "--mutate")
    assert code == 1
    assert checks["mutants"][0] == "failed"
    assert "of changed lines noticed" in checks["mutants"][1]


@pytest.mark.slow
def test_figures_that_exceed_the_kept_ones_stop_the_merge(run: Run) -> None:
    checks = status_of(run)[1]
    assert checks["counts"] == ("skipped", "no ordeal-baseline.json to compare with")
    Path("ordeal-baseline.json").write_text(run("profile", "--json", "gated_machines:Account")[1])
    assert status_of(run, "--changed", "HEAD")[1]["counts"][0] == "skipped"
    Path("gated_program.py").write_text(f"{RIGHT.replace('balance + 1', 'balance + 1 + 0')}")
    code, out, _ = run("gate", "--changed", "HEAD", "--max-time", "12")
    assert code == 1
    assert "counts      FAILED   1 class counted, 1 of 2 classes unchanged\n" in out
    assert "gated_machines:Account: `pay` takes " in out
    assert status_of(run, "--changed", "HEAD", "--budget", "1000")[1]["counts"][0] == "passed"
    Path("gated_machines.py").write_text(dedent(MACHINES).replace("def pay(self", "def paid(self"))
    details = json.loads(run("gate", "--json", "--max-time", "12", "--changed", "HEAD")[1])["checks"]
    counts = next(each for each in details if each["name"] == "counts")
    assert counts["details"] == ["gated_machines:Account: not compared, as its steps have changed"]


@pytest.mark.slow
def test_traces_alone_are_replayed_three_times(run: Run, tmp_path: Path) -> None:
    Path("gated_program.py").write_text(WRONG)
    namespace: dict[str, type] = {}
    exec("from gated_machines import Account", namespace)
    (failure,) = Explorer(namespace["Account"]).run(max_runs=50).failures
    assert failure.trace is not None
    failure.trace.save(tmp_path / "failure.json")
    code, out, _ = run("gate", "failure.json")
    assert code == 1
    assert out.startswith("trace       FAILED   failure.json: the same outcome each time\n")
    assert "REGRESSION  replay — AssertionError" in out
    assert "(3 of 3)" in out
    Path("gated_program.py").write_text(RIGHT)
    assert run("gate", "failure.json")[0] == 0


def test_replays_that_fail_in_two_ways_are_not_the_same(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = {"status": "reproduced", "error_type": "OSError", "recorded_error": "OSError: a", "reason": None}
    answers = iter([{**failing, "error_message": text} for text in ("got 5", "got None", "got 5")])
    monkeypatch.setattr("ordeal.cli.gate._ordeal", lambda *_: next(answers))
    monkeypatch.setattr("ordeal.cli.gate.Trace.load", lambda _: None)
    code, out, _ = run("gate", "failure.json")
    assert code == 1
    assert out.startswith("trace       FAILED   failure.json: 1 replay differ")
    assert "OSError: got None (1 of 3)" in out


def test_classes_for_which_no_time_was_left_are_named_and_stop_a_strict_merge(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(order: list[str], _seconds: float) -> dict[str, Any]:
        if order[0] == "doctor":
            time.sleep(0.6)  # more than half of what is left
        result: dict[str, Any] = {"failures": [], "inconclusive": None, "unconfirmed": 0, "total_runs": 5}
        return {"seeds": [], "checks": [], "results": [result, result]}

    monkeypatch.setattr("ordeal.cli.gate._ordeal", answer)
    code, out, _ = run("gate", "--max-time", "0.1")
    assert code == 0
    assert "reach       partial  1 class examined\n" in out
    assert "left out, as no time was left: gated_free:Other\n" in out
    assert out.splitlines()[-1].startswith(
        "nothing stops the merge, but not all classes were checked: reach, determinism, "
    )
    code, out, _ = run("gate", "--max-time", "0.1", "--strict")
    assert code == 1
    assert out.splitlines()[-1].startswith("stops the merge: reach, determinism, ")


def test_an_edit_in_a_submodule_is_a_change(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = Path.cwd()
    vendor = tmp_path_factory.mktemp("vendor")
    monkeypatch.chdir(vendor)
    Path("inner.py").write_text(RIGHT)
    commit_all("inner")
    monkeypatch.chdir(here)
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", vendor.as_uri(), "vendored")
    Path("gated_program.py").write_text("from vendored.inner import pay\n")
    commit_all("with a submodule")
    asked = list[str]()

    def answer(order: list[str], _seconds: float) -> dict[str, Any]:
        asked.extend(each for each in order if ":" in each)
        result: dict[str, Any] = {"failures": [], "inconclusive": None, "unconfirmed": 0, "total_runs": 5}
        return {"seeds": [], "checks": [], "results": [result]}

    monkeypatch.setattr("ordeal.cli.gate._ordeal", answer)
    assert run("gate", "--changed", "HEAD")[0] == 0
    assert asked == []
    Path("vendored/inner.py").write_text(WRONG)
    assert run("gate", "--changed", "HEAD")[0] == 0
    assert set(asked) == {"gated_machines:Account"}


def test_a_shallow_clone_says_how_to_get_the_commit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    git("commit", "--quiet", "--allow-empty", "-m", "second")
    git("clone", "--quiet", "--depth", "1", Path.cwd().as_uri(), "shallow")
    monkeypatch.chdir("shallow")
    code, _, err = run("gate", "--changed", "HEAD~1")
    assert code == 2
    assert err.startswith("error: no commit `HEAD~1` here: the clone is shallow\n\nhint: `git fetch --unshallow` ")


def test_what_cannot_be_checked_is_wrong_use(run: Run) -> None:
    code, out, err = run("gate", "--changed", "nowhere")
    assert (code, out) == (2, "")
    assert err.startswith("error: no commit `nowhere` here\n")
    code, out, err = run("gate", "missing.json")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
