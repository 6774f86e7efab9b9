"""What other values the arguments of a failing trace may have."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.replay.loading import load_for_replay
from ordeal._engine.trace_view.variation import variations
from ordeal.explore import Explorer


class Account(RuleBasedStateMachine):
    @rule(
        least=st.integers(0, 1000),
        most=st.integers(-500, 500),
        exact=st.integers(0, 40),
        free=st.integers(),
        but=st.integers(-20, 20),
        item=st.sampled_from("abcdef"),
        name=st.text(),
    )
    def check(self, least: int, most: int, exact: int, free: int, but: int, item: str, name: str) -> None:
        assert not (least >= 137 and most <= 20 and exact == 7 and but not in (0, 1))


def said(seconds: float) -> dict[str, str]:
    result: Any = Explorer(Account, workers=1).run(max_runs=3_000)
    trace = result.failures[0].trace
    loaded = load_for_replay(trace, Account)
    with loaded.running():
        replayed = loaded.replayer.run(loaded.tape)
        texts = [step.text for step in trace.taken_steps()]
        found = variations(loaded.driver, loaded.replayer, replayed.tape, replayed.bucket, texts, seconds)
    return {each.argument: each.said for each in found}


def test_thresholds_values_that_must_be_and_those_that_do_not_matter() -> None:
    found = said(30.0)
    assert found["least"] == "must be 137 or more"
    assert found["most"] == "must be 20 or less"
    assert found["exact"].startswith("must be 7: none of ")
    assert found["but"].startswith("may be anything but 0 or 1: ")
    assert found["free"].startswith("may be anything: ")
    assert found["item"].startswith("may be anything: ")
    assert "name" not in found


def test_it_ends_when_its_time_is_over() -> None:
    assert said(0.0) == {}
