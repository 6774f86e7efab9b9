"""What ``subprocess.Popen`` is inside of a run: a child process that gives a declared answer while its caller waits."""

from __future__ import annotations

import inspect
import io
import signal
import subprocess
from typing import Any

from ordeal.simulate.outside.commands import Command, Output, command, output

_REAL_POPEN = subprocess.Popen


class SimulatedPopen:
    """A child process that is waited for without an event loop. Its time passes when somebody waits."""

    def __init__(self, loop: Any, args: Any, answer: Any, options: dict[str, Any]) -> None:
        self.args = args
        self.pid = loop.next_pid()
        self.returncode: int | None = None
        self._loop = loop
        self._asked = command(args)
        self._answer = answer
        self._output: Output | None = None
        self._is_text = any(options.get(name) for name in ("text", "universal_newlines", "encoding", "errors"))
        self._pipes = {name: options.get(name) for name in ("stdin", "stdout", "stderr")}
        self._written = io.BytesIO()
        self.stdin: Any = self._file(self._written) if self._pipes["stdin"] == subprocess.PIPE else None

    @property
    def stdout(self) -> Any:
        """What the process prints; reading it waits until it has ended."""
        return self._printed("stdout")

    @property
    def stderr(self) -> Any:
        """What it prints to its standard error."""
        return self._printed("stderr")

    def _printed(self, name: str) -> Any:
        if self._pipes[name] != subprocess.PIPE:
            return None
        known = vars(self).get(f"_{name}")
        if known is None:
            self.wait()
            known = vars(self)[f"_{name}"] = self._file(io.BytesIO(self._bytes(name)))
        return known

    def _file(self, raw: io.BytesIO) -> Any:
        return io.TextIOWrapper(raw, encoding="utf-8", write_through=True) if self._is_text else raw

    def _bytes(self, name: str) -> bytes:
        printed = self._result()
        if name == "stderr":
            return printed.printed(2)
        return printed.printed(1) + (printed.printed(2) if self._pipes["stderr"] == subprocess.STDOUT else b"")

    def _result(self) -> Output:
        if self._output is None:
            written = self._written.getvalue() if not self._written.closed else b""
            asked = Command(self._asked.program, self._asked.arguments, written)
            answer = self._answer(asked) if callable(self._answer) else self._answer
            if inspect.iscoroutine(answer):
                answer.close()
                self._loop.escape(
                    f"{asked.program} is waited for without `await`, and its answer is an `async def` function",
                    "use asyncio.create_subprocess_exec, or declare the answer as a plain function",
                )
            self._output = output(answer)
        return self._output

    def poll(self) -> int | None:
        """Return the exit code; None while the process runs, which it does until somebody waits, if it takes time."""
        if self.returncode is None and not self._result().seconds:
            self.returncode = self._result().code
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended; raises TimeoutExpired if that takes longer than ``timeout``."""
        if self.returncode is None:
            seconds = self._result().seconds
            self._loop.sleep_through(seconds if timeout is None else min(seconds, timeout))
            if timeout is not None and seconds > timeout:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self.returncode = self._result().code
        return self.returncode

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:  # noqa: A002 - as the real one
        """Send ``input``, wait, and return what the process has printed."""
        if input:
            self._written.write(input.encode() if isinstance(input, str) else input)
        self.wait(timeout)
        return tuple(self._all(name) for name in ("stdout", "stderr"))

    def _all(self, name: str) -> Any:
        if self._pipes[name] != subprocess.PIPE:
            return None
        return self._bytes(name).decode() if self._is_text else self._bytes(name)

    def send_signal(self, sig: int) -> None:
        """End the process, if it runs."""
        if self.returncode is None:
            self.returncode = -int(sig)

    def terminate(self) -> None:
        """End the process."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process."""
        self.send_signal(signal.SIGKILL)

    def __enter__(self) -> SimulatedPopen:
        return self

    def __exit__(self, *_: object) -> None:
        if self.returncode is None:
            self.wait()


class PopenType:
    """What ``subprocess.Popen`` is inside of a run: it starts declared programs, and is the real class in all else."""

    def __init__(self, running: Any) -> None:
        """``running()`` returns the loop of the run that the caller belongs to, None if there is none."""
        self._running = running

    def __call__(self, args: Any, *rest: Any, **options: Any) -> Any:
        """Start a process, or what stands for it."""
        loop = None if rest else self._running()
        if loop is not None and loop.world is not None:
            answer = loop.world.programs.find(command(args))
            if answer is not None:
                return SimulatedPopen(loop, args, answer, options)
        return _REAL_POPEN(args, *rest, **options)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, _REAL_POPEN | SimulatedPopen)

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, _REAL_POPEN | SimulatedPopen)

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_REAL_POPEN,)

    def __getitem__(self, item: Any) -> Any:
        return _REAL_POPEN[item]

    def __getattr__(self, name: str) -> Any:
        return getattr(_REAL_POPEN, name)
