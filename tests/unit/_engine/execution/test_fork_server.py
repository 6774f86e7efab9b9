"""A process that holds a state serves one run after the other, and what it tells is checked."""

from __future__ import annotations

import math
import os
import random
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._base.limits import TRACEBACK_CHARS_MAX
from ordeal._engine.execution import fork_messages
from ordeal._engine.execution.driver import RULE
from ordeal._engine.execution.fork_messages import ForkedRunResult, Seen
from ordeal._engine.execution.fork_server import ForkedRunListener, ForkServer
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.isolation.channel import ChannelError
from ordeal._engine.search.run_loop import make_session

from ...samples.traced import Counter
from ...samples.triaged import settings_for

pytestmark = [
    pytest.mark.usefixtures("own_threads_alone"),
    pytest.mark.supervised,
]


class Listening(ForkedRunListener):
    def __init__(self) -> None:
        self.seen: list[Seen] = []

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        self.seen.append(seen)

    def done_seen(self, seen: Seen) -> None:
        self.seen.append(seen)

    def end_seen(self, seen: Seen) -> None:
        self.seen.append(seen)


STEP = RULE | 1 << 3


class SessionDouble:
    """A session that gives the second rule, and of which else only the source is used."""

    def __init__(self) -> None:
        self.redraw = _native.Redraw(1)
        self.source = self.redraw.source

    def next(self) -> int:
        return STEP

    def reject(self) -> None:
        """Nothing to reject."""


HOLDER, BRANCH, STRANGER = 10, 11, 12


class ScriptedChannel:
    """Has these messages from these processes; what is sent is kept."""

    def __init__(self, *messages: tuple[int, tuple[Any, ...]]) -> None:
        self._messages = list(messages)
        self.sender = 0
        self.sent: list[tuple[Any, ...]] = []

    def identify_senders(self) -> None:
        """They are always known."""

    def send(self, *values: Any) -> None:
        self.sent.append(values)

    def receive(self) -> list[Any]:
        if not self._messages:
            raise ChannelError("nobody is there any more")
        self.sender, message = self._messages.pop(0)
        return list(message)


def served(*messages: tuple[int, tuple[Any, ...]]) -> tuple[ForkedRunResult | int, list[tuple[Any, ...]]]:
    channel = ScriptedChannel(*messages)
    held = ForkServer(HOLDER, channel, arguments=3)  # type: ignore[arg-type]
    return held.run(SessionDouble(), Listening()), channel.sent[1:]  # type: ignore[arg-type]


def told(*messages: tuple[Any, ...], code: int = 0) -> ForkedRunResult | int:
    """What comes of a run that sends these messages, and ends with this exit code."""
    ending, _ = served((HOLDER, ("started", BRANCH)), *((BRANCH, each) for each in messages), (HOLDER, ("gone", code)))
    return ending


RECORD = _native.Monitor(_native.CoverageMap(64), []).take_record()
SEEN = (RECORD, '[{"properties": [], "cells": []}, {}, {}, {}, []]')
ENDED = ("ended", "failed", 3, "", False, "a bucket", "ValueError", "text", "traceback")
NEXT = ("next",)


@pytest.mark.parametrize(
    "message",
    [
        (),
        ("hello",),
        (1, 2, 3),
        ("started", 3),
        ("gone", 0),
        ("next", 1),
        ("step", STEP, 0),
        ("step", STEP, "0", *SEEN),
        ("step", STEP + 8, 0, *SEEN),
        ("step", STEP, 0, RECORD, "no JSON"),
        ("step", STEP, 0, RECORD, "[1, 2, 3, 4]"),
        ("step", STEP, 0, RECORD, '[{}, {"a": Infinity}, {}, {}]'),
        ("step", STEP, 0, RECORD, '[{}, {"a": 1e30}, {}, {}]'),
        ("step", STEP, 0, RECORD, '[{}, {}, {}, {"a": NaN}]'),
        ("step", STEP, 0, RECORD, "[" * 100_000),
        ("ended", "sleeping", *ENDED[2:], *SEEN),
        (*ENDED[:5], "", *ENDED[6:], *SEEN),
        (*ENDED[:6], "a\0b", *ENDED[7:], *SEEN),
        (*ENDED[:7], "x" * (TRACEBACK_CHARS_MAX + 1), ENDED[8], *SEEN),
        ("ended",),
        ("ask", "__class__"),
        ("ask", "put", 1),
        ("ask", "recorded", 5),
        ("ask", "recorded_for", 1),
        ("ask", "position", 0),
        ("ask", "raw_below", 0),
        ("ask", "integer", 3, 2, 0),
        ("ask", "real", 3.0, 2.0, False, 0.0),
        ("ask", "text", b"1234567", 0, 1),
        ("ask", "text", b"", 2**40, 2**40),
        ("ask", "bytes", -1, 2),
        ("ask", "wide_integer", 0, 2**200, 0),
        ("ask",),
        ("tell", "put", 1.5, 2),
        ("tell", "put", None),
        ("tell", "put", b"x" * (fork_messages.SIZE_MAX + 1)),
        ("tell", "begin_argument", 3),
        ("tell", "begin_argument", -1),
        ("tell", "set_producer", -2),
        ("tell", "next"),
    ],
    ids=lambda message: str(message)[:60],
)
def test_what_no_run_says_is_refused(message: tuple[Any, ...]) -> None:
    with pytest.raises(ChannelError):
        told(NEXT, message)


