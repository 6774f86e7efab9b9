"""Tests a system against a model: the same operations on both, and every result, error and view compared.

A ``Pair`` is a rule machine, so pytest and the Explorer run, replay and shrink it like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ordeal.errors import DivergenceError, MachineError
from ordeal.model.call_result import CallEnd, Sides, agree, for_two, materialized, outcome_of, same, shown
from ordeal.model.definition import ComparingMachine, check_errors, maker
from ordeal.model.operation import PASSED_ON, op

__all__ = ["DivergenceError", "Pair", "op", "same"]

Equal = Callable[[Any, Any], bool]

_MAKERS = "write for example `impl, model = MyCache, dict` in the class body"
_SIDES = Sides("the system", "the model", "in the model")


class Pair(ComparingMachine):
    """A rule machine that does the same to a system and to a model of it.

    Set ``impl`` and ``model`` in the class body to what makes one of each: a class or a function without arguments.
    During a run, ``self.impl`` and ``self.model`` are the two. Write each operation as a method under ``@op`` that
    calls ``self.both``, and override ``view`` to have the whole visible state compared after each.
    """

    impl: Any = None
    """Makes the system under test; on a machine, the system."""

    model: Any = None
    """Makes the model; on a machine, the model."""

    errors: ClassVar[Mapping[type[Exception], type[Exception]]] = {}
    """Which error of the system stands for which of the model.

    An error that is not listed must be of the class of the model's error, or of one derived from it.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raise MachineError if ``errors`` or ``every`` cannot be used."""
        super().__init_subclass__(**kwargs)
        check_errors(cls)

    @classmethod
    def _check_class(cls) -> None:
        """Raise MachineError if ``impl`` or ``model`` is missing."""
        super()._check_class()
        maker(cls, "impl", _MAKERS)
        maker(cls, "model", _MAKERS)

    def __init__(self) -> None:
        """Raise MachineError if ``impl`` or ``model`` is missing."""
        impl, model = (maker(type(self), name, _MAKERS)() for name in ("impl", "model"))
        super().__init__()
        self.impl, self.model = impl, model

    def view(self) -> tuple[Any, Any]:
        """Return what can be seen of the system, and of the model, in a form that should be equal.

        By default only the results of operations are compared.
        """
        return None, None

    def equal(self, ours: Any, theirs: Any) -> bool:
        """Return True if ``ours``, of the system, matches ``theirs``; by default, as ``same`` compares."""
        return same(ours, theirs)

    def both(self, operation: str | Callable[[Any], Any], /, *args: Any, **kwargs: Any) -> Any:
        """Apply ``operation`` to the system and to the model, and compare the outcomes.

        Args:
            operation: the name of a method of both, or a function that receives one of the two.
            *args: passed to it. Each side gets its own collections and iterators.
            **kwargs: the same, by name.

        Returns:
            What the system returned; None when both raised. Awaitables are awaited; an iterator is read, and returned
            as a list.

        Raises:
            DivergenceError: only one of them raised, or their results or errors differ.
            MachineError: neither of them has such a method.
        """
        # Both would raise AttributeError or TypeError, which would count as equal.
        sides = (self.impl, self.model)
        if isinstance(operation, str) and not any(callable(getattr(side, operation, None)) for side in sides):
            system, model = map(_name, sides)
            raise MachineError(
                f"neither the system ({system}) nor the model ({model}) has a method {operation!r}",
                hint=f"check the name; an attribute is compared by self.both(lambda side: side.{operation})",
            )

        def call_text() -> str | None:
            if not isinstance(operation, str):
                return None
            arguments = [*map(shown, args), *(f"{name}={shown(value)}" for name, value in kwargs.items())]
            return f"{operation}({', '.join(arguments)})"

        ours, theirs = for_two((args, kwargs))
        return self._compared(
            call_text,
            self._outcome(lambda: _called(self.impl, operation, *ours)),
            self._outcome(lambda: _called(self.model, operation, *theirs)),
            None,
        )

    def match(self, ours: Callable[[], Any], theirs: Callable[[], Any], /, *, equal: Equal | None = None) -> Any:
        """Compare what ``ours()`` does to the system with what ``theirs()`` does to the model.

        For operations that the two spell differently, or whose results are compared by a special function, ``equal``.
        Returns and raises as ``both`` does.
        """
        return self._compared(lambda: None, self._outcome(ours), self._outcome(theirs), equal)

    # -----------------------------------------------------------------------------------------------------------------
    # Comparing

    def _outcome(self, call: Callable[[], Any]) -> CallEnd:
        return outcome_of(lambda: self._awaited(call()), PASSED_ON)

    def _compared(self, call: Callable[[], str | None], ours: CallEnd, theirs: CallEnd, equal: Equal | None) -> Any:
        self._both_raised = ours.error is not None and theirs.error is not None
        # A method that returns its own object, for chained calls, returns the same on both sides.
        returned = ours.error is None and theirs.error is None
        is_chained = returned and ours.result is self.impl and theirs.result is self.model
        if is_chained or agree(ours, theirs, equal or self.equal, self.errors):
            return None if self._both_raised else ours.result
        difference = _SIDES.describe_difference(ours.result, theirs.result) if returned else ""
        error = DivergenceError(
            f"{call() or self._current_op}: the system ({_name(self.impl)}) {ours}, "
            f"but the model ({_name(self.model)}) {theirs}{difference}"
        )
        # Keep the traceback of the system's error, which says where it was raised.
        raise error.with_traceback(None if ours.error is None else ours.error.__traceback__) from ours.error

    def _compare_views(self) -> None:
        views: object = self.view()
        if not (isinstance(views, tuple) and len(views) == 2):
            raise MachineError(
                f"{type(self).__name__}.view() returned {views!r}, not a pair",
                hint="return two values: what the system shows, and what the model shows",
            )
        ours, theirs = (CallEnd(materialized(side)) for side in views)
        if not self.equal(ours.result, theirs.result):
            raise DivergenceError.after(
                self._current_op,
                f"after {self._current_op} the views differ: the system ({_name(self.impl)}) shows "
                f"{ours.shown()}, but the model ({_name(self.model)}) shows {theirs.shown()}"
                f"{_SIDES.describe_difference(ours.result, theirs.result)}",
            )


def _name(side: Any) -> str:
    return type(side).__name__


def _called(side: Any, operation: str | Callable[[Any], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(operation, str):
        return getattr(side, operation)(*args, **kwargs)
    return operation(side, *args, **kwargs)
