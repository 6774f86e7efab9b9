"""What the page shows of a failure, where the template leaves nothing to choose."""

from __future__ import annotations

import pytest

from ordeal._engine.trace_view.view import Change, StepView
from ordeal._report.html.finding import call_text, cut, faults_text, shown_changes


def test_a_collection_that_is_filled_is_not_gone_as_well() -> None:
    filled = [Change("paid['A1']", None, "3"), Change("paid", "{}", None), Change("order", "1", None)]
    assert [change.path for change in shown_changes(filled)] == ["paid['A1']", "order"]


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (StepView(kind="rule", name="pay", arguments={"cents": "3", "to": "a"}), "pay(cents=3, to=a)"),
        (StepView(kind="rule", name="make", result="things_0 = 7"), "make() → things_0 = 7"),
        (StepView(kind="fault_toggle", name="+slow(db.get)"), "slow(db.get) on"),
        (StepView(kind="fault_toggle", name="-slow(db.get)"), "slow(db.get) off"),
    ],
)
def test_a_step_is_a_call_or_a_switch(step: StepView, text: str) -> None:
    assert call_text(step) == text


@pytest.mark.parametrize(
    ("needed", "active", "text"),
    [
        (None, [], "none"),
        (None, ["a"], "on: a"),
        ({"a": True, "b": False}, ["a", "b"], "needed: a; on, not needed: b"),
        ({"a": False}, [], "none needed"),
    ],
)
def test_faults_are_needed_or_only_on(needed: dict[str, bool] | None, active: list[str], text: str) -> None:
    assert faults_text({"necessary_faults": needed, "active_faults": active}) == text


def test_long_texts_are_cut() -> None:
    assert cut("abcdef", 4) == "abc…"
