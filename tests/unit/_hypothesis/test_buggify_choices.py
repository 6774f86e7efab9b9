"""The decisions of buggify: on the tape within steps, as recorded in a replay, and choices of a Hypothesis test."""

from __future__ import annotations

import pytest

import ordeal._native as _native
from ordeal._hypothesis import buggify_choices
from ordeal._hypothesis.buggify_choices import BuggifyDraws

ARGUMENT = 3
RULE = 0


class Live:
    """A live run."""

    def __init__(self, *, points_act: bool = True) -> None:
        self.live = _native.Redraw(5)
        self.draws = BuggifyDraws(self.live.source, ARGUMENT, points_act=points_act)


def replayed(*decisions: bool, points_act: bool = False) -> tuple[_native.Replay, BuggifyDraws]:
    """A replay of a step that recorded these."""
    replay = _native.Replay(_native.Tape.from_steps([(RULE, 0, 0, [(ARGUMENT, list(decisions))])]))
    assert replay.next() == RULE
    draws = BuggifyDraws(replay.source, ARGUMENT, points_act=points_act)
    draws.in_step = True
    return replay, draws


def test_nothing_acts_outside_of_a_step() -> None:
    draws = Live().draws
    assert not draws.decide(1.0)
    assert draws.drawn == []
    draws.in_step = True
    assert draws.decide(1.0)
    draws.end_step()
    assert not draws.decide(1.0)


def test_without_points_the_effects_of_faults_act_alone() -> None:
    draws = Live(points_act=False).draws
    draws.in_step = True
    assert not draws.decide(1.0)
    assert draws.decide(1.0, is_point=False)
    assert draws.drawn == [True], "what was not decided is not recorded"


def test_a_step_holds_so_many_and_a_loop_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buggify_choices, "DECISIONS_PER_STEP_MAX", 3)
    draws = Live().draws
    draws.in_step = True
    assert [draws.decide(1.0) for _ in range(5)] == [True, True, True, False, False]


def test_a_replay_decides_as_recorded_whatever_the_probability_and_no_point_beyond_acts() -> None:
    replay, draws = replayed(True, False, True)
    assert [draws.decide(0.0), draws.decide(1.0), draws.decide(0.0), draws.decide(1.0)] == [True, False, True, False]
    draws.end_step()
    ((_, _, _, arguments),) = replay.tape.steps()
    assert arguments == [(ARGUMENT, [True, False, True, False])]


def test_a_step_without_a_decision_has_a_tape_as_without_buggify() -> None:
    replay, draws = replayed(True)
    draws.end_step()
    ((_, _, _, arguments),) = replay.tape.steps()
    assert arguments == []
