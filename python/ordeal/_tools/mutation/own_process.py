"""A separate interpreter for each judge: starts it, reads its answers, and sets it up."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ordeal._base.interpreter import start
from ordeal._base.limits import PART_BYTES
from ordeal._native import monotonic
from ordeal._tools.mutation.forks import Message, Say, out_of_the_way
from ordeal._tools.mutation.sandbox import NoVerdictError, Sandbox, end_all, enter


class Refused(Exception):  # noqa: N818 - it is an answer: no verdict is possible
    """No verdict is possible, and why."""


@contextmanager
def judging(module: str, order: bytes, here: Sandbox, until: float | None = None) -> Iterator[Iterator[Message]]:
    """Run a module as a judge in a sandbox, and yield its answers to an order. It ends with the block or this process.

    Leaving the block before all answers have come, as on Ctrl-C, does not wait.

    At the time ``until`` of the monotonic clock its answers end.

    Raises:
        NoVerdictError: it refuses to judge; the answers raise this.
    """
    path = here.place / "order.json"
    path.write_bytes(order)
    answered, there = os.pipe()
    command = [sys.executable, "-m", module, str(path), str(there), str(os.getpid()), str(here)]
    process = start(command, stderr=None, folder=Path(here.folder), environment=here.environment(), pass_fds=(there,))
    os.close(there)

    def wait() -> None:
        if until is None or monotonic() < until:
            with suppress(subprocess.TimeoutExpired):
                process.wait(5)

    def answers() -> Iterator[Message]:
        for message in _messages(answered, process.pid, until):
            if "refused" in message:
                why, *more = map(str, message["refused"])
                hint = next((each.strip().splitlines()[-1] for each in more if each.strip()), None)
                raise NoVerdictError(why, hint=hint)
            yield message
        # After all answers, the caller may ask for the resources that the process used.
        wait()

    try:
        yield answers()
    finally:
        end_all(process)
        os.close(answered)


def begun() -> tuple[bytes, Say]:
    """Begin as a judge: end with the process that asked, print nothing. Return the order, and what sends an answer."""
    order, answers = Path(sys.argv[1]).read_bytes(), out_of_the_way(int(sys.argv[2]))
    enter(sys.argv[4], int(sys.argv[3]))
    sys.dont_write_bytecode = True
    send_output_to(os.devnull)

    def say(message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        while data:
            data = data[os.write(answers, data) :]

    return order, say


def send_output_to(path: str) -> None:
    """Have what this process writes from now on go to a file that is there."""
    opened = os.open(path, os.O_WRONLY | os.O_APPEND)
    for each in (1, 2):
        os.dup2(opened, each)
    if opened > 2:
        os.close(opened)


def _messages(pipe: int, pid: int, until: float | None) -> Iterator[Message]:
    """Yield the messages of a process until it ends: processes that it left behind may keep the pipe open."""
    rest, handle = b"", os.pidfd_open(pid)
    try:
        while True:
            left = None if until is None else max(0.0, min(until - monotonic(), threading.TIMEOUT_MAX))
            ready = select.select([pipe, handle], [], [], left)[0]
            if pipe not in ready or not (part := os.read(pipe, PART_BYTES)):
                return
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                message = json.loads(line)
                if isinstance(message, dict):
                    yield message
    finally:
        os.close(handle)
