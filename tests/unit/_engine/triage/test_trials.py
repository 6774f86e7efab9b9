"""Trials say whether made-up steps fail alike, and nothing once their time is over."""

from __future__ import annotations

import pytest

from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.trials import Trials
from ordeal._hypothesis import GlobalRandoms

from ...samples.one_place_machines import Iterating
from ...samples.triaged import finding_for, setup_for, tape_for

PUT, OTHER = ("put", {"key": [0], "value": [0]}), ("put", {"key": [1], "value": [0]})


@pytest.mark.parametrize(
    ("steps", "seconds", "fails"),
    [
        ([PUT, OTHER, "items"], 60.0, True),
        ([PUT, PUT, "items"], 60.0, False),
        ([PUT, OTHER, "values"], 60.0, None),
        ([PUT, OTHER, "items"], 0.0, None),
    ],
    ids=["fails so", "passes", "fails otherwise", "no time"],
)
def test_a_trial_fails_alike_or_passes_or_says_nothing(steps: list[object], seconds: float, fails: bool | None) -> None:
    setup = setup_for(Iterating)
    bucket = finding_for(setup, tape_for(setup.driver, PUT, OTHER, "items")).bucket
    trials = Trials(Replayer(setup.driver, setup.bucketer(), GlobalRandoms()), setup.driver, seconds=seconds)
    assert trials.fail(tape_for(setup.driver, *steps).steps(), bucket) is fails  # type: ignore[arg-type]
