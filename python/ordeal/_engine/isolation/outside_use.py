"""Notes what code of the user's uses outside of its process, and finds what two processes would fight over."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

import ordeal._native as _native
from ordeal._base.formatting import writable_text
from ordeal._engine.isolation.working_folder import present_folder

#: Folders of tools that write there on their own, and of devices.
_OWN_FOLDERS = frozenset({".ordeal", ".hypothesis", "__pycache__", ".pytest_cache"})
_SYSTEM_FOLDERS = ("/dev/", "/proc/", "/sys/")
#: The beginnings of names of SQLite databases that are not files, and what the name of a read-only one contains.
_NO_FILE = (":memory:", "file::memory:")
_UNWRITTEN = ("mode=memory", "mode=ro", "immutable=1")


class UseKind(StrEnum):
    """How a process uses something that is there once for all processes."""

    WRITES = "writes"  # a file, by its path
    LISTENS = "listens"  # at an address
    CONNECTS = "connects"  # to a server, by its address


class Use(msgspec.Struct, frozen=True):
    """One thing outside that a process uses. ``name`` is the same in each process that uses the same thing."""

    kind: UseKind
    name: str


class OutsideUse:
    """What the code of this process has used outside, in the order in which it is taken.

    Noting starts with ``start`` and ends with the process: workers are forks that live for one exploration.
    """

    def __init__(self) -> None:
        self._noted: set[tuple[str, Any]] = set()
        self._taken: set[Use] = set()
        self._folder = present_folder()
        self._started_ns = time.time_ns()

    def start(self) -> None:
        """Note what is used from now on."""
        _native.note_outside_use(self._noted)

    def take(self) -> list[Use]:
        """Return what was used since the last call, without what was returned before."""
        if not self._noted:
            return []
        noted = list(self._noted)
        self._noted.clear()
        new = {use for kind, what in noted if (use := self._use(kind, what)) is not None} - self._taken
        self._taken |= new
        # A program that uses new files all the time comes back to none of them.
        if len(self._taken) > 300:
            _native.note_outside_use(None)
        return sorted(new, key=lambda use: (use.kind, use.name))

    def _use(self, kind: str, what: str | bytes | tuple[Any, ...]) -> Use | None:
        if kind in ("bind", "connect"):
            use = UseKind.LISTENS if kind == "bind" else UseKind.CONNECTS
            if isinstance(what, str) and what and not what.startswith(("\0", *_SYSTEM_FOLDERS)):
                return Use(use, writable_text(os.path.realpath(what)))
            match what:
                # A port that the system chooses is that of no other process.
                case (str(host), int(port), *_) if kind == "connect" or port != 0:
                    return Use(use, f"{writable_text(host) or '*'}:{port}")
            return None
        path = os.fsdecode(what) if isinstance(what, str | bytes) else ""
        if kind == "database":
            if path.startswith(_NO_FILE) or any(part in path for part in _UNWRITTEN):
                return None
            path = path.removeprefix("file:").partition("?")[0]
        if self._folder is None and not Path(path).is_absolute():
            return None  # where that was is unknown
        whole = os.path.realpath((self._folder or "/") / Path(path))
        is_own = whole.startswith(_SYSTEM_FOLDERS) or not _OWN_FOLDERS.isdisjoint(Path(whole).parts)
        if is_own or not path:
            return None
        if kind == "database":
            changed: list[int] = []
            with suppress(OSError):
                changed.append(Path(whole).stat().st_mtime_ns)
                changed.append(Path(f"{whole}-wal").stat().st_mtime_ns)
            # Many are only read; for one that is gone by now, that is unknown. Times of files may be 20 ms coarse.
            if changed and all(each < self._started_ns - 20_000_000 for each in changed):
                return None
        return Use(UseKind.WRITES, writable_text(whole))


class Contention:
    """Compares what several processes use. ``numbers`` identify them."""

    def __init__(self) -> None:
        self._users: dict[Use, int] = {}

    def add(self, number: int, uses: Iterable[Use]) -> Iterator[Use]:
        """Add what a process uses, and yield those of them that another one uses too."""
        for use in uses:
            if self._users.setdefault(use, number) != number:
                yield use
