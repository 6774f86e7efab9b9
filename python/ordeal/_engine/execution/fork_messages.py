"""The messages of a run in a forked process: which it may send, with which values, and what they mean.

The process runs code under test, which may write anything to the channel: each message is checked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from ordeal._base.limits import TRACEBACK_CHARS_MAX
from ordeal._base.outside import outside
from ordeal._base.untrusted import error_message, type_name
from ordeal._engine.execution.bucket import Bucketer, traceback_text
from ordeal._engine.execution.driver import Outcome, Status
from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._hypothesis.provider import WIDE_MAX

# What messages begin with.
RUN, REPLY, ERROR = "run", "reply", "error"
NEXT, REJECT, AGAIN, ASK, NOTIFY, STEP, DONE = "next", "reject", "again", "ask", "tell", "step", "done"
STARTED, ENDED, GONE = "started", "ended", "gone"

#: The number of messages that a run may send to its session: more than any run needs.
SAID_MAX = 1 << 20
#: The longest text or bytes that a draw may return, or may be asked to have at least.
SIZE_MAX = 1 << 24


class RefusedError(Exception):
    """A process sends something that no run sends."""


# ---------------------------------------------------------------------------------------------------------------------
# What a run may ask its source of choices, and what it may report to it, with the checks of the arguments


_Check = Callable[[Value], bool]


def _whole(low: int | None = None, high: int | None = None) -> _Check:
    """Return the check of an integer from ``low`` to ``high``, with None for no bound."""
    return lambda value: type(value) is int and (low is None or low <= value) and (high is None or value <= high)


def _is_number(value: Value) -> bool:
    return type(value) in (int, float)


def _is_bound(value: Value) -> bool:
    return value is None or type(value) is int


def _is_alphabet(value: Value) -> bool:
    return type(value) is bytes and len(value) <= TRACEBACK_CHARS_MAX and len(value) % 8 == 0


def _is_choice(value: Value) -> bool:
    if type(value) is int:
        return value.bit_length() <= SIZE_MAX
    return value is not None and (not isinstance(value, (str, bytes)) or len(value) <= SIZE_MAX)


_INTEGER, _LEAST, _WIDE = _whole(), _whole(0, SIZE_MAX), _whole(-WIDE_MAX, WIDE_MAX)
QUERIES: dict[str, tuple[_Check, ...]] = {
    "boolean": (_is_number,),
    "integer": (_INTEGER, _INTEGER, _INTEGER),
    "position": (_whole(1),),
    "real": (_is_number, _is_number, lambda value: type(value) is bool, _is_number),
    "text": (_is_alphabet, _LEAST, _INTEGER),
    "bytes": (_LEAST, _INTEGER),
    "open_integer": (_is_bound, _is_bound, _INTEGER),
    "wide_integer": (_WIDE, _WIDE, _WIDE),
    "recorded": (_whole(0, 4),),
    "raw_unit": (),
    "raw_bits": (),
    "raw_below": (_whole(1),),
}
NOTIFICATIONS: dict[str, tuple[_Check, ...]] = {
    "begin_argument": (_whole(0, 2**32 - 1),),
    "misalign": (),
    "note_integer": (_INTEGER, _INTEGER, _INTEGER),
    "put": (_is_choice,),
    "set_producer": (_whole(-1, 2**63 - 1),),
    "magnitude": (_whole(0, 2**63 - 1), _is_number),
}


def checked_call(table: dict[str, tuple[_Check, ...]], values: list[Value]) -> tuple[str, list[Value]]:
    """Return the name and the arguments of a message to the source of choices."""
    name, *arguments = values or [None]
    checks = table.get(name) if isinstance(name, str) else None
    if checks is None or len(arguments) != len(checks):
        raise RefusedError(f"{str(name)[:40]!r} with {len(arguments)} values is not a request of a run")
    for value, check in zip(arguments, checks, strict=True):
        if not check(value):
            raise RefusedError(f"{name!r} got a {type(value).__name__} that it does not accept")
    assert isinstance(name, str)
    return name, arguments


class Seen(msgspec.Struct, frozen=True):
    """What a process saw since its last message.

    ``record`` is its monitor's, ``properties`` a snapshot of a tracker, and ``sizes`` are the sizes of the bundles;
    ``events`` and ``targets`` are what the run passed to Hypothesis, from its start. ``interleaved`` is what was new in
    the order of its tasks.
    """

    record: bytes
    properties: dict[str, list[dict[str, Any]]]
    sizes: dict[str, int]
    events: dict[str, str]
    targets: dict[str, float]
    interleaved: list[int]

    def take_interleaved(self) -> list[int]:
        """Return what was new in the order of the machine's tasks."""
        return self.interleaved


