"""Two implementations of one thing: each operation is written once, done to both, and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ordeal.errors import DivergenceError
from ordeal.model.call_result import Outcome, Sides, agree, for_two, outcome_of
from ordeal.model.comparing_machine import ComparingMachine
from ordeal.model.definition import check_errors, made, maker
from ordeal.model.operation import PASSED_ON
from ordeal.model.oracle import Oracle

_MAKERS = "write for example `impl, other = FastStore, SlowStore` in the class body"


class TwoImplementations(ComparingMachine, Oracle):
    """Runs each operation on two implementations, and compares results, errors and views.

    Give ``impl`` and ``other`` in the class body. The body of an operation under ``@op`` runs twice: ``self.impl`` is
    first the one, then the other. What it returns is compared.
    """

    other: Any = None
    """Makes the other implementation; on a machine, that one."""

    errors: ClassVar[Mapping[type[Exception], type[Exception]]] = {}
    """Which error of ``impl`` stands for which of ``other``.

    An error that is not listed must be of the class of the other's error, or of one derived from it.
    """

    _sides = Sides("impl", "other", "in other")

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises MachineError when an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        check_errors(cls)

    @classmethod
    def _check_class(cls) -> None:
        """Raises MachineError when an implementation is missing."""
        super()._check_class()
        maker(cls, "other", _MAKERS)

    def __init__(self) -> None:
        """Raises MachineError when ``impl`` or ``other`` is missing."""
        super().__init__()
        self.other = made(type(self), "other", _MAKERS)

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        one, other = self.impl, self.other
        for_one, for_other = for_two((args, kwargs))
        ours = self._outcome(function, one, *for_one)
        theirs = self._outcome(function, other, *for_other)
        self._both_raised = ours.error is not None and theirs.error is not None
        self._had_effect = self._had_effect or ours.result is not None or theirs.result is not None
        itself = ours.result is one and theirs.result is other and ours.error is theirs.error
        if not itself and not agree(ours, theirs, self.equal, self.errors):
            returned = ours.error is None and theirs.error is None
            difference = self._sides.describe_difference(ours.result, theirs.result) if returned else ""
            error = DivergenceError.after(
                self._current_op,
                f"{self._current_op}: impl ({type(one).__name__}) {ours}, but other ({type(other).__name__}) {theirs}"
                f"{difference}",
            )
            raise error.with_traceback(None if ours.error is None else ours.error.__traceback__) from ours.error
        return None if self._both_raised else ours.result

    def _outcome(
        self, function: Callable[..., Any], impl: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Outcome:
        """Return what an operation does to ``impl``."""
        one = self.impl
        self.impl = impl
        try:
            return outcome_of(lambda: self._awaited(function(self, *args, **kwargs)), PASSED_ON)
        finally:
            self.impl = one

    def _compare_views(self) -> None:
        ours, theirs = self._seen(self.impl), self._seen(self.other)
        self._count_view(ours)
        if not self.equal(ours, theirs):
            raise self._differ(f"after {self._current_op} the views differ", ours, theirs)
