"""What a session is given to draw from, and that an exploration asks for it when it stalls."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal.explore import Explorer, Tuning
from ordeal.result import ExplorationResult

SECRET = int.from_bytes(hashlib.sha256(b"value sources").digest()[:7])


class Vault(RuleBasedStateMachine):
    """Opens for one number only."""

    @rule(number=st.integers(0, 2**60))
    def enter(self, number: int) -> None:
        if number == SECRET:
            raise AssertionError("open")


def explored(**options: Any) -> ExplorationResult:
    explorer = Explorer(Vault, target_modules=[__name__], tuning=Tuning(**options))
    return explorer.run(max_time=600, max_runs=120, shrink=False)


def test_a_stall_has_comparisons_watched() -> None:
    assert explored().failures
    assert not explored(comparison_tracing="off").failures


def test_watching_is_the_same_each_time() -> None:
    first, second = explored(), explored()
    assert [each.trace.content_hash() for each in first.failures if each.trace] == [
        each.trace.content_hash() for each in second.failures if each.trace
    ]
    assert first.total_steps == second.total_steps


def test_an_exploration_goes_on_with_what_it_knew(tmp_path: Path) -> None:
    whole = explored()
    Explorer(Vault, target_modules=[__name__]).run(
        max_time=600, max_runs=17, shrink=False, save_state_to=tmp_path / "state"
    )
    resumed = Explorer(Vault, target_modules=[__name__]).run(
        max_time=600, max_runs=120, shrink=False, resume_from=tmp_path / "state"
    )
    assert (resumed.total_runs, resumed.total_steps) == (whole.total_runs, whole.total_steps)
    assert [each.run_id for each in resumed.failures] == [each.run_id for each in whole.failures]
