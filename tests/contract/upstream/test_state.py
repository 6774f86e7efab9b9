"""Weak points of the public project, turned round: workers that are asked for, states that are resumed, ablation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordeal.trace import Trace, TraceStep, ablate_faults

from ..projects import Project, explore

pytestmark = pytest.mark.slow

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


@pytest.fixture
def account(project: Project) -> Project:
    project.write(ACCOUNT)
    return project


def result_of(project: Project, *options: str, exit_code: int = 1) -> dict[str, Any]:
    """What ``ordeal explore`` reports of the one class, without what a clock measured."""
    done = project.explore("--json", "--no-seeds", *options)
    assert done.returncode == exit_code, done.stderr
    (result,) = json.loads(done.stdout)["results"]
    del result["timing"]
    found: dict[str, Any] = result
    return found


def test_finding_02_asking_for_two_workers_finds_the_edges_and_the_one_bug_that_one_worker_finds(
    account: Project,
) -> None:
    one, two = (result_of(account, "-w", workers) for workers in ("1", "2"))
    assert [failure["error_message"] for failure in two["failures"]] == ["balance negative"]
    assert two["unique_edges"] == one["unique_edges"] > 0


def test_finding_05_a_resumed_exploration_knows_its_edges_and_goes_on_as_if_it_had_not_stopped(
    account: Project,
) -> None:
    whole = result_of(account)
    half = result_of(account, "--max-runs", "100", "--save-state", "state")
    resumed = result_of(account, "--resume", "state", "--save-state", "state")
    assert (half["total_runs"], resumed["total_runs"]) == (100, 200)
    assert resumed == whole


@pytest.mark.parametrize("workers", ["1", "2"])
def test_finding_05_no_number_of_workers_makes_it_ignore_a_state(account: Project, workers: str) -> None:
    result_of(account, "-w", workers, "--save-state", "state")
    assert (account.root / "state").stat().st_size > 0
    done = account.explore("-w", workers, "--resume", "nonexistent")
    assert done.returncode == 2
    assert "nonexistent" in done.stderr
    assert "Traceback" not in done.stderr


FAULTS = {
    "till.py": """
        def first(): return True
        def second(): return True
        def third(): return True
        def unused(): return True
    """,
    "chaos.py": """
        import till
        from ordeal import ChaosTest, rule
        from ordeal.faults import io

        class AnyOfThree(ChaosTest):
            faults = [io.return_empty(f"till.{name}") for name in ("first", "second", "third", "unused")]

            @rule()
            def check(self):
                till.unused()
                if not (till.first() and till.second() and till.third()):
                    raise ValueError("a till gave nothing")

        class Always(ChaosTest):
            faults = [io.return_empty("till.first")]

            @rule()
            def check(self):
                till.first()
                raise ValueError("it is broken anyway")
    """,
}


def with_all_on(project: Project, class_path: str) -> Trace:
    """A failing trace that switches on every fault of the class, and then checks."""
    machine = project.load(class_path)
    (failure,) = explore(machine, runs=100).failures
    trace = failure.trace
    assert trace is not None
    (check,) = (step for step in trace.steps if step.name == "check")
    trace.steps = [*(TraceStep("fault_toggle", f"+{fault.name}") for fault in machine.faults), check]
    return trace


def test_finding_21_three_faults_that_each_suffice_are_all_found(project: Project) -> None:
    project.write(FAULTS)
    assert ablate_faults(with_all_on(project, "chaos:AnyOfThree")) == {
        "return_empty(till.first)": True,
        "return_empty(till.second)": True,
        "return_empty(till.third)": True,
        "return_empty(till.unused)": False,
    }


def test_finding_21_no_fault_is_called_needless_unless_it_fails_without_any(project: Project) -> None:
    project.write(FAULTS)
    for class_path, said in (
        ("chaos:AnyOfThree", "Necessary faults: return_empty(till.first), return_empty(till.second)"),
        ("chaos:Always", "Bug reproduces without any faults."),
    ):
        with_all_on(project, class_path).save(project.root / "trace.json")
        done = project.python("-m", "ordeal", "replay", "trace.json", "--ablate")
        assert done.returncode == 1
        assert said in done.stderr
        assert ("without any faults" in done.stderr) == (class_path == "chaos:Always")
