"""Child processes inside of a run: none starts, and each gives a declared answer."""

from __future__ import annotations

import asyncio
import contextvars
import signal
import subprocess
from collections.abc import Callable
from functools import partialmethod
from typing import Any

from ordeal.simulate.errors import checked_seconds
from ordeal.simulate.outside.declared import Command, output, said
from ordeal.simulate.runtime.decisions import CUT, PACKET, name_key

_SITE = name_key("process")
_ENDING_SIGNALS = frozenset({signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})


class _Stdin(asyncio.WriteTransport):
    """The pipe to a child process."""

    def __init__(self, process: SimulatedProcess) -> None:
        super().__init__()
        self._process = process
        self._is_closing = False
        self.written = bytearray()

    def write(self, data: Any) -> None:
        """Send bytes to the process."""
        if not self._is_closing:
            self.written += data

    def can_write_eof(self) -> bool:
        """Return True."""
        return True

    def close(self) -> None:
        """Say that nothing more will be written, and close the pipe."""
        if not self._is_closing:
            self._is_closing = True
            self._process.soon(self._process.stdin_closed)

    write_eof = abort = close

    def is_closing(self) -> bool:
        """Return True if the pipe is closed."""
        return self._is_closing


class _Printed(asyncio.ReadTransport):
    """A pipe from a child process. What it prints is there at once, so that nothing is gained by pausing it."""

    def __init__(self, process: SimulatedProcess, number: int) -> None:
        super().__init__()
        self._process = process
        self._number = number
        self._is_closing = False
        self.is_over = False
        """Whether the protocol knows that nothing more comes."""

    def arrive(self, data: bytes) -> None:
        """Take what the process prints."""
        if not self._is_closing:
            self._process.protocol.pipe_data_received(self._number, data)

    def end(self) -> None:
        """Take the end of what it prints."""
        if not self.is_over:
            self.is_over = True
            self._process.protocol.pipe_connection_lost(self._number, None)
            self._process.pipe_ended()

    def close(self) -> None:
        """Read nothing more."""
        if not self._is_closing:
            self._is_closing = True
            self._process.soon(self.end)

    def is_closing(self) -> bool:
        """Return True if the pipe is closed."""
        return self._is_closing


class SimulatedProcess(asyncio.SubprocessTransport):
    """A child process that gives a declared answer."""

    def __init__(self, loop: Any, protocol: Any, asked: Command, answer: Any, pid: int, pipes: tuple[Any, ...]) -> None:
        super().__init__()
        self.protocol = protocol
        self._loop = loop
        self._asked = asked
        self._answer = answer
        self._pid = pid
        self._name = name_key(f"{asked.program} {asked.line}")
        self._context = contextvars.copy_context()
        self._code: int | None = None
        self._has_begun = self._is_lost = False
        self._waiters: list[asyncio.Future[int]] = []
        self._stderr_to = 1 if pipes[2] == subprocess.STDOUT else 2
        self._pipes: dict[int, Any] = {
            number: _Printed(self, number) for number in (1, 2) if pipes[number] == subprocess.PIPE
        }
        self._stdin = _Stdin(self) if pipes[0] == subprocess.PIPE else None
        if self._stdin is not None:
            self._pipes[0] = self._stdin

    def soon(self, callback: Callable[..., object], *args: Any) -> None:
        """Call something in the next turn, on the node that has started the process."""
        self._loop.call_soon(callback, *args, context=self._context)

    def begin(self) -> None:
        """Let the process run: at once, or, where its answer depends on what it reads, when it has read all."""
        self.protocol.connection_made(self)
        if self._stdin is None or not callable(self._answer):
            self._run()

    def stdin_closed(self) -> None:
        """Take the end of what the process reads."""
        self.protocol.pipe_connection_lost(0, None)
        self._run()

    def _run(self) -> None:
        if not self._has_begun and self._code is None:
            self._has_begun = True
            written = b"" if self._stdin is None else bytes(self._stdin.written)
            asked = Command(self._asked.program, self._asked.arguments, written)
            self._loop.create_task(self._answered(asked), name=f"process {asked.program}", context=self._context)

    async def _answered(self, asked: Command) -> None:
        try:
            answer = output(await said(self._answer, asked))
        except BaseException as error:
            self._loop.broken = self._loop.broken or error
            raise
        latencies = self._loop.packet_latencies
        taken = latencies[self._loop.decide(PACKET, self._name, _SITE, len(latencies))]
        await asyncio.sleep(taken + (answer.seconds and checked_seconds("seconds", answer.seconds)))
        if self._code is None:
            for number, to in ((1, 1), (2, self._stderr_to)):
                printed, pipe = answer.printed(number), self._pipes.get(to)
                if printed and pipe is not None:
                    is_cut = self._loop.decide(CUT, self._name, _SITE, 2) == 1
                    middle = len(printed) // 2 if is_cut else 0
                    for piece in (printed[:middle], printed[middle:]):
                        if piece:
                            self.soon(pipe.arrive, piece)
            self._exit(answer.code)

    def _exit(self, code: int) -> None:
        if self._code is not None:
            return
        self._code = code
        for number in (1, 2):
            if number in self._pipes:
                self.soon(self._pipes[number].end)
        if self._stdin is not None:
            self._stdin.close()
        self.soon(self._exited)

    def _exited(self) -> None:
        self.protocol.process_exited()
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(self._code or 0)
        self.pipe_ended()

    def pipe_ended(self) -> None:
        """Note that a pipe is at its end: after the last one the connection is lost."""
        is_over = all(self._pipes[number].is_over for number in (1, 2) if number in self._pipes)
        if is_over and self._code is not None and not self._is_lost:
            self._is_lost = True
            self.soon(self.protocol.connection_lost, None)

    async def _wait(self) -> int:
        """Wait until the process has ended: what ``asyncio.subprocess.Process`` calls."""
        if self._code is None:
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter
        return self._code or 0

    def get_pid(self) -> int:
        """Return a number that stands for the process."""
        return self._pid

    def get_returncode(self) -> int | None:
        """Return the exit code, None while the process runs."""
        return self._code

    def get_pipe_transport(self, fd: int) -> Any:
        """Return the pipe of this number, None if there is none."""
        return self._pipes.get(fd)

    def send_signal(self, signal: int) -> None:
        """Send a signal: those that end a process end it, and all others have no effect."""
        if self._code is not None:
            raise ProcessLookupError
        if signal in _ENDING_SIGNALS:
            self._exit(-int(signal))

    terminate = partialmethod(send_signal, signal.SIGTERM)
    kill = partialmethod(send_signal, signal.SIGKILL)

    def close(self) -> None:
        """Close the pipes, and end the process if it runs."""
        self._exit(-int(signal.SIGKILL))
        for number in (1, 2):
            if number in self._pipes:
                self._pipes[number].close()

    def is_closing(self) -> bool:
        """Return True if the process has ended."""
        return self._code is not None
