"""A failure that stays long is looked for in other runs of its bucket, and only there."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.jobs import triage_finding
from ordeal._engine.triage.messages import Message, Shrinking
from ordeal._engine.triage.rivals import shorter_tapes
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._hypothesis import GlobalRandoms
from ordeal._native import Tape, monotonic

from ...samples.triaged import finding_for, setup_for, tape_for
from .test_jobs import failures_of, here


def tried(messages: list[Message]) -> list[Shrinking]:
    """What was told of candidates."""
    return [message for message in messages if isinstance(message, Shrinking)]


class Stairs(RuleBasedStateMachine):
    """Must not be on the eighth stair: eight steps lead there, or two strides."""

    def __init__(self) -> None:
        super().__init__()
        self.at = 0

    @rule()
    def step(self) -> None:
        self.at += 1

    @rule()
    def stride(self) -> None:
        self.at += 4

    @rule()
    def look(self) -> None:
        if self.at >= 8:
            raise ValueError("too high")


STEPS = [*["step"] * 8, "look"]


def stairs() -> tuple[ReplaySetup, Finding, Tape]:
    """What replays share, a failure of steps, and a run of strides and steps that fails alike."""
    setup = setup_for(Stairs)
    rival = tape_for(setup.driver, "step", "stride", "look", "step", "stride", "look")
    return setup, finding_for(setup, tape_for(setup.driver, *STEPS)), rival


def test_of_the_runs_in_its_bucket_the_shortest_takes_its_place() -> None:
    setup, finding, rival = stairs()
    same = tape_for(setup.driver, "step", *STEPS)
    told = failures_of(here(setup, triage_finding(finding, shrink=True, rivals=[same, rival])))
    assert told[-1].failure.rule_log == ["stride", "stride", "look"]
    assert told[-1].improved
    assert told[-1].replaced


def test_no_replay_of_them_goes_unheard() -> None:
    setup, finding, rival = stairs()
    alone = len(tried(here(setup, triage_finding(finding, shrink=True))))
    setup, finding, rival = stairs()
    told = tried(here(setup, triage_finding(finding, shrink=True, rivals=[rival])))
    assert len(told) > alone
    assert [each.candidates for each in told] == list(range(1, len(told) + 1))
    assert {each.steps_before for each in told} == {len(STEPS)}
    assert [each.steps for each in told] == sorted((each.steps for each in told), reverse=True)


def test_without_others_it_stays_as_it_is() -> None:
    setup, finding, _rival = stairs()
    told = failures_of(here(setup, triage_finding(finding, shrink=True)))
    assert told[-1].failure.rule_log == STEPS


def test_no_time_finds_nothing() -> None:
    setup, finding, rival = stairs()
    replayer = Replayer(setup.driver, setup.bucketer(), GlobalRandoms())
    assert not shorter_tapes(replayer, finding, [rival], monotonic())
    assert [len(tape) for tape in shorter_tapes(replayer, finding, [rival], math.inf)] == [3]


@pytest.mark.parametrize("changes", [{"flaky": True}, {"outside": True}])
def test_what_each_replay_takes_a_process_for_is_left(changes: dict[str, Any]) -> None:
    setup, finding, rival = stairs()
    told = failures_of(
        here(setup, triage_finding(msgspec.structs.replace(finding, **changes), shrink=True, rivals=[rival]))
    )
    assert "stride" not in told[-1].failure.rule_log


def test_a_short_one_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._engine.triage.jobs.LONG", len(STEPS) + 1)
    setup, finding, rival = stairs()
    told = failures_of(here(setup, triage_finding(finding, shrink=True, rivals=[rival])))
    assert told[-1].failure.rule_log == STEPS
    assert not told[-1].replaced