@pytest.mark.parametrize(
    "messages",
    [
        (NEXT, NEXT),
        (("step", STEP, 0, *SEEN),),
        (("reject",),),
        (("ask", "raw_unit"),),
        (("tell", "misalign"),),
        (NEXT, ("reject",), ("reject",)),
        ((*ENDED, *SEEN), NEXT),
        ((*ENDED, *SEEN), (*ENDED, *SEEN)),
    ],
)
def test_what_is_said_out_of_turn_is_refused(messages: tuple[tuple[Any, ...], ...]) -> None:
    with pytest.raises(ChannelError):
        told(*messages)


@pytest.mark.parametrize(
    "messages",
    [
        [(HOLDER, ("started", BRANCH)), (STRANGER, NEXT)],
        [(STRANGER, NEXT), (HOLDER, ("started", BRANCH))],
        [(BRANCH, NEXT), (STRANGER, NEXT)],
        [(HOLDER, ("started", BRANCH)), (BRANCH, NEXT), (STRANGER, ("reject",))],
        [(HOLDER, ("started", BRANCH)), (HOLDER, ("started", STRANGER))],
        [(HOLDER, NEXT)],
        [(0, NEXT), (HOLDER, ("started", BRANCH))],
    ],
)
def test_a_stranger_is_noticed(messages: list[tuple[int, tuple[Any, ...]]]) -> None:
    with pytest.raises(ChannelError):
        served(*messages)


def test_a_draw_that_cannot_be_is_an_error_of_the_run_alone() -> None:
    messages = [NEXT, ("ask", "integer", 2**70, 2**71, 2)]
    ending, sent = served((HOLDER, ("started", BRANCH)), *((BRANCH, each) for each in messages), (HOLDER, ("gone", 1)))
    assert ending == 1
    assert sent[-1][:2] == ("error", "TypeError")


#: ``ORDEAL_CRAFTED_MESSAGES`` sets how many are tried.
CRAFTED = int(os.environ.get("ORDEAL_CRAFTED_MESSAGES", "2000"))
KINDS = ("next", "reject", "ask", "tell", "step", "done", "ended", "started", "gone", "reply", "run", "")
NAMES = (
    *fork_messages.QUERIES,
    *fork_messages.NOTIFICATIONS,
    "live",
    "producer",
    "recorded_for",
    "__init__",
    "journal",
)
VALUES: tuple[Any, ...] = (
    *(0, 1, 3, 8, -1, 2**31, 2**63, -(2**63), 2**64, 2**130, True, None, 0.5, math.inf, math.nan, "", "a", b""),
    *(*SEEN, b"\0" * 8, STEP, RECORD[:-1], "[[], {}, {}, {}]", "failed", "done"),
)


def crafted(rng: random.Random, step: int) -> tuple[Any, ...]:
    """A message as somebody may write it who knows the protocol, and that ``step`` runs."""
    shapes: dict[str, list[Any]] = {"step": [step, 0, *SEEN], "done": [*SEEN], "ended": [*ENDED[1:], *SEEN]}
    kind = rng.choice(KINDS)
    rest = shapes.get(kind, [])
    if kind in ("ask", "tell"):
        name = rng.choice(NAMES)
        count = len(fork_messages.QUERIES.get(name) or fork_messages.NOTIFICATIONS.get(name) or ())
        rest = [name, *(rng.choice(VALUES) for _ in range(count))]
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        at = rng.randrange(len(rest) + 1)
        rest[at : at + rng.randrange(2)] = [rng.choice(VALUES)] * rng.randrange(2)
    return (kind, *rest)


class CraftingChannel(ScriptedChannel):
    """Has messages that somebody crafts, mostly such as can come next, until one of them is refused."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__((HOLDER, ("started", BRANCH)), (BRANCH, NEXT))
        self._rng = rng
        self._step = 0
        self.received = 0

    def send(self, *values: Any) -> None:
        if values[0] == "reply" and type(values[1]) is int:
            self._step = values[1]

    def receive(self) -> list[Any]:
        self.received += 1
        if self._messages:
            return super().receive()
        if self.received > 40:
            raise ChannelError("it has said enough")
        fair = [
            ("step", self._step, 0, *SEEN),
            ("reject",),
            ("ask", "boolean", 0.5),
            ("tell", "begin_argument", 1),
            NEXT,
        ]
        self.sender = BRANCH if self._rng.random() < 0.99 else STRANGER
        return list(self._rng.choice(fair) if self._rng.random() < 0.7 else crafted(self._rng, self._step))


class Telling(Listening):
    """Tells the session what it hears, as a search does."""

    def __init__(self, session: _native.Session) -> None:
        super().__init__()
        self._session = session
        self._monitor = _native.Monitor(_native.CoverageMap(64), [])

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        self._monitor.replay(seen.record)
        self._session.done(state_hash)

    def done_seen(self, seen: Seen) -> None:
        self._monitor.replay(seen.record)
        self._session.finished(0)


def test_crafted_messages_end_in_a_lost_process_and_nothing_else() -> None:
    rng = random.Random(7)
    tried = 0
    session = make_session(settings_for(Counter), make_driver(Counter), _native.CoverageMap(64), has_targets=False)
    while tried < CRAFTED:
        session.begin_run()
        channel = CraftingChannel(rng)
        held = ForkServer(HOLDER, channel, arguments=3)  # type: ignore[arg-type]
        with pytest.raises(ChannelError):
            held.run(session, Telling(session))
        session.end_run()
        tried += channel.received
