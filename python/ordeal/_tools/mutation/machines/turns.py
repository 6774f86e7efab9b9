"""Ends a replay whose loops turn without end: by a count, which is the same on a busy machine, not by its time."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import CodeType

from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._tools.mutation.judging.trials import Turns
from ordeal._tools.mutation.swap import LiveFunctions, codes_in

#: What the original takes may be taken so many times, and so much more.
TIMES, MORE = 100, 100_000
#: After so many more turns a program that caught the error gets it again.
_AGAIN = 1000


class TurnLimit(Turns):
    """Counts the calls and turns of loops of the program in one replay, and ends it at a limit."""

    def __init__(self, functions: LiveFunctions) -> None:
        self._watched: list[CodeType] = []
        super().__init__(functions)
        self.is_over = False

    def watch(self, codes: Iterable[CodeType]) -> None:
        """Count in these, too."""
        before = len(self._watched)
        self._watched += codes
        super().watch(self._watched[before:])

    def begin(self, baseline: int | None) -> None:
        """Count from zero; with None, without a limit."""
        self.is_over = False
        self._counter.start(0 if baseline is None else baseline * TIMES + MORE)

    def end(self) -> None:
        """Count no more, and leave nothing behind."""
        if self._tool is not None:
            for code in self._watched:
                for each in codes_in(code):
                    sys.monitoring.set_local_events(self._tool, each, 0)
            sys.monitoring.free_tool_id(self._tool)

    def _stop(self) -> None:
        self.is_over = True
        self._counter.start(_AGAIN)
        raise self.error()

    @staticmethod
    def error() -> RuleTimeoutError:
        """Return what a replay fails with at the limit."""
        return RuleTimeoutError("the program turns in a loop, or calls itself, without end")
