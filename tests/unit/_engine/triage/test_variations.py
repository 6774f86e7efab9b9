"""Runs near a failing one differ from it in one step or one choice, and from each other."""

from __future__ import annotations

import pytest

import ordeal._native as _native
from ordeal._engine.triage.variations import changed_arguments, changed_steps, changed_tapes, codes_of, near_values

TAPE = _native.Tape.from_steps((0, rule, at, [(0, [number])]) for at, (rule, number) in enumerate([(1, 5), (2, 9)]))


def test_a_step_is_left_out_before_a_choice_changes() -> None:
    (first, before), *others = changed_tapes(TAPE, 100)
    assert (len(first), before) == (1, True)
    assert codes_of(first) == codes_of(TAPE)[1:]
    assert all(codes_of(tape) == codes_of(TAPE) != [] for tape, _ in others)
    assert [early for _, early in others] == sorted(early for _, early in others)
    assert len({tape.hash() for tape, _ in others}) == len(others) > 10


def test_there_are_no_more_than_asked_for() -> None:
    assert len(list(changed_tapes(TAPE, 5))) == 5


def test_arguments_that_differ_are_named_by_step_and_name() -> None:
    assert changed_arguments(TAPE, TAPE) == frozenset()
    first, other = TAPE.steps()
    assert changed_arguments(TAPE, _native.Tape.from_steps([first, (*other[:3], [(0, [1])])])) == frozenset({(1, 0)})
    assert changed_arguments(TAPE, _native.Tape.from_steps([first])) is None


def test_the_changed_steps_are_of_the_same_rule() -> None:
    step = TAPE.steps()[0]
    assert {changed[:3] for changed in changed_steps(step)} == {step[:3]}


@pytest.mark.parametrize("value", [True, 3, 2.5, "abc", b"ab"])
def test_near_values_are_other_values_of_the_same_type(value: object) -> None:
    near = near_values(value)
    assert near
    assert value not in near
    assert {type(each) for each in near} == {type(value)}
