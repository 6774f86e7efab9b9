"""Child processes that run to their end: ``subprocess.run`` and what calls it, and ``os.system``."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import threading
from pathlib import PurePath
from typing import Any

from ordeal.simulate.errors import RecordError
from ordeal.simulate.outside.declared import words_of
from ordeal.simulate.recorded.record_file import Reply, to_bytes, to_text
from ordeal.simulate.recorded.recording import current
from ordeal.simulate.replacement import BoundPlaces

__tracebackhide__ = True
PIPE = subprocess.PIPE
_REAL_RUN: Any = subprocess.run
_REAL_SYSTEM = os.system
_real = threading.local()


class _Process(subprocess.Popen[Any]):
    """A process that only ``run`` starts: what a program exchanges with one while it runs is not recorded."""

    def __init__(self, args: Any, *more: Any, **options: Any) -> None:
        if current("process") is not None and not getattr(_real, "is_asked", False):
            raise RecordError(
                f"`{command_line(args):.100}` is started with Popen, and only processes that end are recorded",
                hint="use subprocess.run, in a coroutine by `await asyncio.to_thread(subprocess.run, ...)`",
            )
        super().__init__(args, *more, **options)


def _run(args: Any, *more: Any, input: Any = None, check: bool = False, **options: Any) -> Any:  # noqa: A002
    """Stand for ``subprocess.run``."""
    recording = current("process")
    if recording is None:
        return _REAL_RUN(args, *more, input=input, check=check, **options)
    layer = {name: options.pop(name, None) for name in ("encoding", "errors", "text", "universal_newlines")}
    captures = options.pop("capture_output", False)
    to: list[Any] = [PIPE if captures else options.pop(name, None) for name in ("stdout", "stderr")]
    given = input.encode(layer["encoding"] or "utf-8", layer["errors"] or "strict") if isinstance(input, str) else input
    folder, timeout = options.get("cwd"), options.get("timeout")
    parts = {"arguments": command_line(args), "stdin": to_text(given or b""), "folder": str(folder or "")}
    recording.learn(options.get("env") or {})
    asked = recording.ask("process", parts)
    if asked.is_served:
        if asked.entry.error is not None and asked.entry.error.type == "subprocess.TimeoutExpired":
            raise subprocess.TimeoutExpired(args, timeout or 0.0)
        reply = asked.answer()
    else:
        is_kept = [where is not None and where not in (subprocess.STDOUT, subprocess.DEVNULL) for where in to]
        out, err = (PIPE if kept else where for where, kept in zip(to, is_kept, strict=True))
        try:
            _real.is_asked = True
            done = _REAL_RUN(args, *more, input=given, stdout=out, stderr=err, **options)
        except BaseException as error:
            asked.fail(error)
            raise
        finally:
            _real.is_asked = False
        texts = [to_text(each or b"") for each in (done.stdout, done.stderr)]
        reply = asked.reply(Reply(done.returncode, body=texts[0], stderr=texts[1]))
    printed: list[Any] = [None, None]
    for place, text in enumerate((reply.body, reply.stderr)):
        content = to_bytes(text)
        if to[place] == PIPE:
            is_text = any(layer.values())
            printed[place] = (
                io.TextIOWrapper(io.BytesIO(content), layer["encoding"], layer["errors"]).read() if is_text else content
            )
        elif content:  # a file of the program
            os.write(to[place] if isinstance(to[place], int) else to[place].fileno(), content)
    result = subprocess.CompletedProcess(args, reply.status, *printed)
    if check:
        result.check_returncode()
    return result


def _call(*args: Any, **options: Any) -> int:
    return int(_run(*args, **options).returncode)


def _check_call(*args: Any, **options: Any) -> int:
    return int(_run(*args, check=True, **options).returncode)


def _system(command: Any) -> int:
    if current("process") is None:
        return _REAL_SYSTEM(command)
    code = _call(command, shell=True)
    return code << 8 if code >= 0 else -code


def command_line(arguments: Any) -> str:
    """Return a command as it is recorded: a text as it is, and in a list the program by its name."""
    if isinstance(arguments, str):
        return arguments
    words = words_of(arguments) or [""]
    return shlex.join([PurePath(words[0]).name, *words[1:]])


_PLACES = BoundPlaces(
    {
        (subprocess, "Popen"): _Process,
        (subprocess, "run"): _run,
        (subprocess, "call"): _call,
        (subprocess, "check_call"): _check_call,
        (os, "system"): _system,
    }
)
patches = _PLACES.in_place
