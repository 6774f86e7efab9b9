"""Faults of input and output: failing calls, damaged results, full disks, missing permissions, broken children."""

from __future__ import annotations

import errno
import functools
import io
import os
import signal
import stat
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ordeal.faults.arguments import (
    check_command,
    check_count,
    check_error,
    check_fraction,
    check_output,
    check_seconds,
    check_text,
)
from ordeal.faults.attributes import Wrap
from ordeal.faults.call_faults import CallFault
from ordeal.faults.fault import MultiPatchFault, made_again
from ordeal.faults.randomness import fault_bytes

Output = str | bytes | None


def command_text(command: Any) -> str:
    """Return the command given to ``subprocess`` as one line of text."""
    if isinstance(command, (str, bytes, os.PathLike)):
        return os.fsdecode(command)
    return " ".join(os.fsdecode(part) for part in command)


@dataclass(frozen=True)
class Ending:
    """How a child that never ran has ended: its return code (negative: the signal) and its output."""

    returncode: int
    stdout: Output = None
    stderr: Output = None


def finished(text: str, ending: Ending, strike: Callable[[], int]) -> Wrap:
    """Wrap a ``Popen`` class: a command with ``text`` in it starts nothing and seems to have ended in that way.

    Its output is available from the streams that the caller asked to read through a pipe.
    """

    def wrap(popen: Any) -> Any:
        class FinishedPopen(popen):  # type: ignore[misc]
            """A ``Popen`` whose matching children have ended before they began."""

            _is_synthetic = False

            def __init__(self, args: Any, *rest: Any, **options: Any) -> None:
                if text not in command_text(args) or not strike():
                    super().__init__(args, *rest, **options)
                    return
                self._is_synthetic = True
                # No process can have this number, so a signal to the child reaches none.
                self.args, self.pid, self.returncode = args, 2**31 - 1, ending.returncode
                self.stdin, self.stdout, self.stderr = _open_streams(ending, options)

            def communicate(self, input: Any = None, timeout: float | None = None) -> Any:  # noqa: A002
                if not self._is_synthetic:
                    return super().communicate(input, timeout)
                return tuple(stream and stream.read() for stream in (self.stdout, self.stderr))

            def poll(self) -> Any:
                return self.returncode if self._is_synthetic else super().poll()

            def wait(self, timeout: float | None = None) -> Any:
                return self.returncode if self._is_synthetic else super().wait(timeout)

            def send_signal(self, sig: int) -> None:
                if not self._is_synthetic:
                    super().send_signal(sig)

        return _named_like(popen, FinishedPopen)

    return wrap


def changed_output(
    text: str,
    strike: Callable[[], int],
    *,
    stdout: Callable[[Any], Any] | None = None,
    stderr: Callable[[Any], Any] | None = None,
) -> Wrap:
    """Wrap a ``Popen`` class: change what ``communicate`` returns for a command with ``text`` in it.

    ``subprocess.run`` and ``check_output`` read through ``communicate`` as well.
    """

    def wrap(popen: Any) -> Any:
        class ChangedPopen(popen):  # type: ignore[misc]
            """A ``Popen`` that changes the output of its matching children."""

            def communicate(self, input: Any = None, timeout: float | None = None) -> Any:  # noqa: A002
                out, err = super().communicate(input, timeout)
                if text not in command_text(self.args) or not strike():
                    return out, err
                return stdout(out) if stdout else out, stderr(err) if stderr else err

        return _named_like(popen, ChangedPopen)

    return wrap


def _named_like(original: Any, replacement: Any) -> Any:
    replacement.__name__, replacement.__qualname__ = original.__name__, original.__qualname__
    replacement.__module__ = original.__module__
    return replacement


