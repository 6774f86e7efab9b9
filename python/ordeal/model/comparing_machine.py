"""Machines that compare after every so many operations, and at the end of a run."""

from __future__ import annotations

import sys
from typing import Any, ClassVar

from hypothesis.stateful import invariant

from ordeal.model.definition import check_count
from ordeal.model.operation import OperationMachine


class ComparingMachine(OperationMachine):
    """A machine with a comparison, ``_compare_views``, that is made after every so many operations."""

    every: ClassVar[int] = 1
    """The comparison is made after every so many operations, and at the end of a run."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises MachineError when an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        check_count(cls, "every")

    def __init__(self) -> None:
        super().__init__()
        self._ops_compared = 0

    @invariant()
    def _views_agree(self) -> None:
        if self._ops % self.every == 0:
            self._compare()

    def teardown(self) -> None:
        """Make the comparison that ``every`` skipped, then end the run."""
        try:
            # An earlier failure is the finding; the views may differ because of it.
            if self._ops != self._ops_compared and sys.exception() is None:
                self._compare()
        finally:
            super().teardown()

    def _compare(self) -> None:
        self._ops_compared = self._ops
        self._compare_views()

    def _compare_views(self) -> None:
        """Raise DivergenceError when what should be equal differs."""
        raise NotImplementedError