class ForkedRunResult(msgspec.Struct, frozen=True):
    """How a run in a child process ended. Its error stays there; only its names are known here.

    ``raised`` is true for a run that ended with an exception that should not end one.
    """

    outcome: Outcome
    raised: bool
    bucket: str
    error_type: str
    error_text: str
    traceback: str


SEEN_KINDS = (bytes, str)
#: The fields of ``Seen`` besides its record, and what the run warns of.
_Noted = tuple[
    dict[str, list[dict[str, Any]]],
    dict[str, Annotated[int, Meta(ge=0, lt=2**31)]],
    dict[str, str],
    dict[str, float],
    list[Annotated[int, Meta(ge=0)]],
    list[str],
]
_ENDING = (str, int, str, bool, str, str, str, str)


def values_of_ending(outcome: Outcome, raised: bool, bucketer: Bucketer) -> tuple[Value, ...]:
    error = outcome.error
    if error is None:
        return outcome.status.value, outcome.steps, outcome.stuck, raised, "", "", "", ""
    return (
        outcome.status.value,
        outcome.steps,
        outcome.stuck,
        raised,
        bucketer.bucket(error, outcome.broken_by)[:TRACEBACK_CHARS_MAX],
        type_name(type(error)),
        error_message(error)[:TRACEBACK_CHARS_MAX],
        traceback_text(error)[:TRACEBACK_CHARS_MAX],
    )


def ending_of(values: list[Value]) -> tuple[ForkedRunResult, Seen]:
    status, steps, stuck, raised, bucket, error_type, text, traceback, *rest = typed(values, *_ENDING, *SEEN_KINDS)
    outcome = Outcome(Status(status), steps, None, stuck)
    is_named = bool(bucket and error_type) and "\0" not in error_type and error_type.isprintable()
    if not 0 <= steps <= SAID_MAX or (outcome.status is Status.FAILED and not is_named):
        raise RefusedError(f"it ended as {status} in bucket {bucket[:40]!r}, with {error_type[:40]!r}")
    if max(map(len, (stuck, bucket, error_type, text, traceback))) > TRACEBACK_CHARS_MAX:
        raise RefusedError(f"an ending has a text of more than {TRACEBACK_CHARS_MAX} characters")
    return ForkedRunResult(outcome, raised, bucket, error_type, text, traceback), seen_of(rest)


def seen_of(values: list[Any]) -> Seen:
    record, text = values
    try:
        # The decoder of msgspec refuses half of a pair of surrogates, which names may hold.
        properties, sizes, events, targets, orders, warned = msgspec.convert(json.loads(text), _Noted)
        seen = Seen(record, properties, sizes, events, targets, orders)
        if not all(map(math.isfinite, seen.targets.values())):
            raise ValueError("a target is not finite")
        for each in warned:
            outside.warn(each[:TRACEBACK_CHARS_MAX])
        return seen
    except (ValueError, RecursionError) as error:
        raise ChannelError(f"what a run has seen is damaged: {error}") from error


def typed(values: list[Value], *kinds: type) -> list[Any]:
    """Return the values, after checking that they are of these kinds."""
    found = tuple(type(value) for value in values)
    if found != kinds:
        raise ChannelError(f"a message holds {found}, not {kinds}")
    return values
