"""What the page shows of a failure, where the template leaves nothing to choose."""

from __future__ import annotations

import re

import pytest

from ordeal._base.limits import TEXT_CHARS_MAX
from ordeal._engine.trace_view.view import LaneEvent, PartChange, StepView
from ordeal._report.html.finding import (
    call_text,
    faults_text,
    finding_values,
    highlighted,
    lane_table,
    rows_of,
    shown_changes,
)

from .test_page import failure


def test_a_collection_that_is_filled_is_not_gone_as_well() -> None:
    filled = [PartChange("paid['A1']", None, "3"), PartChange("paid", "{}", None), PartChange("order", "1", None)]
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


def test_lanes_are_columns_and_events_are_rows_in_order() -> None:
    events = [LaneEvent("a", "sends", "b"), LaneEvent("b", "wakes up")]
    table = lane_table(events)
    assert table["names"] == ["a", "b"]
    assert [[cell["text"] for cell in row] for row in table["rows"]] == [["sends \u2192 b", "\u25b6"], ["", "wakes up"]]
    assert (table["number"], table["numbers"]) == ("Order", [1, 2])
    assert lane_table([]) == {}
    of_steps = lane_table([LaneEvent("a", "sends", "b", 2), LaneEvent("b", "wakes up", "", 5)])
    assert (of_steps["number"], of_steps["numbers"]) == ("Step", [2, 5])


def test_an_arrow_leads_from_lane_to_lane() -> None:
    events = [
        LaneEvent("a", "runs"),
        LaneEvent("b", "runs"),
        LaneEvent("c", "answers", "a"),
        LaneEvent("a", "asks", "c"),
    ]
    back, there = lane_table(events)["rows"][2:]
    assert [cell["kind"] for cell in back] == ["arrived left", "through", "happened left"]
    assert [cell["kind"] for cell in there] == ["happened right", "through", "arrived right"]
    assert len(lane_table([LaneEvent(str(number), "runs") for number in range(50)])["names"]) == 10


def test_an_assertion_without_a_message_is_titled_by_what_it_asserted() -> None:
    place = {**failure()["place"], "asserted": ["assert 2 == 1", " +  where 2 = len(lot)"]}
    bare = failure(error_message="", place=place)
    shown = finding_values(bare, None, replayed=frozenset())
    assert (shown["error"], shown["message"]) == ("AssertionError: assert 2 == 1", "")
    assert [row["error"] for row in rows_of([bare])] == ["AssertionError: assert 2 == 1"]


def plain(html: object) -> str:
    return re.sub(r"<[^>]+>", "", str(html))


def test_lines_have_numbers_and_one_a_mark() -> None:
    shown = highlighted("def f():\n    return 1", first=9, mark=10)
    assert plain(shown).split("\n") == [" 9  def f():", "10      return 1"]
    assert str(shown).count('class="hit"') == 1


def test_markup_is_escaped_however_long_the_text() -> None:
    for text in ("<script>", "<script>" + "x" * TEXT_CHARS_MAX):
        assert "<script" not in str(highlighted(text))
