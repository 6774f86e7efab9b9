"""A green result is a claim: ``ordeal explore`` says what it skips, and ends with 2 where nothing was shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from tests.warm_python import run_module

from .conftest import Run

HEAD = """
import hypothesis.strategies as st
from hypothesis import assume
from ordeal import ChaosTest, rule
"""


MACHINES = """
    import json
    from ordeal import ChaosTest, rule

    class Machine(ChaosTest):
        @rule()
        def go(self):
            json.dumps({})
"""
SEARCH = ("explore", "--in-process", "--max-runs", "20", "--progress", "none")


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    Path("machines.py").write_text(dedent(MACHINES))


def write(body: str, **options: object) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in options.items()]
    Path("ordeal.toml").write_text("\n".join(["[explorer]", *lines, "[[tests]]", 'class = "machines:Machine"']))
    Path("machines.py").write_text(HEAD + dedent(body))
    Path("used.py").write_text("def go(): return 1\n")
    Path("unused.py").write_text("def go(): return 1\n")


REJECTED = """
class Machine(ChaosTest):
    @rule()
    def go(self):
        assume(False)
"""
OVERRUN = """
class Machine(ChaosTest):
    @rule(numbers=st.lists(st.integers(), min_size=4_000))
    def go(self, numbers):
        raise AssertionError
"""
IDLE = """
import used

class Machine(ChaosTest):
    @rule()
    def go(self):
        used.go()
"""


@pytest.mark.parametrize(
    ("body", "options", "reason"),
    [
        (REJECTED, {"max_runs": 5}, "all 5 runs were rejected by assume() or a filter"),
        (OVERRUN, {"max_runs": 5}, "all 5 runs needed more data than Hypothesis allows"),
        (IDLE, {"max_runs": 5, "target_modules": ["used", "unused"]}, "no code of unused ran"),
    ],
    ids=["rejected", "overrun", "unreached"],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_shows_nothing_ends_with_2(
    run: Run, workers: int, body: str, options: dict[str, object], reason: str
) -> None:
    write(body, workers=workers, **options)
    code, out, err = run("explore")
    assert code == 2
    assert f"error: machines:Machine: {reason}\n" in err
    assert f"    Inconclusive: {reason}: " in out
    assert "No failures" not in out
    code, out, _ = run("explore", "--json")
    assert code == 2
    assert json.loads(out)["results"][0]["inconclusive"]["reason"] == reason


def test_no_run_in_the_time_there_is(run: Run) -> None:
    write(IDLE, max_time=1e-9, workers=1)
    code, _, err = run("explore")
    assert code == 2
    assert "no run finished in 1e-09 s" in err


STUBBORN = """
import time

class Machine(ChaosTest):
    @rule()
    def wait(self):
        while True:
            try:
                time.sleep(9)
            except BaseException:
                pass
"""


@pytest.mark.slow
@pytest.mark.supervised
def test_workers_that_never_end_a_run(run: Run) -> None:
    write(STUBBORN, max_time=1.2, workers=2, rule_timeout=0)
    code, out, err = run("explore")
    assert code == 2
    assert "2 workers finished no run in 1.2 s" in err
    assert "A worker was ended in the middle of wait" in out


PORTAL = """
import queue, threading

ASKED, ANSWERED = queue.Queue(), queue.Queue()

def serve():
    while True:
        ANSWERED.put(ASKED.get() + 1)

threading.Thread(target=serve, daemon=True, name="portal").start()

def more(number):
    ASKED.put(number)
    return ANSWERED.get()

class Machine(ChaosTest):
    total = 0

    @rule(by=st.integers(0, 9))
    def add(self, by):
        self.total += more(by)
        assert self.total < LIMIT
