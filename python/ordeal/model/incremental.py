"""Incremental against from scratch: what was built step by step must equal what is built at once."""

from __future__ import annotations

from typing import Any

from ordeal.errors import MachineError
from ordeal.model.call_result import Sides, for_two
from ordeal.model.comparing_machine import ComparingMachine
from ordeal.model.definition import Hook, made, maker
from ordeal.model.oracle import VIEW, Oracle

SCRATCH = Hook("scratch", ("source",), "scratch = SortedList", "return Index(source)")
_SOURCE = "write what makes the collected input, such as `source = list`"


class Incremental(ComparingMachine, Oracle):
    """Updates a system step by step, builds another one from scratch after each operation, and compares the two.

    Give ``impl`` and ``scratch`` in the class body. Each operation under ``@op`` does something to ``self.impl``, and
    the same to ``self.source``: that is what the other system is built from.
    """

    source: Any = list
    """Makes what the operations collect, for ``scratch``; on a machine, what they have collected."""

    scratch: Any
    """Builds a system from the whole source: ``scratch = SortedList``, or ``def scratch(self, source):``."""

    _hooks = (VIEW, SCRATCH)
    _required = (SCRATCH,)
    _sides = Sides("the system", "the one from scratch", "from scratch")

    @classmethod
    def _check_class(cls) -> None:
        """Raises MachineError when the system, its source or a function is missing."""
        super()._check_class()
        maker(cls, "source", _SOURCE)

    def __init__(self) -> None:
        """Raises MachineError when ``impl``, ``source`` or ``scratch`` is missing."""
        source = made(type(self), "source", _SOURCE)
        super().__init__()
        self.source = source

    def _compare_views(self) -> None:
        source, _ = for_two(self.source)
        built = self._called("scratch", source)
        if built is None or built is self.impl:
            raise MachineError(
                f"{type(self).__name__}.scratch() returned {'None' if built is None else 'self.impl'}",
                hint="build a new system from `source`, and return it",
            )
        ours, theirs = self._seen(self.impl), self._seen(built)
        self._count_view(ours)
        if not self.equal(ours, theirs):
            raise self._differ(f"after {self._current_op}", ours, theirs)
