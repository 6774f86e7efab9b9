"""Runs commands of Python in forks of one interpreter that has imported ordeal: starting one takes most of their time.

A fork is a process of its own with one thread, nothing of pytest, and the folder, environment, arguments and module
path that the interpreter would have had if it had been started for the command. What forks start is not forked.
"""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from select import select
from typing import IO, Any


class WarmPython:
    """An interpreter that waits for commands: one at a time, from one thread. It starts with ``environment``."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-P", __file__], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python -m MODULE ...`` in ``folder``, with nothing to read."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request = {
                "arguments": list(arguments),
                "folder": str(folder),
                "environment": dict(environment),
                "streams": [f"/proc/{os.getpid()}/fd/{stream.fileno()}" for stream in (out, err)],
            }
            pid = self._ask(request)
            if not select([self._pipe("stdout")], [], [], seconds)[0]:
                os.kill(pid, signal.SIGKILL)
                self._read()
                raise subprocess.TimeoutExpired(arguments, seconds, _text(out), _text(err))
            return subprocess.CompletedProcess(arguments, self._read(), _text(out), _text(err))

    def close(self) -> None:
        """End the interpreter."""
        self._pipe("stdin").close()
        self._server.wait()
        self._pipe("stdout").close()

    def _ask(self, request: dict[str, Any]) -> int:
        stream = self._pipe("stdin")
        stream.write(json.dumps(request).encode() + b"\n")
        stream.flush()
        return self._read()

    def _read(self) -> int:
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self._pipe("stdout").fileno(), 1)
            assert byte, "the interpreter that was started for many commands has ended"
            line += byte
        return int(line)

    def _pipe(self, name: str) -> IO[bytes]:
        stream: IO[bytes] = getattr(self._server, name)
        return stream


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode().replace("\r\n", "\n")


def _serve() -> dict[str, Any]:
    """Fork for each request. Returns the request, in the fork alone."""
    while line := sys.stdin.buffer.readline():
        if (pid := os.fork()) == 0:
            request: dict[str, Any] = json.loads(line)
            return request
        _say(pid)
        _say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    sys.exit()


def _say(number: int) -> None:
    os.write(1, b"%d\n" % number)


def _become(request: dict[str, Any]) -> None:
    """Be as if this process had been started for the request alone."""
    for number, path in enumerate([os.devnull, *request["streams"]]):
        descriptor = os.open(path, os.O_RDONLY if number == 0 else os.O_RDWR | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    # It remembers where it was imported.
    import hypothesis.configuration  # noqa: PLC0415 - the process that asks for forks has no need of it

    setattr(hypothesis.configuration, "__hypothesis_home_directory_default", Path.cwd() / ".hypothesis")
    option, module, *arguments = request["arguments"]
    assert option == "-m"
    sys.argv = [module, *arguments]
    given = request["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [str(Path.cwd()), *dict.fromkeys([*filter(None, given), *sys.path])]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _main() -> None:
    import hypothesis.stateful  # noqa: F401, PLC0415
    from hypothesis import strategies as st  # noqa: PLC0415

    import ordeal.cli.explore  # noqa: PLC0415
    import ordeal.cli.saved.replay  # noqa: F401, PLC0415

    # What Hypothesis knows of Unicode it computes in seconds, unless it finds it in a folder of the project.
    st.text().validate()
    _become(_serve())


if __name__ == "__main__":
    _main()
