"""The program that ``fresh_interpreter`` starts: replays each trace in a fork, before anything of the user's ran.

It reads a line with the settings, then one for each trace, and writes a line for each trace.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from time import sleep
from typing import Any, BinaryIO

import msgspec

from ordeal._base.memory_limit import limited_memory
from ordeal._base.trace_file import Trace
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.execution.bucket import Bucketer, is_in_bucket
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.isolation.answering import private_streams
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.replay.rerun import ReplayStatus
from ordeal._hypothesis import GlobalRandoms
from ordeal._native import monotonic
from ordeal.errors import OrdealError

#: How often to check whether a replay has ended.
POLL_SECONDS = 0.01
#: After this many that do not end, the others would not end either.
HANGING_MAX = 3
#: What a pipe holds without a reader.
ANSWER_BYTES_MAX = 4_096
REASON_CHARS_MAX = 500

Answer = dict[str, str]
GIVEN_UP: Answer = {"reason": "others before it took too long"}


@dataclass(frozen=True, slots=True)
class Settings:
    """What all replays share: see ``FreshInterpreter``. ``parent`` is the id of the requesting process."""

    arguments: list[str]
    target_modules: list[str]
    rule_timeout: float
    seconds: float
    parent: int


class _Request(msgspec.Struct):
    """A trace as a record, and whether a rule has taken its full limit in it before."""

    trace: dict[str, Any]
    hung: bool


def main(path: Sequence[str]) -> None:
    """Answer all requests. ``path`` is the module search path."""
    requests, answers = private_streams(0, 1)
    settings = Settings(**json.loads(requests.readline()))
    sys.path[:] = path
    sys.argv[:] = settings.arguments
    hanging = 0
    for number, line in enumerate(requests):
        try:
            answer = _replay_apart(line, settings, (requests, answers)) if hanging < HANGING_MAX else GIVEN_UP
        except TimeoutError as error:
            hanging += 1
            answer = {"reason": str(error)}
        answers.write(json.dumps({**answer, "number": number}).encode() + b"\n")
        answers.flush()
    if _leads_group():
        # Everything that the code under test has started ends with this process.
        os.killpg(0, signal.SIGKILL)


def _leads_group() -> bool:
    return hasattr(os, "getpgrp") and os.getpgrp() == os.getpid()


def _replay_apart(line: bytes, settings: Settings, private: Sequence[BinaryIO]) -> Answer:
    """Return the answer of a forked process; without fork() this process has only one request, and answers it."""
    if not hasattr(os, "fork"):
        return _replay(line, settings)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            for stream in private:
                os.close(stream.fileno())
            os.write(writing, json.dumps(_replay(line, settings)).encode())
        finally:
            # Wait neither for exit handlers of the code under test nor for its threads.
            os._exit(0)
    os.close(writing)
    try:
        _wait(child, settings)
        return _read(reading) or {"reason": "it ended without an answer"}
    finally:
        os.close(reading)


def _wait(child: int, settings: Settings) -> None:
    """Wait until the process has ended; end it with TimeoutError if it takes too long."""
    deadline = monotonic() + settings.seconds
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if os.getppid() != settings.parent and _leads_group():
            # Nobody is left to read the answer.
            os.killpg(0, signal.SIGKILL)
        if monotonic() >= deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise TimeoutError(f"it took longer than {settings.seconds:g} s")
        sleep(POLL_SECONDS)


def _read(reading: int) -> Answer:
    """Return the present content of a pipe: processes started by the code under test may keep its other end open."""
    os.set_blocking(reading, False)
    try:
        answer = json.loads(os.read(reading, ANSWER_BYTES_MAX))
    except (BlockingIOError, ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


def _replay(line: bytes, settings: Settings) -> Answer:
    # The decoder of msgspec refuses half of a pair of surrogates, which messages may hold.
    request = msgspec.convert(json.loads(line), _Request)
    try:
        return {"status": _status(Trace.from_dict(request.trace), settings, hung=request.hung).value}
    except OrdealError as error:
        return {"reason": error.message[:REASON_CHARS_MAX]}


def _status(trace: Trace, settings: Settings, *, hung: bool) -> ReplayStatus:
    """Compare a replay with its trace, with the exploration's targets and limit for rules."""
    trust(trace.test_class)  # the class of the exploration that asks
    driver = make_driver(load_class(trace.test_class), settings.rule_timeout)
    resolve_targets(settings.target_modules)
    randoms = GlobalRandoms()
    with randoms.managed(), driver.watchdog.watching(), limited_memory(trace.max_memory):
        replayer = Replayer(driver, Bucketer([]), randoms)
        with replayer.glancing() if hung else nullcontext():
            replayed = replayer.run(tape_of(trace, driver))
    error = replayed.outcome.error
    if not replayed.bucket or error is None:
        return ReplayStatus.NOT_REPRODUCED
    bucket = trace.failure.bucket if trace.failure is not None else ""
    return ReplayStatus.REPRODUCED if is_in_bucket(error, bucket, replayed.bucket) else ReplayStatus.FAILS_DIFFERENTLY