"""


@pytest.mark.forks
@pytest.mark.parametrize("workers", [1, 2])
def test_a_thread_that_importing_starts_is_named_and_the_machine_is_explored(workers: int) -> None:
    write(f"LIMIT = 30\n{PORTAL}", max_runs=100, workers=workers)
    found = ordeal("explore")
    assert found.returncode == 1, found.stderr
    assert "1 FAILURE:" in found.stdout
    assert "not shrunk" not in found.stdout, found.stdout
    assert "Note: Explored in this process" in found.stdout
    assert "the thread 'portal' of the program would not live on in a forked process" in " ".join(found.stdout.split())
    assert "flaky" not in found.stdout
    (seed,) = Path(".ordeal/seeds").rglob("*.json")
    assert ordeal("replay", str(seed), "--shrink").returncode == 1
    write(f"LIMIT = 10**9\n{PORTAL}", max_runs=100, workers=workers)
    passed = ordeal("explore", "--no-seeds")
    assert passed.returncode == 0, passed.stderr
    assert "100 runs" in passed.stdout


def ordeal(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_module("ordeal", *arguments)


PID = """
import os
from pathlib import Path

class Machine(ChaosTest):
    @rule()
    def go(self):
        Path("pid").write_text(str(os.getpid()))
"""


@pytest.mark.forks
def test_in_process_has_no_other_process(run: Run) -> None:
    write(PID, max_runs=5)
    assert run("explore", "--in-process")[0] == 0
    assert Path("pid").read_text() == str(os.getpid())
    assert run("explore", "--workers", "1")[0] == 0
    assert Path("pid").read_text() != str(os.getpid())


@pytest.mark.parametrize("where", [("--in-process",), ("--workers", "1")])
def test_what_rules_print_is_dropped_wherever_they_run(run: Run, where: tuple[str, ...]) -> None:
    talk = "print('talk'); print('talk', file=sys.stderr); logging.warning('talk')"
    write(PID.replace("import os", "import logging, os, sys").replace("Path(", f"{talk}; Path(", 1), max_runs=5)
    code, out, err = run("explore", *where)
    assert (code, "talk" in out, "talk" in err) == (0, False, False)
    assert Path("pid").exists()


@pytest.mark.parametrize("other", [("--workers", "2"), ("--store", "dir://none")])
def test_in_process_contradicts_other_processes(run: Run, other: tuple[str, str]) -> None:
    write(PID, max_runs=5)
    code, _, err = run("explore", "--in-process", *other)
    assert code == 2
    assert f"`--in-process` and `{other[0]}` contradict each other" in err


@pytest.mark.forks
def test_a_program_with_threads_cannot_share_what_it_finds() -> None:
    write(f"LIMIT = 10**9\n{PORTAL}", max_runs=10)
    explored = ordeal("explore", "--store", "dir://shared")
    assert explored.returncode == 2
    assert "a store needs processes, and the thread 'portal' of the program" in explored.stderr


KINDS = """
import pytest
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from ordeal import ChaosTest

class Good(RuleBasedStateMachine):
    @rule()
    def act(self): pass

class InRule(Good):
    @rule()
    def skip(self): pytest.skip("in a rule")

class InConstructor(Good):
    def __init__(self):
        super().__init__()
        pytest.importorskip("no_such_module", reason="in a constructor")

class OnlyInitialize(RuleBasedStateMachine):
    @initialize()
    def begin(self): pass

    @precondition(lambda self: False)
    @rule()
    def act(self): pass

class RaisesLate(ChaosTest):
    calls = 0
    @precondition(lambda self: self.calls < 3 or self.missing)
    @rule()
    def act(self): self.calls += 1

class InvariantRaises(Good):
    @precondition(lambda self: [][1])
    @invariant()
    def holds(self): pass
