"""The warm process of ``ordeal seeds --watch``: it has the engine imported, and each replay happens in a fork of it.

A fork imports the code under test anew, so that it sees what was saved, and is gone with all that the code did. The
libraries that the code imports are imported here between two replays, and the next fork has them already. Requests and
answers are lines of JSON. This process and its forks run code of the user's; the one that asks runs none.
"""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import signal
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from ordeal._engine.seed_corpus.corpus import SeedReplayer
from ordeal._report.seeds import seed_line
from ordeal.config import DEFAULT_PATH

#: More than a machine with its libraries has.
MODULES_MAX = 10_000


def main() -> NoReturn:
    """Answer the requests on stdin until it ends."""
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.dup(1)
    # What the code under test reads and writes is not the channel.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks
    _settle()
    _answer(answers, {"ready": os.getpid()})
    for line in requests:
        request = json.loads(line)
        learned = _replay_in_fork(request, answers)
        _answer(answers, {"done": True, "ended": learned is None})
        for name in learned or ():
            _import_library(name)
        _settle()
    os._exit(0)


def _settle() -> None:
    """Keep collections of forks from looking at what is here: that copies every page of it, half of a replay's work."""
    gc.collect()
    gc.freeze()


def _answer(descriptor: int, value: Mapping[str, Any]) -> None:
    data = json.dumps(value).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def _replay_in_fork(request: Mapping[str, Any], answers: int) -> list[str] | None:
    """Replay the seeds of a request in a fork. Return the libraries that it imported, None where it ended badly."""
    read, write = os.pipe()
    process = os.fork()
    if not process:
        with suppress(BaseException):
            os.close(read)
            _be_fork(request, answers, write)
        os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(process, 0)
    try:
        names = json.loads(told) if status == 0 else None
    except ValueError:
        return None
    return names if isinstance(names, list) and len(names) <= MODULES_MAX else None


def _be_fork(request: Mapping[str, Any], answers: int, write: int) -> NoReturn:
    # Where the caches of the code under test lie, no other process writes, and what was saved has none there: times of
    # files are too coarse to tell two savings of one second apart.
    sys.pycache_prefix = request["caches"]
    sys.path[:] = request["path"]
    sys.stdout = sys.stderr = io.TextIOWrapper(io.FileIO(0, "w", closefd=False), write_through=True)
    before = set(sys.modules)
    replayer = SeedReplayer(request["rule_timeout"], settings=Path(DEFAULT_PATH))
    for name in request["seeds"]:
        replay = replayer.replay(Path(name))
        _answer(
            answers,
            {"seed": name, "status": replay.status.value, "fails": replay.fails, "line": seed_line(replay)},
        )
    libraries = _library_folders()
    loaded = dict(_loaded_files(set(sys.modules) - before))
    own = sorted({file for file in loaded.values() if not file.startswith(libraries)})
    _answer(answers, {"files": own})
    names = sorted(name for name, file in loaded.items() if file.startswith(libraries))
    data = json.dumps(names).encode()
    while data:
        data = data[os.write(write, data) :]
    os._exit(0)


def _loaded_files(names: set[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        file = getattr(sys.modules.get(name), "__file__", None)
        if type(file) is str:
            yield name, os.path.realpath(file)


def _library_folders() -> tuple[str, ...]:
    """The folders of installed libraries, with a slash: what lies there does not change while somebody works."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {os.path.realpath(sysconfig.get_path(name)) for name in names}
    folders |= {os.path.realpath(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages")}
    return tuple(f"{folder}/" for folder in sorted(folders))


def _import_library(name: str) -> None:
    """Import what the next fork will need. Once there are threads, nothing more: a fork does not have them."""
    if threading.active_count() == 1 and name not in sys.modules:
        with suppress(BaseException):
            importlib.import_module(name)


if __name__ == "__main__":
    main()
