"""Incremental against from scratch: what was built step by step must equal what is built at once."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from hypothesis.stateful import invariant

from ordeal.errors import MachineError
from ordeal.model.call_result import Sides, for_two
from ordeal.model.definition import Hook, check_count, made, maker
from ordeal.model.oracle import VIEW, Oracle

SCRATCH = Hook("scratch", ("source",), "scratch = SortedList", "return Index(source)")
_SOURCE = "write what makes the collected input, such as `source = list`"


class Incremental(Oracle):
    """Updates a system step by step, builds another one from scratch after each operation, and compares the two.

    Give ``impl`` and ``scratch`` in the class body. Each operation under ``@op`` does something to ``self.impl``, and
    the same to ``self.source``: that is what the other system is built from.
    """

    source: Any = list
    """Makes what the operations collect, for ``scratch``; on a machine, what they have collected."""

    scratch: Any
    """Builds a system from the whole source: ``scratch = SortedList``, or ``def scratch(self, source):``."""

    every: ClassVar[int] = 1
    """The two are compared after every so many operations, and at the end of a run."""

    _hooks = (VIEW, SCRATCH)
    _required = (SCRATCH,)
    _sides = Sides("the system", "the one from scratch", "from scratch")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises MachineError when an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        check_count(cls, "every")

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
        self._ops_compared = -1

    @invariant()
    def _equals_scratch(self) -> None:
        if self._ops % self.every == 0:
            self._compare()

    def teardown(self) -> None:
        """Make the comparison that ``every`` skipped, then end the run."""
        try:
            if self._ops != self._ops_compared and sys.exception() is None:
                self._compare()
        finally:
            super().teardown()

    def _compare(self) -> None:
        self._ops_compared = self._ops
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
