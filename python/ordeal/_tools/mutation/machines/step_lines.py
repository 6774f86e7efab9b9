"""Which lines of some files run in each step of a replay, by the events of ``sys.monitoring``."""

from __future__ import annotations

import sys
from types import CodeType
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.monitoring_tools import needed_tool
from ordeal._hypothesis import Rule
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.machines.bench import StepWatch
from ordeal.faults import Fault


class StepLines(StepWatch):
    """An observer that notes the lines from ``start`` to ``stop``; ``hits`` has the steps of each, as bits.

    ``looked`` are those that invariants run, or what a fault does when it is switched.

    A step has few lines, so an event for each time that one runs costs less than to ask for all of them again.
    """

    def __init__(self, paths: set[str]) -> None:
        super().__init__()
        self._paths = paths
        self._tool = needed_tool("`ordeal mutate`")
        self._ran: set[tuple[CodeType, int]] = set()
        self.hits: dict[tuple[str, int], int] = {}
        self.looked: set[tuple[str, int]] = set()
        self._is_looking = False

    def start(self) -> None:
        """Begin."""
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(self._tool, "ordeal mutate steps")
        sys.monitoring.register_callback(self._tool, events.PY_START, self._on_start)
        sys.monitoring.register_callback(self._tool, events.LINE, self._on_line)
        sys.monitoring.set_events(self._tool, events.PY_START)
        sys.monitoring.restart_events()

    def stop(self) -> None:
        """Note the lines of the last step, and of what tore the machine down; leave nothing behind."""
        self._take()
        sys.monitoring.set_events(self._tool, 0)
        sys.monitoring.free_tool_id(self._tool)

    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        """Note the lines until here."""
        self._take()
        super().rule(rule, initialize, values, resolved)

    def started(self, machine: RuleBasedStateMachine) -> None:
        """Note the lines of its construction; those of invariants follow."""
        del machine
        self._take()
        self._is_looking = True

    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        """The same for those of a rule."""
        del rule, result, names
        self._take()
        self._is_looking = True

    def fault(self, fault: Fault, on: bool) -> None:
        """The same for a switch."""
        self._take()
        super().fault(fault, on)
        self._is_looking = True

    def ending(self) -> None:
        """Note the lines of the last step; what tears the machine down follows."""
        self._take()

    def _take(self) -> None:
        ran, self._ran = self._ran, set()
        step = 1 << len(self.rules) - 1
        for code, line in ran:
            place = real_path(code.co_filename), line
            self.hits[place] = self.hits.get(place, 0) | step
            if self._is_looking:
                self.looked.add(place)
        self._is_looking = False

    def _on_start(self, code: CodeType, _offset: int) -> Any:
        if real_path(code.co_filename) in self._paths:
            sys.monitoring.set_local_events(self._tool, code, sys.monitoring.events.LINE)
            self._ran.add((code, code.co_firstlineno))
        return sys.monitoring.DISABLE

    def _on_line(self, code: CodeType, line: int) -> None:
        self._ran.add((code, line))
