"""Undo: what an operation did and undo takes back is as before."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis.stateful import precondition, rule

from ordeal.model.call_result import Sides
from ordeal.model.definition import Hook, takes
from ordeal.model.oracle import VIEW, Oracle
from ordeal.swarm.weights import WEIGHT_MARKER

UNDO = Hook("undo", ("done",), "", "self.impl.undo()", optional=1)
REDO = Hook("redo", ("done",), "", "self.impl.redo()", optional=1)
#: Undoing is about as frequent as all operations of a small machine together.
_WEIGHT = 2


@dataclass(slots=True)
class _Done:
    """An operation that can be undone: what it returned, and the views before and after."""

    name: str
    result: Any
    before: Any
    after: Any


class Undo(Oracle):
    """Applies operations and undoes them, the last one first; each time, the view must be what it was before.

    Give ``impl`` and ``undo`` in the class body, and write the operations under ``@op``. With ``redo``, what was undone
    is also done again, as long as no operation comes between. One that leaves the view as it is has nothing to undo.
    """

    undo: Any
    """Takes back the last operation: ``def undo(self):``, or ``def undo(self, done):`` with what it returned."""

    redo: ClassVar[Any] = None
    """Does again what was undone last, written as ``undo`` is; optional."""

    _hooks = (VIEW, UNDO, REDO)
    _required = (UNDO,)
    _own_rules = ("undo_last", "redo_last")
    _sides = Sides("the system", "the view of then", "then")
    #: Those of ``undo`` and ``redo`` that take what the operation returned.
    _with_result: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises MachineError when an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        cls._with_result = frozenset(name for name in ("undo", "redo") if _takes_result(cls, name))

    def __init__(self) -> None:
        """Raises MachineError when ``impl`` or ``undo`` is missing."""
        super().__init__()
        self._done: list[_Done] = []
        self._undone: list[_Done] = []

    @precondition(lambda self: bool(self._done))
    @rule()
    def undo_last(self) -> None:
        """Undo the last operation."""
        done = self._done[-1]
        if self._still_shows(done.after):
            self._undone.append(self._done.pop())
            self._take("undo", done, done.before, "before")

    @precondition(lambda self: self.redo is not None and bool(self._undone))
    @rule()
    def redo_last(self) -> None:
        """Do again what was undone last."""
        done = self._undone[-1]
        if self._still_shows(done.before):
            self._done.append(self._undone.pop())
            self._take("redo", done, done.after, "after")

    for _rule in (undo_last, redo_last):
        setattr(_rule, WEIGHT_MARKER, _WEIGHT)
    del _rule

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = self._seen(self.impl)
        if self._done and not self.equal(before, self._done[-1].after):
            self._forget()
        result = self._awaited(function(self, *args, **kwargs))
        after = self._seen(self.impl)
        self._last_seen = before
        self._count_view(after)
        # Even one that changes nothing may make it impossible to redo.
        self._undone.clear()
        if not self.equal(before, after):
            self._done.append(_Done(function.__name__, result, before, after))
        return result

    def _still_shows(self, view: Any) -> bool:
        """Return whether only operations changed the system: what another rule did cannot be undone."""
        if self.equal(self._seen(self.impl), view):
            return True
        self._forget()
        return False

    def _forget(self) -> None:
        self._done.clear()
        self._undone.clear()

    def _take(self, hook: str, done: _Done, wanted: Any, when: str) -> None:
        self._current_op = done.name
        self._awaited(getattr(self, hook)(*([done.result] if hook in self._with_result else [])))
        got = self._seen(self.impl)
        if not self.equal(got, wanted):
            raise self._differ(f"after {hook} of {done.name}, not as {when} {done.name}", got, wanted)


def _takes_result(cls: type[Undo], name: str) -> bool:
    function = getattr(cls, name, None)
    is_plain = isinstance(inspect.getattr_static(cls, name, None), staticmethod)
    return function is not None and takes(function, 1 if is_plain else 2)
