"""Runs commands of Python in forks of one interpreter that has imported ordeal and pytest: most of their time is that.

A fork is a process of its own with one thread, nothing of the pytest that runs the tests, and the folder, environment,
arguments and module path that the interpreter would have had if it had been started for the command. What forks start
is not forked. Whoever runs tests in several processes has the interpreter started once for all of them.
"""

from __future__ import annotations

import gc
import inspect
import json
import mmap
import os
import random
import runpy
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from select import select
from types import FunctionType, ModuleType
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


class _Counter:
    """Seconds that several processes add to: those that have it open, by a path that names it for others."""

    def __init__(self, path: str | None = None) -> None:
        # It is open as long as the process is there, for others to find.
        if path is None:
            with tempfile.TemporaryFile() as file:
                self._file = os.dup(file.fileno())
        else:
            self._file = os.open(path, os.O_RDWR)
        os.ftruncate(self._file, 8)
        self._seconds = mmap.mmap(self._file, 8)

    @property
    def path(self) -> str:
        return f"/proc/{os.getpid()}/fd/{self._file}"

    def add(self, seconds: float) -> None:
        self._seconds[:] = struct.pack("<d", self.value() + seconds)

    def value(self) -> float:
        return float(struct.unpack("<d", self._seconds[:])[0])


_counters: list[_Counter] = []


def count_commands(path: str | None = None) -> None:
    """Count the CPU time of the commands that this process asks for, and those that it forks: from now on, or there."""
    _counters[:] = [_Counter(path)]


def command_seconds() -> float:
    """The CPU time of the commands that have ended."""
    return _counters[0].value() if _counters else 0.0


