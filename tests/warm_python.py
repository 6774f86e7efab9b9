"""Runs commands of Python in forks of one interpreter that has imported ordeal and pytest: most of their time is that.

A fork is a process of its own with one thread, nothing of the pytest that runs the tests, and the folder, environment,
arguments and module path that the interpreter would have had if it had been started for the command. What forks start
is not forked. Whoever runs tests in several processes has the interpreter started once for all of them.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from select import select
from typing import IO, Any

HASH_SEED = "0"
#: The socket at which the interpreter answers, for the processes of one run of the tests.
VARIABLE = "WARM_PYTHON"
#: What tells Hypothesis of a continuous integration: it then draws the same in each run and keeps no examples; and what
#: sets the seed of a session. All tests run without these, and so do their child processes.
SAY_WHERE = (
    "BUILDKITE", "CI", "CIRCLECI", "CIRRUS_CI", "CODEBUILD_BUILD_ID", "GITHUB_ACTIONS", "GITLAB_CI",
    "HEROKU_TEST_RUN_ID", "ORDEAL_SEED", "TEAMCITY_VERSION", "TEST_SEED", "TF_BUILD",
    "__TOX_ENVIRONMENT_VARIABLE_ORIGINAL_CI", "bamboo.buildKey",
)  # fmt: skip


class WarmPython:
    """A connection to the interpreter, for one command at a time and one thread."""

    #: The CPU time of all commands that ended.
    cpu_seconds = 0.0

    def __init__(self, place: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(place)
        self._lines = self._socket.makefile("rb")

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
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            pid = self._answer()
            if not select([self._socket], [], [], seconds)[0]:
                os.kill(pid, signal.SIGKILL)
                self._answer()
                raise subprocess.TimeoutExpired(arguments, seconds, _text(out), _text(err))
            code, cpu_seconds = self._answer()
            self.cpu_seconds += cpu_seconds
            return subprocess.CompletedProcess(arguments, code, _text(out), _text(err))

    def close(self) -> None:
        """Ask for nothing more."""
        self._lines.close()
        self._socket.close()

    def _answer(self) -> Any:
        line = self._lines.readline()
        assert line, "the interpreter that was started for many commands has ended"
        return json.loads(line)


@contextmanager
def warm_interpreter() -> Iterator[str]:
    """Start the interpreter, and end it; the value is where it answers. It imports nothing before it is asked."""
    import ordeal  # noqa: PLC0415 - the interpreter itself finds it by the path that it is told

    # What this process was told as well: it may have another version of Hypothesis from there.
    folders = [str(Path(ordeal.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    told = {"PYTHONPATH": os.pathsep.join(filter(None, folders)), "PYTHONHASHSEED": HASH_SEED}
    with tempfile.TemporaryDirectory(prefix="warm-") as folder, socket.socket(socket.AF_UNIX) as listener:
        place = f"{folder}/socket"
        listener.bind(place)
        listener.listen(64)
        number = listener.fileno()
        command = [sys.executable, "-P", __file__, str(number)]
        kept = {name: value for name, value in os.environ.items() if name not in SAY_WHERE}
        process = subprocess.Popen(command, env=kept | told, stdin=subprocess.PIPE, pass_fds=[number])
        try:
            yield place
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


@cache
def warm_python() -> WarmPython:
    """The interpreter for the commands of all tests that need no other hash seed; a conftest tells its place."""
    return WarmPython(os.environ[VARIABLE])


def run_module(
    *arguments: str, environment: Mapping[str, str] | None = None, folder: Path | None = None, seconds: float = 120.0
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m MODULE ...`` in a folder; left out, in that of this process, with its environment."""
    told = os.environ if environment is None else environment
    return warm_python().run(("-m", *arguments), folder or Path.cwd(), told, seconds)


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode().replace("\r\n", "\n")


def _serve(listener: socket.socket) -> dict[str, Any]:
    """Fork for each connection, and there for each request. Returns the request, in the last fork alone."""
    prepared = False
    while True:
        if sys.stdin in select([listener, sys.stdin], [], [])[0]:
            os._exit(0)  # whoever has started this ends
        connection, _ = listener.accept()
        if not prepared:
            _prepare()
            prepared = True
        if os.fork() == 0:
            listener.close()
            return _answer(connection)
        connection.close()
        while _reaped():
            pass


def _answer(connection: socket.socket) -> dict[str, Any]:
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            if (pid := os.fork()) == 0:
                request: dict[str, Any] = json.loads(line)
                return request
            connection.sendall(b"%d\n" % pid)
            _, status, usage = os.wait4(pid, 0)
            answer = (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)
            connection.sendall(json.dumps(answer).encode() + b"\n")
    os._exit(0)


def _reaped() -> int:
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


def _prepare() -> None:
    """Import what commands import."""
    # Hypothesis wants its plugin to be imported first. Who gives pytest this plugin by its name is warned that it was.
    import_module("_hypothesis_pytestplugin")
    import hypothesis.stateful  # noqa: F401, PLC0415
    from _pytest.config import default_plugins  # noqa: PLC0415
    from hypothesis import strategies as st  # noqa: PLC0415

    for name in ("ordeal.cli.explore", "ordeal.cli.saved.replay", *(f"_pytest.{name}" for name in default_plugins)):
        import_module(name)
    # What Hypothesis knows of Unicode it computes in seconds, unless it finds it in a folder of the project.
    with warnings.catch_warnings(action="ignore"):
        st.text().validate()
    # What is here already, no fork need look through for garbage.
    gc.collect()
    gc.freeze()


def _become(request: dict[str, Any]) -> None:
    """Be as if this process had been started for the request alone."""
    for number, path in enumerate([os.devnull, *request["streams"]]):
        descriptor = os.open(path, os.O_RDONLY if number == 0 else os.O_RDWR | os.O_APPEND)
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    # It remembers where it was imported.
    import hypothesis.configuration  # noqa: PLC0415 - the process that asks for forks has no need of it

    setattr(hypothesis.configuration, "__hypothesis_home_directory_default", Path.cwd() / ".hypothesis")
    option, module, *arguments = request["arguments"]
    assert option == "-m"
    sys.argv = [module, *arguments]
    given = request["environment"].get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [str(Path.cwd()), *dict.fromkeys([*filter(None, given), *sys.path])]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
