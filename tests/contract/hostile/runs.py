"""Explores each hostile machine once, and looks at what that leaves behind."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from functools import cache
from mmap import mmap
from pathlib import Path
from unittest import mock

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._native import ALARM_SIGNAL, rings_in
from ordeal.explore import ExplorationResult, Explorer

from .machines import DELETABLE

RULE_TIMEOUT = 0.4
#: A rule that hangs takes half of this until it is confirmed, on a machine that does nothing else.
MAX_TIME = 2.5
MAX_SHRINK_TIME = 4.0
#: Of a machine that does not hang, and so comes to the end of its runs and of shrinking: neither limit is reached.
UNLIMITED_S = 600.0
#: Of a machine that hangs each time: its trace may be any that ends with the step that hangs.
MAX_SHRINK_TIME_HANGING = 2.0
#: Enough to find all that there is, where no run hangs.
MAX_RUNS = 150
#: Enough for a failure that each run has, and that is to be counted more often than there are workers.
MAX_RUNS_FAILING = 10
#: What the whole may take beyond these two.
SLACK_SECONDS = 1.0
#: What a worker may take beyond what the process has that forks it: after thousands of tests that is much.
MEMORY_MIB = 512
WORKERS = 2
#: In the environment of all that a test starts.
MARK = "ORDEAL_TEST_MARK"
#: What the system may take to end a process that was killed.
END_SECONDS = 5.0


@dataclass(frozen=True)
class Explored:
    """What came of a machine: the result, how long it took, and in words what is there that was not before."""

    result: ExplorationResult
    seconds: float
    left: list[str]
    files: list[str]


def data_mib() -> int:
    """How much of what the limit counts this process has, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmData:")) // 1024


@cache
def explored(
    machine: type[RuleBasedStateMachine], rule_timeout: float, max_time: float, max_shrink_time: float, max_runs: int
) -> Explored:
    """Explore ``machine`` in separate processes; in a folder of its own, which it may do with as it likes."""
    explorer = Explorer(
        machine,
        target_modules=[machine.__module__],
        workers=WORKERS,
        isolate=True,
        seed=1,
        rule_timeout=rule_timeout,
        max_memory=MEMORY_MIB + data_mib(),
        corpus_dir="seeds",
    )
    with marked() as mark, tempfile.TemporaryDirectory() as outer:
        folder, temporary = Path(outer, "project"), Path(outer, "temporary")
        folder.mkdir()
        temporary.mkdir()
        (folder / DELETABLE).touch()
        with chdir(folder), mock.patch.object(tempfile, "tempdir", str(temporary)):
            before = _surroundings()
            start = time.monotonic()
            result = explorer.run(
                max_runs=max_runs, max_time=max_time, max_shrink_time=max_shrink_time, save_state_to="state"
            )
            seconds = time.monotonic() - start
            left = [f"process {process}" for process in processes_left(mark)]
            left += [f"{now} instead of {then}" for then, now in _changes(before, _surroundings())]
            left += [f"temporary {path.name}" for path in temporary.iterdir()]
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return Explored(result, seconds, left, files)


def _surroundings() -> dict[str, object]:
    """What an exploration must leave as it is."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD, ALARM_SIGNAL)
    return {
        "children": children(),
        "folder": str(Path("/proc/self/cwd").readlink()),
        "descriptors": {each.name: _target(each) for each in Path("/proc/self/fd").iterdir() if _target(each)},
        "handlers": [signal.getsignal(number) for number in numbers],
        "blocked": signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        "alarms": [signal.getitimer(signal.ITIMER_REAL), rings_in()],
    }


def _changes(before: dict[str, object], after: dict[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in before.items():
        if after[name] != value:
            yield f"{name} {value}", f"{name} {after[name]}"


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        return ""  # it was that of the listing


def children() -> list[int]:
    """The processes whose parent this one is, those as well that have ended and nobody has waited for."""
    return [process for process in _processes() if _parent(process) == os.getpid()]


@contextmanager
def marked() -> Iterator[str]:
    """Leave a mark on all processes that come of this one while the block runs, by fork or with a program."""
    name = f"ordeal-test-{uuid.uuid4()}"
    memory = os.memfd_create(name)
    os.truncate(memory, 4_096)
    with mmap(memory, 4_096), mock.patch.dict(os.environ, {MARK: name}):
        os.close(memory)
        yield name


def processes_left(mark: str, seconds: float = END_SECONDS) -> list[str]:
    """What still runs of the processes with ``mark`` but for this one, after so many seconds at most."""
    deadline = time.monotonic() + seconds
    while (found := _marked_processes(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def _marked_processes(mark: str) -> list[str]:
    wanted = mark.encode()
    return [
        f"{process}: {_read(process, 'cmdline').replace(bytes(1), b' ').decode(errors='replace')}"
        for process in _processes()
        if process != os.getpid() and (wanted in _read(process, "environ") or wanted in _read(process, "maps"))
    ]


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _parent(process: int) -> int:
    _, _, rest = _read(process, "stat").rpartition(b") ")
    return int(rest.split()[1]) if rest else 0


def _read(process: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{name}").read_bytes()
    except OSError:
        return b""  # it has ended, or is somebody else's
