"""Ends a replay whose loops turn without end: by a count, which is the same on a busy machine, and not by time."""

from __future__ import annotations

import sys

from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._tools.mutation.judging.trials import TURNS_FACTOR, TURNS_FREE, Turns
from ordeal._tools.mutation.swap import LiveFunctions


class TurnLimit(Turns):
    """Counts the calls and turns of loops of the program in one replay, and ends it at a limit."""

    def __init__(self, functions: LiveFunctions) -> None:
        super().__init__(functions)
        self.is_over = False

    def begin(self, baseline: int | None) -> None:
        """Count from zero; with None, without a limit."""
        self.is_over = False
        self._counter.start(0 if baseline is None else TURNS_FREE + TURNS_FACTOR * baseline)

    def end(self) -> None:
        """Stop counting."""
        if self._tool is not None:
            for event in (sys.monitoring.events.JUMP, sys.monitoring.events.PY_START):
                sys.monitoring.register_callback(self._tool, event, None)
            sys.monitoring.free_tool_id(self._tool)

    def _stop(self) -> None:
        self.is_over = True
        # A program that catches the error gets it again.
        self._counter.start(1000)
        raise self.error()

    @staticmethod
    def error() -> RuleTimeoutError:
        """Return the error of a replay at the limit."""
        return RuleTimeoutError("the program turns in a loop, or calls itself, without end")
