"""``ordeal explore`` with the engine behind it: a planted bug, its report, its trace, and how it is replayed."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from textwrap import dedent

import pytest
from tests.warm_python import HASH_SEED, run_module

from ordeal._engine.runs.folder import read_events, read_result, read_status, run_folders

PROJECT = {
    "bank/__init__.py": "",
    "bank/account.py": """
        class Account:
            def __init__(self):
                self.balance = 0

            def deposit(self, amount):
                self.balance += amount

            def withdraw(self, amount):
                self.balance -= amount
                if self.balance < -15:
                    raise ValueError("overdrawn: ü")
    """,
    "test_bank.py": """
        from bank.account import Account
        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, rule

        class Bank(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.account = Account()

            @rule(amount=st.integers(1, 10))
            def deposit(self, amount):
                print("talk")
                self.account.deposit(amount)

            @rule(amount=st.integers(1, 10))
            def withdraw(self, amount):
                self.account.withdraw(amount)
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["bank"]
        max_runs = 200
        [[tests]]
        class = "test_bank:Bank"
    """,
}


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in PROJECT.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(dedent(text), encoding="utf-8")


def in_shell(*command: str, hash_seed: str = HASH_SEED) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"}
    if command[1] == "-m" and hash_seed == HASH_SEED:
        return run_module(*command[2:], environment=environment)
    return subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, timeout=600, check=False)


def explore(*options: str, hash_seed: str = HASH_SEED) -> subprocess.CompletedProcess[str]:
    return in_shell(sys.executable, "-m", "ordeal", "explore", *options, hash_seed=hash_seed)


def test_bug_is_found_shrunk_reported_and_replayed_by_the_last_line() -> None:
    done = explore("-v")
    assert done.returncode == 1, done.stderr
    assert "    1 FAILURE:\n      ValueError: overdrawn: ü (2 steps)\n" in done.stdout
    assert "      Sequence: withdraw -> withdraw\n" in done.stdout
    assert re.search(
        r"^  \[\d+s\] runs=\d+ steps=\d+ edges=\d+ cps=\d+ fails=\d+ \(\d+ runs/s\)$", done.stderr, re.MULTILINE
    )
    assert "talk\n" not in done.stderr + done.stdout  # a worker has nobody to talk to
    (trace,) = Path(".ordeal/traces").iterdir()
    assert trace.name.startswith("fail-run-")
    assert re.fullmatch(r"1 finding in 1 class, [\d,]+ runs in [\d.]+ s, exit code 1", done.stderr.splitlines()[-1])
    (run,) = run_folders(Path(".ordeal/runs"))
    events = [type(event).__name__ for event in read_events(run)]
    assert {"SessionBegun", "ClassStarted", "Found", "NewEdges", "Progress", "Shrunk", "ClassDone"} < set(events)
    assert events[-1] == "Finished"
    status, kept = read_status(run), read_result(run)
    assert status is not None
    assert (status.state, status.findings_total, status.exit_code) == ("finished", 1, 1)
    assert kept is not None
    assert kept["results"][0]["failures"][0]["id"] == status.findings[0].id
    program, *arguments = shlex.split(done.stdout.partition("      Replay: ")[2].partition("\n")[0])
    assert program == "ordeal"
    for again in (arguments, ["replay", arguments[1][:5]], ["replay"]):
        replayed = in_shell(sys.executable, "-m", "ordeal", *again)
        assert replayed.returncode == 1
        assert replayed.stderr.endswith(
            "Failure reproduced: ValueError: overdrawn: ü\n"
            "  At: test_bank.py:18 in Bank.withdraw (rule)\n"
            '  Raised at: bank/account.py:12 in Account.withdraw: raise ValueError("overdrawn: ü")\n'
        )


@pytest.mark.forks
def test_the_program_of_a_failure_runs_as_pasted_and_plain_python_needs_no_machine() -> None:
    done = explore("-w", "1")
    program = textwrap.dedent(done.stdout.partition("Program:\n")[2].partition("      Replay:")[0])
    pasted = in_shell(sys.executable, "-c", program)
    assert pasted.stderr.endswith("ValueError: overdrawn: ü\n"), program
    written = in_shell(sys.executable, "-m", "ordeal", "replay", "--plain", "plain.py")
    assert written.stderr.endswith("Plain Python: plain.py (5 lines), which was run and fails the same way\n"), (
        written.stderr
    )
    assert Path("plain.py").read_text("utf-8") == (
        '"""ValueError: overdrawn: ü"""\n\nfrom bank.account import Account\n\n'
        "account = Account()\naccount.withdraw(6)\naccount.withdraw(10)\n"
    )


def test_report_of_one_seed_is_the_same_in_every_process_apart_from_timing() -> None:
    documents = []
    for hash_seed in ("1", "2"):
        document = json.loads(explore("--json", "--no-seeds", hash_seed=hash_seed).stdout)
        assert set(document["results"][0].pop("timing")) == {"duration_seconds", "runs_per_second"}
        documents.append(document)
    assert documents[0] == documents[1]


ONE_WORKER = ("--json", "--no-seeds", "-w", "1")


def test_a_resumed_exploration_gives_the_report_and_traces_of_one_without_a_break() -> None:
    def explored(runs: int, hash_seed: str, *options: str) -> tuple[object, dict[str, bytes]]:
        ran = explore(*ONE_WORKER, "--seed", "4", "--max-runs", str(runs), *options, hash_seed=hash_seed)
        assert ran.returncode == 1, ran.stderr
        (result,) = json.loads(ran.stdout)["results"]
        del result["timing"]
        return result, {path.name: path.read_bytes() for path in Path(".ordeal/traces").iterdir()}

    whole = explored(120, "1")
    explored(60, "2", "--save-state", "state")
    assert explored(120, "3", "--resume", "state", "--save-state", "state") == whole
