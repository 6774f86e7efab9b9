"""Failures as text: where, with which faults, and the steps that led there."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal.result import Failure


def make_failure(**changes: Any) -> Failure:
    values: dict[str, Any] = {
        "error": ValueError("balance negative"),
        "step": 5,
        "run_id": 3,
        "active_faults": ["timeout(api.call, 30.0s)", "disk_full", "rate_limit"],
        "rule_log": ["call_api", "write_data", "call_api"],
        "shrunk": True,
    }
    return Failure(**{**values, **changes})


class TestFailure:
    def test_text_names_place_faults_and_sequence(self) -> None:
        needed = {"timeout(api.call, 30.0s)": True, "disk_full": True, "rate_limit": False}
        assert str(make_failure(necessary_faults=needed)) == (
            "Run 3, step 5: ValueError: balance negative\n"
            "  Active faults: timeout, disk_full, rate_limit\n"
            "  Necessary faults: timeout, disk_full\n"
            "  Sequence: call_api -> write_data -> call_api"
        )

    def test_what_broke_an_invariant_is_named_with_what_else_does(self) -> None:
        assert "\n  Invariant broken by: pop, push\n" in str(make_failure(broken_by=["pop", "push"]))

    def test_necessary_faults_are_left_out_when_they_were_not_tried(self) -> None:
        assert str(make_failure(active_faults=[])) == (
            "Run 3, step 5: ValueError: balance negative\n"
            "  Active faults: none\n"
            "  Sequence: call_api -> write_data -> call_api"
        )

    @pytest.mark.parametrize("needed", [{}, {"disk_full": False}])
    def test_failure_that_needs_no_fault_says_so(self, needed: dict[str, bool]) -> None:
        assert "  Necessary faults: none (fails without any faults)" in str(make_failure(necessary_faults=needed))

    def test_faults_of_one_kind_keep_their_targets_apart(self) -> None:
        faults = ["timeout(a.get, 1.0s)", "timeout(a.put, 1.0s)", "disk_full"]
        text = str(make_failure(active_faults=faults, necessary_faults=dict.fromkeys(faults, True)))
        assert text.count("timeout(get), timeout(put), disk_full") == 2
        faults = ["slow(a.get, 1.0s)", "slow(b.get, 1.0s)", "slow(c.put, 1.0s)", "slow(c.put, 2.0s)"]
        assert "Active faults: slow(a.get), slow(b.get), slow(c.put, 1.0s), slow(c.put, 2.0s)" in str(
            make_failure(active_faults=faults)
        )

    def test_faults_of_one_kind_are_told_apart_in_the_sequence(self) -> None:
        steps = ["+timeout(a.get, 1.0s)", "+timeout(a.put, 1.0s)", "+disk_full()", "go(x=1)", "-timeout(a.get, 1.0s)"]
        assert str(make_failure(rule_log=steps)).endswith(
            "  Sequence: +timeout(get) -> +timeout(put) -> +disk_full -> go -> -timeout(get)"
        )

    def test_long_sequence_shows_its_end(self) -> None:
        steps = [f"rule_{number}" for number in range(12)]
        sequence = str(make_failure(rule_log=steps)).splitlines()[-1]
        assert sequence.startswith("  Sequence: ... -> rule_2 -> ")
        assert sequence.endswith(" -> rule_11")

    def test_swarm_configuration_is_no_step_of_the_sequence(self) -> None:
        assert str(make_failure(rule_log=["[swarm rules=2 faults=1]", "go"])).endswith("Sequence: go")

    def test_failure_before_the_first_step_has_an_empty_sequence(self) -> None:
        assert str(make_failure(rule_log=[], step=0)).endswith("Sequence: none")
