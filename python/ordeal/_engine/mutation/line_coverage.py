"""Which lines of some files run, test by test, by the events of ``sys.monitoring``."""

from __future__ import annotations

import sys
import types
from typing import Any

from ordeal._engine.mutation.swap import real_path

_TOOLS = (4, 3, 5, 2)


class LineCoverage:
    """Collects the lines that run in files, from ``start`` to ``stop``; ``take`` returns those since the last call.

    Only the code of these files pays for it: another function costs one event when it first runs.
    """

    def __init__(self, paths: set[str]) -> None:
        self._paths = paths
        self._lines: set[tuple[str, int]] = set()
        self._tool = next(each for each in _TOOLS if sys.monitoring.get_tool(each) is None)

    def start(self) -> None:
        """Begin."""
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(self._tool, "ordeal mutate")
        sys.monitoring.register_callback(self._tool, events.PY_START, self._on_start)
        sys.monitoring.register_callback(self._tool, events.LINE, self._on_line)
        sys.monitoring.set_events(self._tool, events.PY_START)

    def stop(self) -> None:
        """End, and leave nothing behind."""
        sys.monitoring.set_events(self._tool, 0)
        sys.monitoring.free_tool_id(self._tool)

    def take(self) -> set[tuple[str, int]]:
        """Return the lines that have run since the last call, and count anew."""
        lines, self._lines = self._lines, set()
        sys.monitoring.restart_events()
        return lines

    def _on_start(self, code: types.CodeType, _offset: int) -> Any:
        if real_path(code.co_filename) in self._paths:
            sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.LINE)
            self._lines.add((real_path(code.co_filename), code.co_firstlineno))
        return sys.monitoring.DISABLE

    def _on_line(self, code: types.CodeType, line: int) -> Any:
        self._lines.add((real_path(code.co_filename), line))
        return sys.monitoring.DISABLE
