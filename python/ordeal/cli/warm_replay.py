"""The warm process of ``ordeal seeds --watch``: it has the engine imported, and each replay happens in a fork of it.

A fork imports the code under test anew, so that it sees what was saved, and is gone with all that the code did. The
libraries that the code imports are imported here between two replays, and the next fork has them already. Requests and
answers are lines of JSON. This process and its forks run code of the user's; the one that asks runs none.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys
import sysconfig
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from ordeal._base.interpreter import private_streams
from ordeal._engine.isolation.channel import Channel
from ordeal._engine.isolation.child import Child, Limits, wait_for
from ordeal._engine.seed_corpus.corpus import SeedReplayer
from ordeal._report.seeds import seed_line
from ordeal.config.options import DEFAULT_PATH

#: More than a machine with its libraries has.
MODULES_MAX = 10_000
#: How long one wait for a message may take; there is another one after it.
WAIT_SECONDS = 60.0


def main() -> NoReturn:
    """Answer the requests on stdin until it ends."""
    # What the code under test reads and writes is not the channel.
    requests, answers = private_streams(0, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks
    _settle()
    _answer(answers, {"ready": os.getpid()})
    for line in requests:
        learned = _replay_in_fork(json.loads(line), answers)
        _answer(answers, {"done": True, "ended": learned is None})
        for name in learned or ():
            _import_library(name)
        _settle()
    os._exit(0)


def _settle() -> None:
    """Keep collections of forks from looking at what is here: that copies every page of it, half of a replay's work."""
    gc.collect()
    gc.freeze()


def _answer(answers: BinaryIO, value: Mapping[str, Any]) -> None:
    answers.write(json.dumps(value).encode() + b"\n")
    answers.flush()


def _replay_in_fork(request: Mapping[str, Any], answers: BinaryIO) -> list[str] | None:
    """Replay the seeds of a request in a fork. Return the libraries that it imported, None where it ended badly.

    It has no time limit here: the process that asks ends this one, and the fork with it.
    """
    names: list[str] | None = None
    child = Child(partial(_be_fork, request), Limits())
    try:
        has_ended = False
        while not has_ended:
            wait_for([child], WAIT_SECONDS)
            has_ended = child.has_ended()
            for message in child.messages():
                match message:
                    case ["answer", str(text)]:
                        _answer(answers, json.loads(text))
                    case ["libraries", *libraries] if len(libraries) <= MODULES_MAX:
                        names = [str(name) for name in libraries]
    finally:
        child.close()
    return names


def _be_fork(request: Mapping[str, Any], channel: Channel, _journal: object) -> None:
    # Where the caches of the code under test lie, no other process writes, and what was saved has none there: times of
    # files are too coarse to tell two savings of one second apart.
    sys.pycache_prefix = request["caches"]
    sys.path[:] = request["path"]
    before = set(sys.modules)
    replayer = SeedReplayer(request["rule_timeout"], settings=Path(DEFAULT_PATH))

    def answer(**value: object) -> None:
        channel.send("answer", json.dumps(value))

    for name in request["seeds"]:
        replay = replayer.replay(Path(name))
        answer(seed=name, status=replay.status.value, fails=replay.fails, line=seed_line(replay))
    libraries = _library_folders()
    loaded = dict(_loaded_files(set(sys.modules) - before))
    answer(files=sorted({file for file in loaded.values() if not file.startswith(libraries)}))
    channel.send("libraries", *sorted(name for name, file in loaded.items() if file.startswith(libraries)))


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
