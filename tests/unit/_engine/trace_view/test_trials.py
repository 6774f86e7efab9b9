"""Variants of a failing trace: which of them fail alike, which pass, and when there is no more time."""

from __future__ import annotations

import math

import pytest

from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.trace_view.trials import Trials, origins, passes, with_choice, without

from ...samples.explained import loaded


def test_a_variant_fails_alike_or_passes_and_keeps_what_identifies_its_steps() -> None:
    failing = loaded()
    with failing.running():
        first = failing.replayer.run(failing.tape)
        trials = Trials(failing.replayer, first.bucket, math.inf)
        assert trials.fails_alike(trials.run(failing.tape))
        assert not passes(trials.run(failing.tape))
        shorter = trials.run(without(first.tape, 3))
        assert passes(shorter)
        assert shorter is not None
        assert origins(shorter.tape) == [each for at, each in enumerate(origins(first.tape)) if at != 3]
        steps = first.tape.steps()
        assert passes(trials.run(with_choice(steps, 4, 1, 9)))
        assert trials.fails_alike(trials.run(with_choice(steps, 4, 1, 11)))


def test_nothing_runs_after_the_deadline() -> None:
    failing = loaded()
    with failing.running(), pytest.raises(OutOfTime):
        Trials(failing.replayer, "", 0.0).run(failing.tape)