def _open_streams(ending: Ending, options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the three streams that ``Popen`` offers to its caller, ``None`` for those that are not pipes."""
    is_text = any(options.get(name) for name in ("text", "universal_newlines", "encoding", "errors"))
    encoding, errors = options.get("encoding") or "utf-8", options.get("errors") or "strict"
    out, err = _as_bytes(ending.stdout), _as_bytes(ending.stderr)
    if options.get("stderr") == subprocess.STDOUT:
        out += err
    streams = []
    for name, content in (("stdin", b""), ("stdout", out), ("stderr", err)):
        raw = io.BytesIO(content)
        stream: Any = io.TextIOWrapper(raw, encoding=encoding, errors=errors) if is_text else raw
        streams.append(stream if options.get(name) == subprocess.PIPE else None)
    return streams[0], streams[1], streams[2]


def _as_bytes(output: Output) -> bytes:
    return output.encode() if isinstance(output, str) else output or b""


__all__ = [
    "corrupt_output",
    "corrupt_stdout",
    "disk_full",
    "error_on_call",
    "permission_denied",
    "return_empty",
    "subprocess_delay",
    "subprocess_exit",
    "subprocess_signal",
    "subprocess_timeout",
    "subprocess_truncate_stderr",
    "subprocess_truncate_stdout",
    "truncate_output",
]


@made_again
def error_on_call(target: str, error: type[Exception] = OSError, message: str = "Simulated I/O error") -> CallFault:
    """Make calls of ``target`` raise ``error(message)``.

    Raises FaultError if ``error`` is not a class of exceptions that take a text, or ``message`` is not a text.
    """
    check_error("error_on_call", error)
    check_text("error_on_call", "message", message)

    def fail(_number: int) -> None:
        raise error(message)

    return CallFault(target, f"error_on_call({target})", before=fail)


@made_again
def return_empty(target: str) -> CallFault:
    """Make calls of ``target`` do nothing and return ``None``."""
    return CallFault(target, f"return_empty({target})", answer=lambda: None)


@made_again
def corrupt_output(target: str) -> CallFault:
    """Replace a ``bytes`` or ``str`` result of ``target`` by random content of the same length."""
    fault: CallFault = CallFault(target, f"corrupt_output({target})", after=lambda result: _corrupt(result, fault))
    return fault


@made_again
def truncate_output(target: str, fraction: float = 0.5) -> CallFault:
    """Return only the first ``fraction`` of a ``bytes``, ``str``, ``list`` or ``tuple`` result of ``target``.

    Raises FaultError when ``fraction`` is not between 0 and 1.
    """
    cut = _cutter("truncate_output", fraction)
    return CallFault(target, f"truncate_output({target}, {fraction})", after=cut)


@made_again
def disk_full() -> MultiPatchFault:
    """Fill the disk, for the whole process: opening a file to write it, and writing to one, raises OSError (ENOSPC).

    It acts on ``open`` in the modes ``w``, ``a`` and ``x`` (also as ``Path.open`` and ``Path.write_text``) and on
    ``os.write`` to regular files; pipes, sockets and terminals need no disk.
    """
    fault: MultiPatchFault

    def refuse(path: Any) -> None:
        if fault.strike():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    def wrap_write(original: Any) -> Any:
        @functools.wraps(original)
        def write(fd: int, data: Any, /) -> int:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                refuse(None)
            written: int = original(fd, data)
            return written

        return write

    opening = _refuse_writers(refuse)
    fault = MultiPatchFault("disk_full", [("builtins.open", opening), ("io.open", opening), ("os.write", wrap_write)])
    return fault


@made_again
def permission_denied() -> MultiPatchFault:
    """Forbid writing, for the whole process: opening in a mode ``w``, ``a`` or ``x`` raises PermissionError."""
    fault: MultiPatchFault

    def refuse(path: Any) -> None:
        if fault.strike():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    opening = _refuse_writers(refuse)
    fault = MultiPatchFault("permission_denied", [("builtins.open", opening), ("io.open", opening)])
    return fault


@made_again
def subprocess_timeout(target: str, *, timeout_sec: float = 0.001) -> MultiPatchFault:
    """Make ``subprocess.run`` raise ``subprocess.TimeoutExpired`` at once for a command with ``target`` in its text.

    ``timeout_sec``, in seconds, only appears in the error. Raises FaultError when ``timeout_sec`` is negative, or the
    target is not a text.
    """
    check_command("subprocess_timeout", target)
    check_seconds("subprocess_timeout", "timeout_sec", timeout_sec)
    fault: MultiPatchFault

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def run(*args: Any, **options: Any) -> Any:
            if _is_meant(target, args, options) and fault.strike():
                raise subprocess.TimeoutExpired(_command(args, options), timeout_sec)
            return original(*args, **options)

        return run

    fault = MultiPatchFault(f"subprocess_timeout({target!r})", [("subprocess.run", wrap)])
    return fault


@made_again
def subprocess_exit(
    target: str, *, returncode: int = 1, stdout: Output = None, stderr: Output = None
) -> MultiPatchFault:
    """Do not run a command with ``target`` in its text.

    It appears to have ended with ``returncode``, ``stdout`` and ``stderr``.

    It acts on everything in ``subprocess``. The output is there for streams that are read through a pipe. Raises
    FaultError for arguments of other types.
    """
    _check_ending("subprocess_exit", target, stdout, stderr)
    check_count("subprocess_exit", "returncode", returncode)
    ending = Ending(returncode, stdout, stderr)
    return _popen_fault(
        f"subprocess_exit({target!r}, returncode={returncode})", lambda strike: finished(target, ending, strike)
    )


@made_again
def subprocess_signal(
    target: str, *, signum: int = signal.SIGTERM, stdout: Output = None, stderr: Output = None
) -> MultiPatchFault:
    """Do not run a command with ``target`` in its text; it appears to have been killed by the signal ``signum``.

    ``stdout`` and ``stderr`` are what it printed before. Raises FaultError when the signal does not exist, or for
    arguments of other types.
    """
    _check_ending("subprocess_signal", target, stdout, stderr)
    check_count("subprocess_signal", "signum", signum, least=1)
    ending = Ending(-int(signum), stdout, stderr)
    return _popen_fault(
        f"subprocess_signal({target!r}, signum={int(signum)})", lambda strike: finished(target, ending, strike)
    )


@made_again
def subprocess_truncate_stdout(target: str, fraction: float = 0.5) -> MultiPatchFault:
    """Cut the captured output of a command with ``target`` in its text to its first ``fraction``.

    Raises FaultError when ``fraction`` is not between 0 and 1.
    """
    check_command("subprocess_truncate_stdout", target)
    cut = _cutter("subprocess_truncate_stdout", fraction)
    return _popen_fault(
        f"subprocess_truncate_stdout({target!r}, {fraction})",
        lambda strike: changed_output(target, strike, stdout=cut),
    )


@made_again
def subprocess_truncate_stderr(target: str, fraction: float = 0.5) -> MultiPatchFault:
    """Cut the captured errors of a command with ``target`` in its text to their first ``fraction``.

    Raises FaultError when ``fraction`` is not between 0 and 1.
    """
    check_command("subprocess_truncate_stderr", target)
    cut = _cutter("subprocess_truncate_stderr", fraction)
    return _popen_fault(
        f"subprocess_truncate_stderr({target!r}, {fraction})",
        lambda strike: changed_output(target, strike, stderr=cut),
    )


@made_again
def corrupt_stdout(target: str) -> MultiPatchFault:
    """Replace the captured output of a command with ``target`` in its text by random bytes of the same length.

    Raises FaultError when the target is not a text.
    """
    check_command("corrupt_stdout", target)
    fault: MultiPatchFault = _popen_fault(
        f"corrupt_stdout({target!r})",
        lambda strike: changed_output(target, strike, stdout=lambda output: _corrupt(output, fault)),
    )
    return fault


@made_again
def subprocess_delay(target: str, *, delay: float = 1.0) -> MultiPatchFault:
    """Make ``subprocess.run`` return ``delay`` seconds after the end of a command with ``target`` in its text.

    Raises FaultError when ``delay`` is negative, or the target is not a text.
    """
    check_command("subprocess_delay", target)
    check_seconds("subprocess_delay", "delay", delay)
    fault: MultiPatchFault

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def run(*args: Any, **options: Any) -> Any:
            completed = original(*args, **options)
            if _is_meant(target, args, options) and fault.strike():
                time.sleep(delay)
            return completed

        return run

    fault = MultiPatchFault(f"subprocess_delay({target!r})", [("subprocess.run", wrap)])
    return fault


def _check_ending(factory: str, target: str, stdout: Output, stderr: Output) -> None:
    check_command(factory, target)
    check_output(factory, "stdout", stdout)
    check_output(factory, "stderr", stderr)


def _popen_fault(name: str, make_wrap: Callable[[Callable[[], int]], Callable[[Any], Any]]) -> MultiPatchFault:
    def wrap(popen: Any) -> Any:
        return make_wrap(fault.strike)(popen)

    fault = MultiPatchFault(name, [("subprocess.Popen", wrap)])
    return fault


def _refuse_writers(refuse: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Wrap an ``open``: call ``refuse(path)``, which may raise, for modes that create or extend a file."""

    def wrap(original: Any) -> Any:
        @functools.wraps(original)
        def open_file(file: Any, mode: Any = "r", *args: Any, **options: Any) -> Any:
            if isinstance(mode, str) and set(mode) & set("wax"):
                refuse(os.fspath(file) if isinstance(file, os.PathLike) else file)
            return original(file, mode, *args, **options)

        return open_file

    return wrap


def _command(args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    return args[0] if args else options.get("args", "")


def _is_meant(target: str, args: tuple[Any, ...], options: dict[str, Any]) -> bool:
    return target in command_text(_command(args, options))


def _corrupt(result: Any, fault: MultiPatchFault) -> Any:
    occasion = f"{fault.name} #{fault.observation_hits}"
    if isinstance(result, str):
        return fault_bytes(len(result), occasion=occasion).decode("latin-1")
    if isinstance(result, (bytes, bytearray)):
        return type(result)(fault_bytes(len(result), occasion=occasion))
    return result


def _cutter(factory: str, fraction: float) -> Callable[[Any], Any]:
    check_fraction(factory, fraction)

    def cut(result: Any) -> Any:
        if isinstance(result, (bytes, bytearray, str, list, tuple)):
            count = int(len(result) * fraction)
            return result if count == len(result) else result[:count]
        return result

    return cut
