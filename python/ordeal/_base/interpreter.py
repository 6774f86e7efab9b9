"""A fresh interpreter: what starts one, asks it, and ends it with all that it started; and what it begins with.

Two primitives lead into another process, and a third keeps a state:

* a fresh interpreter, here, for code that must not depend on what this process has loaded or left in memory. The one
  that asks runs no code of the user's: it sends bytes and takes bytes, with limits of time and size.
* a supervised fork, ``_engine.isolation.child``, for code that needs the modules and objects that are loaded here:
  ``call_in_fork`` for one call, ``Child`` for a process that talks for longer.
* the fork server, ``_engine.execution.fork_server``, for runs that start from a state which cannot be copied.

Everything else that needs a process goes through these, so limits and cleaning up are written once.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from ordeal._base.limits import INPUT_BYTES_MAX, KILL_SECONDS, PART_BYTES
from ordeal._native import monotonic


def usable_cpus() -> int:
    """Return how many CPUs this process may run on; a container or ``taskset`` may leave it less than all."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def start(
    command: Sequence[str],
    *,
    pipes: Collection[str] = (),
    stderr: int | IO[bytes] | None = subprocess.DEVNULL,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a command in a new session, so that Ctrl-C does not reach it and ``end`` reaches all that it starts.

    Streams lead nowhere, except ``pipes`` ("stdin", "stdout", "stderr"); None for ``stderr`` is that of this process.
    ``environment`` replaces the environment of this process.

    Raises:
        OSError: the process cannot be started.
    """
    stdin, stdout = (subprocess.PIPE if name in pipes else subprocess.DEVNULL for name in ("stdin", "stdout"))
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE if "stderr" in pipes else stderr,
        cwd=folder,
        env=environment,
        pass_fds=pass_fds,
        start_new_session=True,
    )


def finish(
    process: subprocess.Popen[bytes], given: bytes = b"", *, seconds: float, bytes_max: int = INPUT_BYTES_MAX
) -> tuple[bytes, bytes]:
    """Send ``given``, and return what the process wrote to stdout and stderr until it ended or reached a limit.

    It ends with all that it started, also after an orderly end: what it left behind would keep a pipe or a file.
    """
    deadline, size = monotonic() + seconds, 0
    said: dict[IO[bytes], bytearray] = {stream: bytearray() for stream in (process.stdout, process.stderr) if stream}
    reading, stdin, unsent = list(said), process.stdin, memoryview(given)
    if stdin is not None:
        os.set_blocking(stdin.fileno(), False)
    try:
        while reading and size <= bytes_max and (left := deadline - monotonic()) > 0:
            if stdin is not None and not unsent:
                stdin.close()
                stdin = None
            readable, writable, _ = select.select(reading, [] if stdin is None else [stdin], [], left)
            if stdin is not None and writable:
                try:
                    unsent = unsent[os.write(stdin.fileno(), unsent[:PART_BYTES]) :]
                except BrokenPipeError:  # it ended without reading
                    unsent = memoryview(b"")
            for stream in readable:
                part = os.read(stream.fileno(), PART_BYTES)
                said[stream] += part
                size += len(part)
                if not part:
                    reading.remove(stream)
        if not reading:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, deadline - monotonic()))
    finally:
        end(process)
    out, err = (bytes(said[stream]) if stream else b"" for stream in (process.stdout, process.stderr))
    return out, err


class LineReader:
    """The lines that a process writes to a pipe, as they come.

    Attributes:
        is_over: the pipe has ended, or a line was longer than allowed; nothing more is read.
    """

    def __init__(self, stream: IO[bytes] | None) -> None:
        assert stream is not None
        self._number = stream.fileno()
        self._rest = b""
        self.is_over = False

    def read(self, seconds: float = 0.0) -> list[bytes]:
        """Wait at most ``seconds`` for output, and return the lines that are complete."""
        if self.is_over or not select.select([self._number], [], [], max(0.0, seconds))[0]:
            return []
        part = os.read(self._number, PART_BYTES)
        *lines, self._rest = (self._rest + part).split(b"\n")
        self.is_over = not part or len(self._rest) > PART_BYTES
        return lines


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that ``start`` began with everything in its session's group, and close its pipes."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()  # also where it has not made its session yet
    # One that hangs in a file system that is gone cannot be killed, and is not waited for.
    with suppress(subprocess.TimeoutExpired):
        process.wait(KILL_SECONDS)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def start_code(module: str, call: str = "main()") -> str:
    """Return the program for ``python -c`` that calls a function of ``module``; its arguments are where to look for it.

    The collector of garbage waits until all is imported: it would look through modules again and again, a seventh of
    the time of a start.
    """
    imported = f"from {module} import {call.partition('(')[0]}"
    return f"import gc, sys; gc.disable(); sys.path += sys.argv[1:]; {imported}; gc.freeze(); gc.enable(); {call}"


def answer_of(
    module: str,
    request: Mapping[str, Any],
    *,
    seconds: float,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> bytes:
    """Return what ``main`` of ``module`` writes when it is sent ``request``, a line of JSON.

    Raises:
        ValueError: no answer came in time, or it is too long.
        OSError: the process cannot be started.
    """
    options = ["-O"] * sys.flags.optimize
    command = [sys.executable, *options, "-B", "-P", "-c", start_code(module), *map(str, sys.path)]
    process = start(command, pipes=("stdin", "stdout"), folder=folder, environment=environment)
    whole = {"path": list(map(str, sys.path)), "arguments": list(sys.argv), **request}
    answer, _ = finish(process, json.dumps(whole).encode() + b"\n", seconds=seconds)
    if not answer or len(answer) > INPUT_BYTES_MAX:
        raise ValueError("its process ended without an answer" if not answer else "its answer is too long")
    return answer


def run_module(
    module: str,
    arguments: Sequence[str],
    *,
    folder: Path,
    seconds: float,
    paths: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
) -> tuple[bytes, bytes]:
    """Return what ``python -m module`` printed to stdout and stderr; ``paths`` come first on its module search path."""
    values = {**os.environ, **(environment or {})}
    values["PYTHONPATH"] = os.pathsep.join(filter(None, [*map(str, paths), values.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", module, *arguments]
    return finish(start(command, pipes=("stdout", "stderr"), folder=folder, environment=values), seconds=seconds)


def private_streams(*closed: int) -> tuple[BinaryIO, BinaryIO]:
    """In the new interpreter: return the streams for requests and answers, out of reach for code that prints or reads.

    The descriptors ``closed`` lead nowhere from then on.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in closed:
        os.dup2(nothing, stream)
    os.close(nothing)
    return requests, answers


def take_request() -> tuple[dict[str, Any], BinaryIO]:
    """In the new interpreter: return the request of ``answer_of`` and where its answer is written.

    Modules are found as its sender finds them, and the command line is the same, unless the request has another
    ``path`` or other ``arguments``.
    """
    requests, answers = private_streams(0, 1, 2)
    request: dict[str, Any] = json.loads(requests.readline())
    sys.path[:] = request["path"]
    sys.argv[:] = request["arguments"]
    return request, answers


def send_and_exit(answers: BinaryIO) -> None:
    """Send what was written and end the process, waiting for no exit handlers or threads of the code under test."""
    answers.flush()
    os._exit(0)