"""


@pytest.fixture
def _kinds(tmp_path: Path) -> None:
    (tmp_path / "kinds.py").write_text(KINDS)
    (tmp_path / "without.py").write_text('import pytest\npytest.importorskip("no_such_module", reason="without it")\n')


@pytest.mark.usefixtures("_kinds")
@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("kinds:InRule", "in a rule"),
        ("kinds:InConstructor", "in a constructor"),
        ("without:Anything", "importing `without` asks to be skipped: Skipped: without it"),
    ],
)
def test_a_class_that_asks_to_be_skipped_is_and_others_go_on(run: Run, path: str, reason: str) -> None:
    code, out, err = run("explore", path, "kinds:Good", "--max-runs", "10", "-w", "1")
    assert code == 0
    assert f"Skipped {path}: {reason}\n" in err
    assert "kinds:Good" in out
    assert "Traceback" not in err


@pytest.mark.usefixtures("_kinds")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("OnlyInitialize", "no rule ran in 10 runs"),
        ("RaisesLate", "a precondition of RaisesLate.act raised AttributeError: 'RaisesLate' object has no attribute"),
        ("InvariantRaises", "a precondition of InvariantRaises.holds raised IndexError: list index out of range"),
    ],
)
@pytest.mark.parametrize("in_process", [(), ("--in-process",)], ids=["process", "here"])
def test_a_machine_that_cannot_be_judged_is_wrong_use(
    run: Run, name: str, said: str, in_process: tuple[str, ...]
) -> None:
    code, _, err = run("explore", f"kinds:{name}", "--max-runs", "10", *in_process)
    assert code == 2
    assert said in err
    assert "hint: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fail-on", "swallowed exceptions"], "a search does not check `swallowed exceptions`"),
        (["--report", "junit"], "the report format `junit` needs the package `junitparser`"),
    ],
)
def test_what_a_search_cannot_do_is_refused_before_it(
    run: Run, options: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(STUBBORN)
    monkeypatch.setitem(sys.modules, "junitparser", None)
    monkeypatch.delitem(sys.modules, "ordeal._report.formats.junit", raising=False)
    code, out, err = run("explore", *options)
    assert (code, out) == (2, "")
    assert said in err


# Warnings that fail a search or an examination: `[health] fail_on` and `--fail-on`.


def settings(**sections: str) -> None:
    text = "".join(f"[{name}]\n{lines}\n" for name, lines in sections.items())
    Path("ordeal.toml").write_text(text + '[[tests]]\nclass = "machines:Machine"\n')


def test_a_search_ends_with_1_at_a_warning_that_is_to_fail(run: Run) -> None:
    settings()
    assert run(*SEARCH)[0] == 0
    assert run(*SEARCH, "--fail-on", "rules")[0] == 0
    code, out, err = run(*SEARCH, "--fail-on", "rules,target modules")
    assert code == 1
    assert "No failures" in out
    assert "error: machines:Machine: Coverage: off\n\nhint: Name what is tested in target_modules" in err
    assert err.endswith("exit code 1\n")


def test_the_settings_name_what_fails_and_the_flag_adds_to_it(run: Run) -> None:
    settings(health='fail_on = ["target modules"]')
    assert run(*SEARCH)[0] == 1
    assert run(*SEARCH, "--fail-on", "stability")[0] == 1
    settings(health='fail_on = ["all"]', explorer='target_modules = ["json"]')
    assert run(*SEARCH)[0] == 0


def test_a_search_ends_with_1_at_what_it_only_warns_of(run: Run) -> None:
    leaking = MACHINES.replace("json.dumps({})", "open(__file__)")
    Path("machines.py").write_text(dedent(leaking))
    settings()
    assert run(*SEARCH)[0] == 0
    code, _, err = run(*SEARCH, "--fail-on", "outside")
    assert code == 1
    assert "error: machines:Machine: Outside of the steps: unclosed file" in err


@pytest.mark.slow
def test_the_doctor_ends_with_1_for_the_checks_that_are_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._tools.doctor.running.RUNS", 60)
    settings()
    assert run("doctor", "--fail-on", "stability")[0] == 0
    assert run("doctor", "--fail-on", "target modules", "--fail-on", "rules")[0] == 1


@pytest.mark.parametrize("command", ["explore", "doctor"])
def test_no_other_word_is_taken_for_a_check(run: Run, command: str) -> None:
    settings()
    code, out, err = run(command, "--fail-on", "rule")
    assert (code, out) == (2, "")
    assert err.startswith('error: `--fail-on` is "rule", not a list of target modules, rules, ')
    assert "hint: " in err
    settings(health="fail_on = 1")
    code, out, err = run(command)
    assert (code, out) == (2, "")
    assert err.startswith("error: `fail_on` in [health] of ordeal.toml is 1, not a list of ")
