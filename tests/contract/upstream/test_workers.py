"""Weak points of the public project, turned round: several workers find what one finds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ordeal._engine.isolation.child import can_supervise

from ..projects import Project

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_supervise(), reason="processes are watched on Linux only")]

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


def test_finding_01_and_02_any_number_of_workers_reaches_the_same_and_fails_by_nothing_of_its_own(
    project: Project,
) -> None:
    project.write(ACCOUNT)
    one, *others = (result_of(project, *options) for options in (("-w", "1"), ("-w", "2"), ()))
    assert one["unique_edges"] > 0
    for result in (one, *others):
        assert [failure["error_message"] for failure in result["failures"]] == ["balance negative"]
        assert result["unique_edges"] == one["unique_edges"]
        assert result["total_runs"] == 200
        assert result["checkpoints_saved"] > 0
