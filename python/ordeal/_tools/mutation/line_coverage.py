"""Records which lines of some files run, test by test, in this process and others, and which tests read the files."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from ordeal._base.monitoring_tools import needed_tool, take_tool
from ordeal._tools.mutation.interpreters.sitecustomize import LINES, WATCHED, appending, real_path, watch

Lines = set[tuple[str, int]]


class LineCoverage:
    """Collects the lines that run in files, from ``start`` to ``stop``; ``take`` returns those since the last call.

    With ``others``, a file that need not exist, the lines of other processes are collected, too: of forks, and of
    interpreters that begin with our ``sitecustomize``.
    """

    def __init__(self, paths: set[str], others: Path | None = None) -> None:
        self._paths, self._beside = paths, others
        self._lines: Lines = set()
        self._read = 0
        self._by_process: dict[int, Lines] = {}
        self._tool = needed_tool("`ordeal mutate`")
        self._elsewhere: Callable[[str, int], None] | None = None
        self._restart: Callable[[], None]

    def start(self) -> None:
        """Begin."""
        take_tool(self._tool, "ordeal mutate")
        self._restart = watch(self._tool, self._paths, self._add)
        if self._beside is not None:
            os.environ[LINES] = str(self._beside)
            os.environ[WATCHED] = "\n".join(sorted(self._paths))
            os.register_at_fork(after_in_child=self._forked)

    def stop(self) -> None:
        """End, and leave nothing behind."""
        sys.monitoring.set_events(self._tool, 0)
        sys.monitoring.free_tool_id(self._tool)

    def take(self) -> Lines:
        """Return the lines that have run since the last call, and reset them."""
        lines, self._lines = self._lines, set()
        self._restart()
        return lines

    def take_beside(self) -> Lines:
        """Return the lines that other processes have run since the last call.

        A process reports each line once. So one that lives on may run lines again for a later test without a report.
        """
        self._by_process = {pid: lines for pid, lines in self._by_process.items() if Path(f"/proc/{pid}").exists()}
        if self._beside is not None and self._beside.exists():
            with self._beside.open("rb") as file:
                file.seek(self._read)
                data = file.read()
            whole = data[: data.rfind(b"\n") + 1]
            self._read += len(whole)
            for each in whole.splitlines():
                pid, line, path = each.split(b" ", 2)
                self._by_process.setdefault(int(pid), set()).add((os.fsdecode(path), int(line)))
        return set().union(*self._by_process.values())

    def _add(self, path: str, line: int) -> None:
        if self._elsewhere is None:
            self._lines.add((path, line))
        else:
            self._elsewhere(path, line)

    def _forked(self) -> None:
        assert self._beside is not None
        self._elsewhere = appending(str(self._beside))


#: These modules read files to show lines of them, to rewrite them, or to draw from their constants.
_ONLY_SHOW = {"traceback", "warnings", "logging", "_pytest", "hypothesis", "ordeal"}
_IMPORT = ("importlib._bootstrap", "_frozen_importlib")


class SourceReads:
    """Notices which of some files are read as text, or run again, once their modules are imported.

    Code that does so, such as ``importlib.reload`` or ``exec`` of a function's source, does not meet a mutant in
    memory. The audit hook stays until the process ends.
    """

    def __init__(self, paths: Set[str]) -> None:
        self._paths, self._found = paths, set[str]()
        self._names = {os.path.basename(path) for path in paths}  # noqa: PTH119 - for each file that anything opens
        self._imported = {path for path in paths if is_imported(path)}
        sys.addaudithook(self._hear)

    def take(self) -> list[str]:
        """Return the files that were read since the last call."""
        found, self._found = sorted(self._found), set()
        for name in [each for each in linecache.cache if real_path(each) in self._paths]:
            del linecache.cache[name]  # the next reader would not open the file
        return found

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "exec":
            path = self._path(getattr(arguments[0], "co_filename", ""))
            if path and path in self._imported:
                self._found.add(path)
            self._imported.add(path)
        elif event == "open" and (path := self._path(arguments[0])) and _is_read_as_text(sys._getframe(1)):
            self._found.add(path)

    def _path(self, given: Any) -> str:
        with suppress(TypeError, ValueError):
            name = os.fsdecode(given)
            if os.path.basename(name) in self._names and (path := os.path.realpath(name)) in self._paths:  # noqa: PTH119
                return path
        return ""


def _is_read_as_text(frame: FrameType | None) -> bool:
    """Return True if a file is opened by the program or its tests, directly or through the standard library."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        first = name.partition(".")[0]
        if first in _ONLY_SHOW or name.startswith(_IMPORT):
            return False
        if first not in sys.stdlib_module_names or name == "__main__":
            return True
        frame = frame.f_back
    return False


def is_imported(path: str) -> bool:
    """Return True if a module of this process comes from a file."""
    files = [vars(module).get("__file__") for module in [*sys.modules.values()] if type(module) is ModuleType]
    return any(isinstance(each, str) and real_path(each) == path for each in files)
