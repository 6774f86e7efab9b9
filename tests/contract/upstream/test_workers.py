"""Weak points of the public project, turned round: several workers, resumed states, rules that end their process."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ordeal._engine.isolation.child import can_supervise

from ..projects import Project
from .test_leftovers import LEFTOVERS

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_supervise(), reason="processes are watched on Linux only")]

each_number = pytest.mark.parametrize("workers", ["1", "2"])

ACCOUNT = {
    "account.py": """
        class Account:
            def __init__(self):
                self.cents = 0

            def pay_in(self, cents):
                if cents > 90:
                    self.cents += cents
                elif cents > 50:
                    self.cents += 1
                else:
                    self.cents += 0

            def pay_out(self, cents):
                self.cents -= cents
                if self.cents < 0:
                    raise ValueError("balance negative")
    """,
    "chaos.py": """
        from hypothesis import strategies as st
        from ordeal import ChaosTest, rule

        from account import Account

        class AccountChaos(ChaosTest):
            def __init__(self):
                super().__init__()
                self.account = Account()

            @rule(cents=st.integers(0, 100))
            def pay_in(self, cents):
                self.account.pay_in(cents)

            @rule(cents=st.integers(0, 100))
            def pay_out(self, cents):
                self.account.pay_out(cents)
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["account"]
        max_runs = 200
        [[tests]]
        class = "chaos:AccountChaos"
    """,
}


def result_of(project: Project, *options: str) -> dict[str, Any]:
    """What ``ordeal explore`` reports of the one class, in which it must find something."""
    done = project.explore("--json", "--no-seeds", *options)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    (found,) = json.loads(done.stdout)["results"]
    result: dict[str, Any] = found
    return result


class Account:
    """What explorations of one project come to; each is done once for all tests, as the same seed gives the same."""

    def __init__(self, root: Path) -> None:
        self._project = Project(root)
        self._project.write(ACCOUNT)
        self._results: dict[tuple[str, ...], dict[str, Any]] = {}

    def whole(self, workers: str) -> dict[str, Any]:
        """What all 200 runs come to."""
        return self._explored("-w", workers)

    def half(self, workers: str) -> dict[str, Any]:
        """What 100 runs come to; their state is kept for ``resumed``."""
        return self._explored("-w", workers, "--max-runs", "100", "--save-state", f"state-{workers}")

    def resumed(self, before: str, after: str) -> dict[str, Any]:
        """What it comes to where ``after`` workers go on after the half of ``before``."""
        self.half(before)
        return self._explored("-w", after, "--resume", f"state-{before}")

    def _explored(self, *options: str) -> dict[str, Any]:
        if options not in self._results:
            self._results[options] = result_of(self._project, *options)
        return self._results[options]


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Account:
    """The explorations of a project that no test changes."""
    return Account(tmp_path_factory.mktemp("account"))


def test_finding_01_the_default_number_of_workers_reaches_code_and_fails_by_nothing_of_its_own(
    project: Project, account: Account
) -> None:
    project.write(ACCOUNT)
    result = result_of(project)
    assert [failure["error_message"] for failure in result["failures"]] == ["balance negative"]
    assert result["unique_edges"] == account.whole("1")["unique_edges"] > 0
    assert result["total_runs"] == 200
    assert result["checkpoints_saved"] > 0


def test_finding_02_asking_for_two_workers_finds_the_edges_and_the_one_bug_that_one_worker_finds(
    account: Account,
) -> None:
    one, two = account.whole("1"), account.whole("2")
    assert [failure["error_message"] for failure in two["failures"]] == ["balance negative"]
    assert two["unique_edges"] == one["unique_edges"] > 0


@each_number
def test_finding_05_no_number_of_workers_makes_it_ignore_a_state(project: Project, workers: str) -> None:
    project.write(ACCOUNT)
    result_of(project, "-w", workers, "--save-state", "state")
    assert (project.root / "state").stat().st_size > 0
    done = project.explore("-w", workers, "--resume", "nonexistent")
    assert done.returncode == 2
    assert "nonexistent" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("before", "after"), [("2", "2"), ("1", "2"), ("2", "1"), ("2", "3")])
def test_finding_05_a_state_of_any_number_of_workers_is_resumed_by_any_other(
    account: Account, before: str, after: str
) -> None:
    half, resumed = account.half(before), account.resumed(before, after)
    assert (half["total_runs"], resumed["total_runs"]) == (100, 200)
    # An edge that is known keeps its name in another process, so none is counted twice.
    assert half["unique_edges"] <= resumed["unique_edges"] <= account.whole("1")["unique_edges"]
    assert [failure["error_message"] for failure in resumed["failures"]] == ["balance negative"]


@each_number
def test_finding_05_two_sessions_of_the_same_number_of_workers_are_as_one(account: Account, workers: str) -> None:
    whole, resumed = account.whole(workers), account.resumed(workers, workers)
    for told in ("unique_edges", "total_runs"):
        assert resumed[told] == whole[told]
    assert [failure["bucket"] for failure in resumed["failures"]] == [
        failure["bucket"] for failure in whole["failures"]
    ]


@each_number
def test_finding_13_state_of_a_module_that_leaks_between_runs_is_found_out_with_workers(
    project: Project, workers: str
) -> None:
    project.write(LEFTOVERS)
    flaky = {failure["error_type"]: failure["flaky"] for failure in result_of(project, "-w", workers)["failures"]}
    assert flaky == {"KeyError": True, "ValueError": False}


ENDING = {
    "chaos.py": """
        import itertools
        import os
        import sys
        import time

        from hypothesis import strategies as st
        from hypothesis.stateful import RuleBasedStateMachine, rule

        class Ending(RuleBasedStateMachine):
            def __init__(self):
                super().__init__()
                self.steps = 0

            @rule(number=st.integers(0, 99))
            def step(self, number):
                self.steps += 1

            @rule()
            def end(self):
                if self.steps >= 2:
                    self.at_the_end()

        class Exits(Ending):
            def at_the_end(self):
                os._exit(9)

        class Leaves(Ending):
            def at_the_end(self):
                sys.exit(0)

        class Sleeps(Ending):
            def at_the_end(self):
                time.sleep(600)

        class Counts(Ending):
            def at_the_end(self):
                sum(itertools.repeat(0))
    """,
}
SETTINGS = """
    [explorer]
    max_time = 3
    rule_timeout = 0.5
    [[tests]]
    class = "chaos:{name}"
