"""What each step is needed for, as trying the trace without it shows."""

from __future__ import annotations

import pytest

import ordeal._native as _native
from ordeal._engine.trace_view.roles import STEPS_MAX, _named, removals, roles
from ordeal._engine.trace_view.trials import Trials

from ...samples.explained import explained, loaded


def test_each_step_but_the_last_has_a_role() -> None:
    assert [(each.step, each.said) for each in explained().roles] == [
        (1, "needed: without it steps 2, 3, 5 and 6 cannot run"),
        (2, "needed: makes what step 5 takes; may trade places with step 3"),
        (3, "needed: without it the run passes"),
        (4, "needed: without it the run passes"),
        (5, "needed: without it the run passes"),
    ]


def test_a_step_that_nothing_needs_is_named() -> None:
    failing = loaded()
    with failing.running():
        replayed = failing.replayer.run(failing.tape)
        steps = replayed.tape.steps()
        kind, target, origin, arguments = steps[2]
        # The mode is switched on twice.
        tape = _native.Tape.from_steps([*steps[:3], (kind, target, origin + 1_000, arguments), *steps[3:]])
        trials = Trials(failing.replayer, replayed.bucket, float("inf"))
        views = explained().steps
        said = roles(trials, tape, removals(trials, tape), [*views[:3], views[2], *views[3:]])
    assert [each.step for each in said if each.said.startswith("not needed: without it the trace fails alike")] == [
        3,
        4,
    ]


def test_without_time_and_of_long_traces_nothing_is_said() -> None:
    failing = loaded()
    with failing.running():
        assert removals(Trials(failing.replayer, "", 0.0), failing.tape) == {}
        step = failing.tape.steps()[2]
        long = _native.Tape.from_steps([step] * (STEPS_MAX + 1))
        assert removals(Trials(failing.replayer, "", float("inf")), long) == {}


@pytest.mark.parametrize(
    ("steps", "text"),
    [
        ([1], "step 2 takes"),
        ([1, 2], "steps 2 and 3 take"),
        ([1, 2, 3, 7], "steps 2 to 4 and 8 take"),
        (list(range(0, 40, 3)), "steps 1, 4, 7, 10, 13 and 16 and others take"),
    ],
)
def test_steps_are_named_by_ranges(steps: list[int], text: str) -> None:
    assert _named(steps) == text