class WarmPython:
    """A connection to the interpreter, for one command at a time and one thread."""

    def __init__(self, place: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(place)
        # Nothing is read ahead: what has come already, select() would not see.
        self._lines = self._socket.makefile("rb", buffering=0)

    def run(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str], seconds: float
    ) -> subprocess.CompletedProcess[str]:
        """Run ``python -m MODULE ...`` in ``folder``, with nothing to read."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request = {
                "arguments": list(arguments),
                "folder": str(folder),
                "environment": dict(environment),
                "streams": [os.devnull, *(f"/proc/{os.getpid()}/fd/{stream.fileno()}" for stream in (out, err))],
            }
            pid = self.start(request)
            if not self.has_ended(seconds):
                os.kill(pid, signal.SIGKILL)
                self.code()
                raise subprocess.TimeoutExpired(arguments, seconds, _text(out), _text(err))
            return subprocess.CompletedProcess(arguments, self.code(), _text(out), _text(err))

    def start(self, request: Mapping[str, Any]) -> int:
        """Start a command, whose streams are open for it afterwards, and return the id of its process."""
        counter = {"counter": _counters[0].path} if _counters else {}
        self._socket.sendall(json.dumps({**request, **counter}).encode() + b"\n")
        return int(self._answer())

    def has_ended(self, seconds: float | None) -> bool:
        """Whether the command ends within so many seconds."""
        return bool(select([self._socket], [], [], seconds)[0])

    def code(self) -> int:
        """Wait for the end of the command, and return its code, negative if a signal ended it."""
        code, cpu_seconds = self._answer()
        for counter in _counters:
            counter.add(cpu_seconds)
        return int(code)

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


#: The modules that start an interpreter for each question that they have.
ASKING = ("ordeal._base.interpreter",)
#: The interpreter that forks stand for, whatever a test makes of that name.
_PROGRAM = sys.executable
#: Options that a fork can follow.
_OPTIONS = {"-P", "-B", "-u"}
#: Variables that a fork cannot follow, as they are read when an interpreter starts.
_AT_START = {
    "PYTHONDEVMODE", "PYTHONMALLOC", "PYTHONOPTIMIZE", "PYTHONSAFEPATH", "PYTHONUNBUFFERED", "PYTHONUTF8",
    "PYTHONWARNINGS",
}  # fmt: skip
_BEGAN = {name: os.environ.get(name) for name in _AT_START}


class WarmPopen(subprocess.Popen[Any]):
    """A process of Python like any other, but a fork of the interpreter wherever it can be one."""

    _warm: WarmPython | None = None

    def _execute_child(self, *given: Any) -> None:
        start = super()._execute_child  # type: ignore[misc]
        told = inspect.signature(start).bind(*given).arguments
        asked = self._asked(told)
        if asked is None:
            start(*given)
            return
        ends = (told["p2cread"], told["c2pwrite"], told["errwrite"])
        streams = [os.devnull if end == -1 else f"/proc/{os.getpid()}/fd/{end}" for end in ends]
        self._warm = WarmPython(os.environ[VARIABLE])
        self.pid = self._warm.start({**asked, "streams": streams})
        self._child_created = True
        self._close_pipe_fds(*(told[name] for name in _ENDS))  # type: ignore[attr-defined]

    def _asked(self, told: Mapping[str, Any]) -> dict[str, Any] | None:
        """What to ask of the interpreter; None if it takes one of its own."""
        environment = os.environ if told["env"] is None else told["env"]
        program, *arguments = map(os.fspath, told["args"])
        options = list(takewhile(_OPTIONS.__contains__, arguments))
        kind, *_ = [*arguments[len(options) :], ""]
        if (
            program != _PROGRAM
            or not (kind in ("-c", "-m") or kind.endswith(".py"))
            or told["pass_fds"]
            or told["preexec_fn"]
            or VARIABLE not in os.environ
            or any(environment.get(name) != value for name, value in _BEGAN.items())
            or environment.get("PYTHONHASHSEED", HASH_SEED) != HASH_SEED
            or _customized(environment.get("PYTHONPATH", ""))
        ):
            return None
        return {
            "arguments": arguments[len(options) :],
            "options": options,
            "folder": str(told["cwd"] or Path.cwd()),
            "environment": dict(environment),
            "parent": os.getpid(),
            "new_session": told["start_new_session"],
        }

    def _internal_poll(self, _deadstate: int | None = None, *others: Any) -> int | None:
        if self._warm is None:
            return super()._internal_poll(_deadstate, *others)  # type: ignore[misc, no-any-return]
        return self._ended(0)

    def _wait(self, timeout: float | None) -> int:
        if self._warm is None:
            return super()._wait(timeout)  # type: ignore[misc, no-any-return]
        code = self._ended(timeout)
        if code is None:
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return code

    def _ended(self, seconds: float | None) -> int | None:
        assert self._warm is not None
        if self.returncode is None and self._warm.has_ended(seconds):
            self.returncode = self._warm.code()
            self._warm.close()
        return self.returncode


def _customized(path: str) -> bool:
    """Whether an interpreter begins with something from the folders of a path."""
    return any(Path(folder, "sitecustomize.py").exists() for folder in path.split(os.pathsep) if folder)


_ENDS = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")


def warm_subprocess() -> ModuleType:
    """The module ``subprocess``, with processes that are forks of the interpreter wherever they can be."""
    module = ModuleType("subprocess")
    vars(module).update(vars(subprocess), Popen=WarmPopen)
    run = FunctionType(subprocess.run.__code__, vars(module), "run")
    run.__kwdefaults__ = subprocess.run.__kwdefaults__
    vars(module)["run"] = run
    return module


def ask_forks() -> None:
    """Have explorations of this process ask forks wherever they ask an interpreter of their own."""
    for name in ASKING:
        import_module(name).subprocess = warm_subprocess()  # type: ignore[attr-defined]


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
            request: dict[str, Any] = json.loads(line)
            opened = [os.open(path, _flags(path, number)) for number, path in enumerate(request["streams"])]
            if (pid := os.fork()) == 0:
                return {**request, "opened": opened}
            for descriptor in opened:
                os.close(descriptor)
            connection.sendall(b"%d\n" % pid)
            _, status, usage = os.wait4(pid, 0)
            answer = (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)
            connection.sendall(json.dumps(answer).encode() + b"\n")
    os._exit(0)


def _flags(path: str, number: int) -> int:
    if number == 0:
        return os.O_RDONLY
    # Whoever writes to a pipe must not hold the end that is read.
    return os.O_WRONLY if Path(path).is_fifo() else os.O_RDWR | os.O_APPEND


def _reaped() -> int:
    try:
        return os.waitpid(-1, os.WNOHANG)[0]
    except ChildProcessError:
        return 0


def _prepare() -> None:
    """Import what commands import."""
    # Hypothesis wants its plugin to be imported first. Who gives pytest this plugin by its name is warned that it was.
    import_module("_hypothesis_pytestplugin")
    import hypothesis.stateful  # noqa: PLC0415
    from _pytest.config import default_plugins  # noqa: PLC0415
    from hypothesis import strategies as st  # noqa: PLC0415

    # A machine that is busy takes its time. By another name, pytest would tell of it.
    hypothesis.settings.register_profile("default", hypothesis.settings.get_profile("default"), deadline=None)
    hypothesis.settings.load_profile("default")

    for name in ("ordeal.cli.explore", "ordeal.cli.replay", *(f"_pytest.{name}" for name in default_plugins)):
        import_module(name)
    ask_forks()
    # What Hypothesis knows of Unicode it computes in seconds, unless it finds it in a folder of the project.
    with warnings.catch_warnings(action="ignore"):
        st.text().validate()
    # What is here already, no fork need look through for garbage.
    gc.collect()
    gc.freeze()


def _become(request: dict[str, Any]) -> None:
    """Be as if this process had been started for the request alone."""
    for number, descriptor in enumerate(request["opened"]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    encoding, _, errors = request["environment"].get("PYTHONIOENCODING", "").partition(":")
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        # What they are for a file they cannot be for a pipe.
        was = getattr(sys, name)
        stream = TextIOWrapper(
            open(was.fileno(), f"{mode}b", closefd=False),  # noqa: SIM115
            encoding=encoding or was.encoding,
            errors=was.errors if name == "stderr" or not errors else errors,
            line_buffering=name == "stderr",
            write_through="-u" in request.get("options", ()),
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    if request.get("new_session"):
        os.setsid()
    if "parent" in request:
        # Who asks takes it for its own child, and may have it look whether its parent is still there.
        os.getppid = lambda: int(request["parent"])
    if "counter" in request:
        count_commands(request["counter"])
    random.seed()
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    options = request.get("options", ())
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE")) or "-B" in options
    # It remembers where it was imported.
    import hypothesis.configuration  # noqa: PLC0415 - the process that asks for forks has no need of it

    setattr(hypothesis.configuration, "__hypothesis_home_directory_default", Path.cwd() / ".hypothesis")
    kind, *arguments = request["arguments"]
    given = request["environment"].get("PYTHONPATH", "").split(os.pathsep)
    first = {"-m": str(Path.cwd()), "-c": ""}.get(kind, str(Path(kind).absolute().parent))
    folders = [first] if "-P" not in options else []
    sys.path[:] = [*folders, *dict.fromkeys([*filter(None, given), *sys.path])]
    sys.argv = [kind, *arguments]
    if kind == "-m":
        del sys.argv[0]
        if arguments[0] == "pytest":
            _start_workers_warm()
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return
    name, text = ("<string>", sys.argv.pop(1)) if kind == "-c" else (kind, Path(kind).read_text("utf-8"))
    sys.modules["__main__"] = main = ModuleType("__main__")
    main.__file__ = None if kind == "-c" else kind
    exec(compile(text, name, "exec"), vars(main))


def _start_workers_warm() -> None:
    """Have pytest-xdist start its workers as this process was started."""
    from execnet.gateway_base import ThreadExecModel  # noqa: PLC0415

    ThreadExecModel.subprocess = warm_subprocess()  # type: ignore[method-assign, assignment]


if __name__ == "__main__":
    _become(_serve(socket.socket(fileno=int(sys.argv[1]))))