"""


@each_number
@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("Exits", "ProcessExitError", "end ended the process with exit code 9"),
        pytest.param("Leaves", "SystemExit", "0", marks=pytest.mark.nightly),
    ],
)
def test_finding_18_a_rule_that_ends_its_process_is_a_failure_of_the_report(
    project: Project, name: str, error: str, message: str, workers: str
) -> None:
    project.write(ENDING | {"ordeal.toml": SETTINGS.format(name=name)})
    (failure,) = result_of(project, "-w", workers, "--max-time", "1.5")["failures"]
    assert (failure["error_type"], failure["error_message"]) == (error, message)
    assert (failure["flaky"], failure["rule_log"]) == (False, ["step", "step", "end"])
    replayed = project.python("-m", "ordeal", "replay", failure["trace_path"])
    assert replayed.returncode == 1
    assert message in replayed.stdout + replayed.stderr


@each_number
@pytest.mark.parametrize("name", ["Sleeps", pytest.param("Counts", marks=pytest.mark.nightly)])
def test_finding_18_the_time_limit_holds_when_a_rule_hangs(project: Project, name: str, workers: str) -> None:
    project.write(ENDING | {"ordeal.toml": SETTINGS.format(name=name)})
    result = result_of(project, "-w", workers, "--no-shrink", "--no-confirm-fresh")
    (failure,) = result["failures"]
    assert failure["error_type"] == "RuleTimeoutError"
    assert failure["rule_log"][-1] == "end"


@pytest.mark.nightly  # a machine that is busy takes its time
@each_number
@pytest.mark.parametrize("name", ["Sleeps", "Counts"])
def test_finding_18_the_time_limit_holds_to_the_second(project: Project, name: str, workers: str) -> None:
    project.write(ENDING | {"ordeal.toml": SETTINGS.format(name=name)})
    start = time.monotonic()
    result = result_of(project, "-w", workers, "--no-shrink", "--no-confirm-fresh")
    seconds = time.monotonic() - start
    assert result["timing"]["duration_seconds"] < 3 + 2
    assert seconds < 3 + 2 + 5  # to start and to end
