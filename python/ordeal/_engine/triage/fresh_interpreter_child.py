"""The program that ``fresh_interpreter`` starts: replays each trace in a fork, before anything of the user's ran.

It reads a line with the settings, then one for each trace, and writes a line for each trace.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import msgspec

import ordeal._native as _native
from ordeal._base.interpreter import private_streams
from ordeal._base.memory_limit import limited_memory
from ordeal._base.trace_file import Trace
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.execution.bucket import Bucketer, is_in_bucket
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.isolation.child import Limits, call_in_fork, can_supervise
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.rerun import ReplayStatus
from ordeal._hypothesis import GlobalRandoms
from ordeal.errors import OrdealError

#: After this many that do not end, the others would not end either.
HANGING_MAX = 3
REASON_CHARS_MAX = 500

Answer = dict[str, str]
GIVEN_UP: Answer = {"reason": "others before it took too long"}


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """What all replays share: see ``FreshInterpreter``. ``parent`` is the id of the requesting process."""

    arguments: list[str]
    target_modules: list[str]
    rule_timeout: float
    seconds: float
    parent: int


class _ReplayRequest(msgspec.Struct):
    """A trace as a record, and whether a rule has taken its full limit in it before."""

    trace: dict[str, Any]
    hung: bool


def main(path: Sequence[str]) -> None:
    """Answer all requests. ``path`` is the module search path."""
    requests, answers = private_streams(0, 1)
    settings = ReplaySettings(**json.loads(requests.readline()))
    sys.path[:] = path
    sys.argv[:] = settings.arguments
    # Once nobody is left to read the answers, this ends, and the reaper of its fork with it.
    _native.die_with(settings.parent, group=True)
    hanging = 0
    for number, line in enumerate(requests):
        answer = GIVEN_UP
        if hanging < HANGING_MAX:
            answer, is_late = _replay_apart(line, settings)
            hanging += is_late
        answers.write(json.dumps({**answer, "number": number}).encode() + b"\n")
        answers.flush()


def _replay_apart(line: bytes, settings: ReplaySettings) -> tuple[Answer, bool]:
    """Return the answer of a fork, and True if it took too long. Without forks, this process has one request alone."""
    if not can_supervise():
        return _replay(line, settings), False
    called = call_in_fork(lambda: json.dumps(_replay(line, settings)), settings.seconds, Limits())
    if called.is_late:
        return {"reason": f"it took longer than {settings.seconds:g} s"}, True
    return json.loads(str(called.answer)) if called.answer else {"reason": "it ended without an answer"}, False


def _replay(line: bytes, settings: ReplaySettings) -> Answer:
    # The decoder of msgspec refuses half of a pair of surrogates, which messages may hold.
    request = msgspec.convert(json.loads(line), _ReplayRequest)
    try:
        return {"status": _status(Trace.from_dict(request.trace), settings, hung=request.hung).value}
    except OrdealError as error:
        return {"reason": error.message[:REASON_CHARS_MAX]}


def _status(trace: Trace, settings: ReplaySettings, *, hung: bool) -> ReplayStatus:
    """Compare a replay with its trace, with the exploration's targets and limit for rules."""
    trust(trace.test_class)  # the class of the exploration that asks
    driver = make_driver(load_class(trace.test_class), settings.rule_timeout)
    resolve_targets(settings.target_modules)
    randoms = GlobalRandoms()
    with randoms.managed(), driver.watching(), limited_memory(trace.max_memory):
        replayer = Replayer(driver, Bucketer([]), randoms)
        with replayer.glancing() if hung else nullcontext():
            replayed = replayer.run(tape_of(trace, driver))
    error = replayed.outcome.error
    if not replayed.bucket or error is None:
        return ReplayStatus.NOT_REPRODUCED
    bucket = trace.failure.bucket if trace.failure is not None else ""
    return ReplayStatus.REPRODUCED if is_in_bucket(error, bucket, replayed.bucket) else ReplayStatus.FAILS_DIFFERENTLY
