"""Machines that check a law of some functions: idempotence, round trips, undoing, two implementations, increments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis.stateful import precondition, rule

from ordeal.errors import DivergenceError, MachineError
from ordeal.model.call_result import CallEnd, Sides, agree, for_two, outcome_of, shown
from ordeal.model.definition import ComparingMachine, Hook, check_errors, maker, takes
from ordeal.model.operation import PASSED_ON
from ordeal.model.oracle import VIEW, Oracle
from ordeal.swarm.weights import WEIGHT_MARKER


class Idempotence(Oracle):
    """Runs each operation twice in a row; the second time must change nothing that can be seen, and raise nothing.

    Give ``impl`` in the class body. What under ``@op`` is done twice; write what may be done only once under ``@rule``.
    """

    _sides = Sides("the system", "it after the first", "after the first")

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        (first_args, first_kwargs), (again_args, again_kwargs) = for_two((args, kwargs))
        result = self._awaited(function(self, *first_args, **first_kwargs))
        once = self._seen(self.impl)
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
        """Raise MachineError if the system, its source or a function is missing."""
        super()._check_class()
        maker(cls, "source", _SOURCE)

    def __init__(self) -> None:
        """Raise MachineError if ``impl``, ``source`` or ``scratch`` is missing."""
        source = maker(type(self), "source", _SOURCE)()
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
        if not self.equal(ours, theirs):
            raise self._differ(f"after {self._current_op}", ours, theirs)


DUMP = Hook("dump", ("impl",), "dump = json.dumps", "return impl.to_text()")
LOAD = Hook("load", ("dumped",), "load = json.loads", "return MyStore.from_text(dumped)")


class RoundTrip(ComparingMachine, Oracle):
    """Edits a system, dumps and loads it after each operation, and compares the two.

    Give ``impl``, ``dump`` and ``load`` in the class body, and write the operations under ``@op``. A rule
    ``reload_dumped`` puts what was loaded in the place of the system, so that it is edited on.
    """

    dump: Any
    """Returns the dumped form of a system: ``dump = json.dumps``, or ``def dump(self, impl):``."""

    load: Any
    """Returns a new system for a dumped form: ``load = json.loads``, or ``def load(self, dumped):``."""

    reload: ClassVar[bool] = True
    """Whether runs go on with what was loaded; False where ``load`` makes something else than ``impl`` does."""

    _hooks = (VIEW, DUMP, LOAD)
    _required = (DUMP, LOAD)
    _own_rules = ("reload_dumped",)
    _sides = Sides("the system", "what was loaded", "loaded as")

    @precondition(lambda self: self.reload)
    @rule()
    def reload_dumped(self) -> None:
        """Continue with what is loaded from the dumped form."""
        self._current_op = "reload_dumped"
        self.impl = self._loaded(self._dumped())

    def _compare_views(self) -> None:
        before = self._seen(self.impl)
        dumped = self._dumped()
        after = self._seen(self.impl)
        if not self.equal(before, after):
            sides = Sides("the system before", "the system after it", "afterwards")
            raise DivergenceError.after(
                self._current_op,
                f"after {self._current_op}, dump() changes the system: it shows {shown(before)} before, and "
                f"{shown(after)} after it{sides.describe_difference(before, after)}",
            )
        loaded = self._seen(self._loaded(dumped))
        if not self.equal(before, loaded):
            raise self._differ(f"after {self._current_op}, dumped as {shown(dumped)}", before, loaded)

    def _dumped(self) -> Any:
        dumped = self._called("dump", self.impl)
        if dumped is None:
            raise MachineError(
                f"{type(self).__name__}.dump() returned None",
                hint="return the dumped text or bytes; one that writes into a file is given an io.StringIO(), whose "
                "getvalue() is returned",
            )
        return dumped

    def _loaded(self, dumped: Any) -> Any:
        name = type(self).__name__
        try:
            loaded = self._called("load", dumped)
        except PASSED_ON:
            raise
        except Exception as error:
            failure = DivergenceError.after(
                self._current_op,
                f"after {self._current_op}, what was dumped cannot be loaded: {shown(dumped)} raises "
                f"{type(error).__name__}: {error}",
            )
            # The traceback of the error says where it was raised.
            raise failure.with_traceback(error.__traceback__) from error
        if loaded is None:
            raise MachineError(
                f"{name}.load() returned None", hint="make a new system, fill it from `dumped`, and return it"
            )
        if loaded is self.impl:
            raise MachineError(
                f"{name}.load() returned self.impl, which equals itself",
                hint="make a new system from `dumped`, and return it",
            )
        if self.reload and type(loaded) is not type(self.impl):
            raise MachineError(
                f"{name}.load() returned a {type(loaded).__name__}, and operations are written for a "
                f"{type(self.impl).__name__}",
                hint="write `reload = False` in the class body, so that it is compared alone",
            )
        return loaded


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
        """Raise MachineError if an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        check_errors(cls)

    @classmethod
    def _check_class(cls) -> None:
        """Raise MachineError if an implementation is missing."""
        super()._check_class()
        maker(cls, "other", _MAKERS)

    def __init__(self) -> None:
        """Raise MachineError if ``impl`` or ``other`` is missing."""
        super().__init__()
        self.other = maker(type(self), "other", _MAKERS)()

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        one, other = self.impl, self.other
        for_one, for_other = for_two((args, kwargs))
        ours = self._outcome(function, one, *for_one)
        theirs = self._outcome(function, other, *for_other)
        self._both_raised = ours.error is not None and theirs.error is not None
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
    ) -> CallEnd:
        """Return what an operation does to ``impl``."""
        one = self.impl
        self.impl = impl
        try:
            return outcome_of(lambda: self._awaited(function(self, *args, **kwargs)), PASSED_ON)
        finally:
            self.impl = one

    def _compare_views(self) -> None:
        ours, theirs = self._seen(self.impl), self._seen(self.other)
        if not self.equal(ours, theirs):
            raise self._differ(f"after {self._current_op} the views differ", ours, theirs)


UNDO = Hook("undo", ("done",), "", "self.impl.undo()", optional=1)
REDO = Hook("redo", ("done",), "", "self.impl.redo()", optional=1)


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
        """Raise MachineError if an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        taking = set[str]()
        for name in ("undo", "redo"):
            function = getattr(cls, name, None)
            is_plain = isinstance(inspect.getattr_static(cls, name, None), staticmethod)
            if function is not None and takes(function, 1 if is_plain else 2):
                taking.add(name)
        cls._with_result = frozenset(taking)

    def __init__(self) -> None:
        """Raise MachineError if ``impl`` or ``undo`` is missing."""
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
        # Undoing is about as frequent as all operations of a small machine together.
        setattr(_rule, WEIGHT_MARKER, 2)
    del _rule

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = self._seen(self.impl)
        if self._done and not self.equal(before, self._done[-1].after):
            self._forget()
        result = self._awaited(function(self, *args, **kwargs))
        after = self._seen(self.impl)
        # Even one that changes nothing may make it impossible to redo.
        self._undone.clear()
        if not self.equal(before, after):
            self._done.append(_Done(function.__name__, result, before, after))
        return result

    def _still_shows(self, view: Any) -> bool:
        """Return True if only operations changed the system: what another rule did cannot be undone."""
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
