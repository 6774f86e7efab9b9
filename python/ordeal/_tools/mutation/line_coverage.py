"""Which lines of some files run, test by test: in this process, its forks, and the interpreters that it starts."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from ordeal._base.monitoring_tools import needed_tool
from ordeal._tools.mutation.interpreters.sitecustomize import LINES, WATCHED, appending, watch

Lines = set[tuple[str, int]]


class LineCoverage:
    """Collects the lines that run in files, from ``start`` to ``stop``; ``take`` returns those since the last call.

    With ``beside``, a file that need not be there, the lines of other processes are collected, too: of forks, and of
    interpreters that begin with our ``sitecustomize``.
    """

    def __init__(self, paths: set[str], beside: Path | None = None) -> None:
        self._paths, self._beside = paths, beside
        self._lines: Lines = set()
        self._read = 0
        self._by_process: dict[int, Lines] = {}
        self._tool = needed_tool("`ordeal mutate`")
        self._elsewhere: Callable[[str, int], None] | None = None
        self._restart: Callable[[], None]

    def start(self) -> None:
        """Begin."""
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
        """Return the lines that have run since the last call, and count anew."""
        lines, self._lines = self._lines, set()
        self._restart()
        return lines

    def take_beside(self) -> Lines:
        """Return the lines that other processes have run since the last call.

        A process says each line once, so that one which lives on may run all that it has said for whoever asks next.
        """
        self._by_process = {pid: lines for pid, lines in self._by_process.items() if _is_alive(pid)}
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


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
