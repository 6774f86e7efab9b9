"""Idempotence: what is done twice is as if it were done once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ordeal.errors import DivergenceError
from ordeal.model.call_result import Sides, for_two, shown
from ordeal.model.operation import PASSED_ON
from ordeal.model.oracle import Oracle


class Idempotence(Oracle):
    """Runs each operation twice in a row; the second time must change nothing that can be seen, and raise nothing.

    Give ``impl`` in the class body. What under ``@op`` is done twice; write what may be done only once under ``@rule``.
    """

    _sides = Sides("the system", "it after the first", "after the first")

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        (first_args, first_kwargs), (again_args, again_kwargs) = for_two((args, kwargs))
        result = self._awaited(function(self, *first_args, **first_kwargs))
        once = self._seen(self.impl)
        self._count_view(once)
        try:
            self._awaited(function(self, *again_args, **again_kwargs))
        except PASSED_ON:
            raise
        except Exception as error:
            said = f"{self._current_op} raises {type(error).__name__} when it is done again: {error}"
            failure = DivergenceError.after(self._current_op, f"{said}\n  the system showed {shown(once)}")
            raise failure.with_traceback(error.__traceback__) from error
        twice = self._seen(self.impl)
        if not self.equal(twice, once):
            raise self._differ(f"after {self._current_op} was done again", twice, once)
        return result
