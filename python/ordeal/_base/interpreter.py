"""Asks a fresh interpreter, which imports anew what it needs and is gone with all that it started when it has answered.

This process runs no code of the user's: it sends a request and takes bytes, with limits of time and size.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ordeal._native import monotonic


def start_code(module: str, call: str = "main()") -> str:
    """Return the program for ``python -c`` that calls a function of ``module``; its arguments are where to look for it.

    The collector of garbage waits until all is imported: it would look through modules again and again, a seventh of
    the time of a start.
    """
    imported = f"from {module} import {call.partition('(')[0]}"
    return f"import gc, sys; gc.disable(); sys.path += sys.argv[1:]; {imported}; gc.freeze(); gc.enable(); {call}"


def answer_of(module: str, request: Mapping[str, Any], *, seconds: float, bytes_max: int) -> bytes:
    """Return what ``main`` of ``module`` writes when it is sent ``request``, a line of JSON.

    Raises:
        ValueError: there is no answer in time, or it is too long.
        OSError: the process cannot be started.
    """
    options = ["-O"] * sys.flags.optimize
    process = subprocess.Popen(
        [sys.executable, *options, "-B", "-P", "-c", start_code(module), *map(str, sys.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    answer = finish(process, json.dumps(request).encode() + b"\n", seconds=seconds, bytes_max=bytes_max)
    if not answer or len(answer) > bytes_max:
        raise ValueError("its process ended without an answer" if not answer else "its answer is too long")
    return answer


def finish(process: subprocess.Popen[bytes], given: bytes, *, seconds: float, bytes_max: int) -> bytes:
    """Return what a process writes, as far as that is allowed, and end it with all that it started."""
    stream = process.stdout or process.stderr
    assert stream is not None
    deadline, parts, size = monotonic() + seconds, list[bytes](), 0
    try:
        if process.stdin is not None:
            process.stdin.write(given)
            process.stdin.close()
        while size <= bytes_max:
            left = deadline - monotonic()
            if left <= 0 or not select.select([stream], [], [], left)[0]:
                break
            part = os.read(stream.fileno(), 2**16)
            if not part:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, deadline - monotonic()))
                break
            parts.append(part)
            size += len(part)
    except BrokenPipeError:
        pass  # it ended without reading
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for each in (process.stdin, process.stdout, process.stderr):
            if each is not None:
                with suppress(BrokenPipeError):
                    each.close()
    return b"".join(parts)
