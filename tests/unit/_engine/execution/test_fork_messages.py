"""What a run in a forked process says is what a run can say, and comes out as it was meant."""

from __future__ import annotations

from typing import Any

import pytest

import ordeal._native as _native
from ordeal._engine.execution import fork_messages
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import Outcome, Status
from ordeal._engine.execution.fork_messages import RefusedError, checked_call, ending_of, values_of_ending

SEEN = (b"", '[{"properties": [], "cells": []}, {"keys": 2}, {"event": "x"}, {"speed": 1.5}, [7]]')


def raised(error: ValueError) -> ValueError:
    try:
        raise error
    except ValueError as caught:
        return caught


def test_the_source_knows_what_it_may_be_asked() -> None:
    said = {*fork_messages.QUERIES, *fork_messages.NOTIFICATIONS}
    assert {"integer", "boolean", "raw_unit", "recorded", "put", "begin_argument"} <= said
    # What is only asked of a source that replays is not asked here.
    others = {"live", "misaligned", "origin", "producer", "recorded_for", "notes_spans", "drawn", "end_span"}
    assert {name for name in dir(_native.ChoiceSource) if not name.startswith("_")} == said | others


def test_an_ending_comes_out_as_it_was() -> None:
    failed = Outcome(Status.FAILED, 3, raised(ValueError("too large")), "stuck")
    ending, seen = ending_of([*values_of_ending(failed, False, Bucketer([])), *SEEN])
    assert (ending.outcome.status, ending.outcome.steps, ending.outcome.stuck) == (Status.FAILED, 3, "stuck")
    assert (ending.error_type, ending.error_text, ending.raised) == ("ValueError", "too large", False)
    assert ending.bucket.startswith("ValueError in raised: ")
    assert "ValueError: too large" in ending.traceback
    assert (seen.sizes, seen.events, seen.targets) == ({"keys": 2}, {"event": "x"}, {"speed": 1.5})
    assert seen.take_interleaved() == [7]


def test_a_run_that_did_not_fail_has_no_bucket() -> None:
    ending, _ = ending_of([*values_of_ending(Outcome(Status.DONE, 5), True, Bucketer([])), *SEEN])
    assert (ending.bucket, ending.error_type, ending.raised) == ("", "", True)


@pytest.mark.parametrize(
    "said",
    [[], ["integer", 1, 2], ["integer", 1, 2, "3"], ["__class__"], [None], ["boolean", True], ["position", 0]],
)
def test_what_is_no_question_is_refused(said: list[Any]) -> None:
    with pytest.raises(RefusedError):
        checked_call(fork_messages.QUERIES, said)


def test_a_question_keeps_its_values() -> None:
    assert checked_call(fork_messages.QUERIES, ["integer", -5, 9, 0]) == ("integer", [-5, 9, 0])
