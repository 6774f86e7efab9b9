"""Which traces judge a mutant, and after which of their steps states are compared."""

from __future__ import annotations

from typing import Any

from ordeal._tools.mutation.machines.choosing import (
    COMPARED_STEPS,
    COMPARED_TRACES,
    compared,
    covering,
    first_step,
    only_steps_differ,
)
from ordeal._tools.mutation.machines.traces import Kept

LINE = ("shop.py", 3)


def kept(number: int, steps: int, hits: int) -> Kept:
    nothing: Any = None
    return Kept(number, 0, nothing, nothing, {LINE: hits} if hits else {}, 0.0, [("rule", 0)] * steps)


def test_long_traces_that_run_the_lines_often_come_first() -> None:
    traces = [kept(1, 5, 0b11), kept(2, 40, 0b1), kept(3, 40, 0b111), kept(4, 90, 0)]
    assert [each.number for each, _ in covering(traces, {LINE, ("shop.py", 4)})] == [3, 2, 1]


def test_states_are_compared_where_the_lines_run_and_at_the_end() -> None:
    each = kept(1, 60, 0)
    assert compared(each, 0b101000, 0) == 1 << 59 | 0b101000
    assert compared(each, 0b101000, COMPARED_TRACES) == 1 << 59
    assert compared(each, (1 << 50) - 1, 0).bit_count() == COMPARED_STEPS + 1


def test_what_runs_before_the_function_is_entered_is_that_of_the_original() -> None:
    each = kept(1, 60, 0b11000)
    each.hits["shop.py", 1] = 0b100  # the line of its `def`
    assert first_step(each, "shop.py", (1, 4)) == 0
    each.only_looks = True
    assert first_step(each, "shop.py", (1, 4)) == 2
    assert first_step(each, "shop.py", (2, 4)) == 3
    assert first_step(each, "other.py", (1, 4)) == 0


def test_states_need_no_invariants_that_neither_change_them_nor_run_the_mutant() -> None:
    each = kept(1, 60, 0b11000)
    assert not only_steps_differ(each, "shop.py", (1, 4))
    each.only_looks, each.looked = True, {LINE}
    assert not only_steps_differ(each, "shop.py", (1, 4))
    assert only_steps_differ(each, "shop.py", (4, 9))
    assert only_steps_differ(each, "other.py", (1, 4))
