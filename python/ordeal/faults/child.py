"""Child processes under a fault: classes that replace ``subprocess.Popen`` while one is on."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ordeal.faults.attributes import Wrap

# No process can have this number, so a signal to the child reaches nobody.
_NO_PROCESS = 2**31 - 1

Output = str | bytes | None


def command_text(command: Any) -> str:
    """The command given to ``subprocess`` as one line of text."""
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
                self.args, self.pid, self.returncode = args, _NO_PROCESS, ending.returncode
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
