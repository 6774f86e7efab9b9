"""A process that holds a state serves one run after the other, and what it tells is checked."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

from ordeal import _native
from ordeal._engine.execution import fork_server
from ordeal._engine.execution.fork_server import Ending, ForkServer, Seen, refusal
from ordeal._engine.isolation.channel import Channel, ChannelError

pytestmark = [
    pytest.mark.usefixtures("own_threads_alone"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="states are held on Linux only"),
]


class Listening:
    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        del code, state_hash
        self.seen.append(seen)

    def done_seen(self, seen: Seen) -> None:
        self.seen.append(seen)

    def end_seen(self, seen: Seen) -> None:
        self.seen.append(seen)


class SessionDouble:
    """A session of which only the source is used."""

    def __init__(self) -> None:
        self.source = _native.Rehearsal(1).source

    def next(self) -> int:
        return 4

    def reject(self) -> None:
        """Nothing to reject."""


def told(*messages: tuple[Any, ...]) -> Ending | int:
    """What comes of a run that sends these messages."""
    here, there = Channel.pair()
    child = os.fork()
    if child == 0:
        here.close()
        there.receive()
        for message in messages:
            there.send(*message)
        there.receive()  # until it is closed
        os._exit(0)
    there.close()
    held = ForkServer(child, here)
    try:
        return held.run(SessionDouble(), Listening())  # type: ignore[arg-type]
    finally:
        held.close()
        with pytest.raises(ChildProcessError):
            os.waitpid(child, os.WNOHANG)


SEEN = (b"\x00", 0, '[{"properties": [], "cells": []}, [], {}, {}, {}]')
ENDED = ("ended", "failed", 3, "", False, "a bucket", "ValueError", "text", "traceback")


def test_an_ending_is_told() -> None:
    ending = told((*ENDED, *SEEN), ("gone", 0))
    assert isinstance(ending, Ending)
    assert (ending.bucket, ending.error_type, ending.outcome.steps) == ("a bucket", "ValueError", 3)


def test_a_run_without_an_ending_gives_its_exit_code() -> None:
    assert told(("step", 8, 0, *SEEN), ("gone", -9)) == -9


@pytest.mark.parametrize(
    "message",
    [
        ("hello",),
        (1, 2, 3),
        ("step", 8, 0),
        ("step", 8, "0", *SEEN),
        ("step", 8, 0, b"\x00", 0, "no JSON"),
        ("step", 8, 0, b"\x00", 0, "[1, 2, 3, 4, 5]"),
        ("ended", "sleeping", *ENDED[2:], *SEEN),
        ("ended",),
        ("gone", "yes"),
        ("ask", "__class__"),
        ("ask", "put", 1),
        ("ask",),
        ("tell", "put", 1.5, 2),
        ("tell", "next"),
    ],
)
def test_what_no_run_says_is_refused(message: tuple[Any, ...]) -> None:
    with pytest.raises(ChannelError):
        told(message)


def test_a_draw_that_cannot_be_is_an_error_of_the_run_alone() -> None:
    assert told(("ask", "integer", "low", 1, 2), ("gone", 1)) == 1


def test_the_source_knows_what_it_may_be_asked() -> None:
    assert {"integer", "boolean", "raw_unit", "recorded"} <= fork_server._ASKED
    assert {"put", "begin_argument"} <= fork_server._TOLD
    assert set(dir(_native.ChoiceSource)) >= fork_server._TOLD


def test_without_other_threads_nothing_is_refused() -> None:
    assert refusal() == ""
