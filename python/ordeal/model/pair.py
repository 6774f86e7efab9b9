"""Tests a system against a model: the same operations on both, and every result, error and view compared.

A ``Pair`` is a rule machine, so pytest and the Explorer run, replay and shrink it like any other.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import invariant, multiple, rule

from ordeal.chaos import ChaosTest, RuleTimeoutError
from ordeal.errors import MachineError
from ordeal.model.call_result import (
    Outcome,
    awaited,
    describe_difference,
    for_two,
    materialized,
    outcome_of,
    same,
    shown,
)
from ordeal.swarm.weights import BASE_MAX, WEIGHT_MARKER

__all__ = ["DivergenceError", "Pair", "VacuousOpWarning", "op", "same"]

#: After this many calls without an effect, in this many runs, an operation is called vacuous. A single run may lack
#: what would give it one, because runs leave out operations.
VACUOUS_CALLS = 200
VACUOUS_RUNS = 60

_OP_MARKER = "ordeal_op"
#: Exceptions that end a rule for a reason other than the system's behaviour.
_PASSED_ON = (AssertionError, HypothesisException, MachineError, RuleTimeoutError)

Equal = Callable[[Any, Any], bool]


class DivergenceError(AssertionError):
    """The system did something other than the model."""

    # Buckets and names of seeds contain this name: moving this file must not change them.
    __module__ = "ordeal.model"


class VacuousOpWarning(UserWarning):
    """An operation has never had an effect, so it tests nothing."""


@dataclass(slots=True)
class _Silence:
    """How often an operation was called, and in how many runs, before it first had an effect."""

    calls: int = 0
    runs: int = 0

    @property
    def is_vacuous(self) -> bool:
        return self.calls >= VACUOUS_CALLS and self.runs >= VACUOUS_RUNS


class Pair(ChaosTest):
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

    swarm: ClassVar[bool | str] = "sizes"
    """As for ``ChaosTest``, but "sizes" unless said otherwise: what is filled only grows while little is taken out."""

    every: ClassVar[int] = 1
    """The views are compared after every so many operations, and at the end of a run."""

    _silences: ClassVar[dict[str, _Silence]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises MachineError when ``errors`` or ``every`` cannot be used."""
        super().__init_subclass__(**kwargs)
        _check_settings(cls)
        cls._silences = {name: _Silence() for name in dir(cls) if hasattr(getattr(cls, name, None), _OP_MARKER)}

    def __init__(self) -> None:
        """Raises MachineError when ``impl`` or ``model`` is missing."""
        impl, model = _made(type(self), "impl"), _made(type(self), "model")
        super().__init__()
        self.impl, self.model = impl, model
        self._ops = 0
        self._ops_compared = 0
        self._had_effect = False
        self._both_raised = False
        self._silent_ops: set[str] = set()

    def view(self) -> tuple[Any, Any]:
        """Return what can be seen of the system, and of the model, in a form that should be equal.

        By default only the results of operations are compared.
        """
        return None, None

    def equal(self, ours: Any, theirs: Any) -> bool:
        """Return whether a result or view of the system matches that of the model; by default, see ``same``."""
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
        self._check_operation(operation)
        ours, theirs = for_two((args, kwargs))
        return self._compared(
            lambda: _call_text(operation, args, kwargs),
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

    @invariant()
    def _views_agree(self) -> None:
        if self._ops % self.every == 0:
            self._compare_views()

    def teardown(self) -> None:
        """Compare the views that ``every`` skipped, then end the run."""
        error = sys.exception()
        try:
            # An earlier failure is the finding; the views may differ because of it.
            if self._ops != self._ops_compared and error is None:
                self._compare_views()
            self._count_run(error)
        finally:
            super().teardown()

    # -----------------------------------------------------------------------------------------------------------------
    # Comparing

    def _check_operation(self, operation: str | Callable[[Any], Any]) -> None:
        if not isinstance(operation, str):
            return
        # Both would raise AttributeError or TypeError, which would count as equal.
        if not any(callable(getattr(side, operation, None)) for side in (self.impl, self.model)):
            system, model = _name(self.impl), _name(self.model)
            raise MachineError(
                f"neither the system ({system}) nor the model ({model}) has a method {operation!r}",
                hint=f"check the name; an attribute is compared by self.both(lambda side: side.{operation})",
            )

    def _outcome(self, call: Callable[[], Any]) -> Outcome:
        return outcome_of(lambda: self._awaited(call()), _PASSED_ON)

    def _awaited(self, result: Any) -> Any:
        is_awaited = inspect.isawaitable(result) or isinstance(result, AsyncIterator)
        return self.run_coroutine(awaited(result)) if is_awaited else result

    def _compared(self, call: Callable[[], str | None], ours: Outcome, theirs: Outcome, equal: Equal | None) -> Any:
        self._both_raised = ours.error is not None and theirs.error is not None
        self._had_effect = self._had_effect or ours.result is not None or theirs.result is not None
        if self._agree(ours, theirs, equal or self.equal):
            return None if self._both_raised else ours.result
        error = DivergenceError(
            f"{call() or self._current_op}: the system ({_name(self.impl)}) {ours}, "
            f"but the model ({_name(self.model)}) {theirs}{describe_difference(ours, theirs)}"
        )
        # Keep the traceback of the system's error, which says where it was raised.
        raise error.with_traceback(None if ours.error is None else ours.error.__traceback__) from ours.error

    _current_op = "operation"

    def _agree(self, ours: Outcome, theirs: Outcome, equal: Equal) -> bool:
        if ours.error is None and theirs.error is None:
            # A method that returns its own object, for chained calls, returns the same on both sides.
            itself = ours.result is self.impl and theirs.result is self.model
            return itself or bool(equal(ours.result, theirs.result))
        if ours.error is None or theirs.error is None:
            return False
        given = ours.result is not None or theirs.result is not None
        if given and not equal(ours.result, theirs.result):
            return False
        for system_error, model_error in self.errors.items():
            if isinstance(ours.error, system_error) and isinstance(theirs.error, model_error):
                return True
        return isinstance(ours.error, type(theirs.error))

    def _compare_views(self) -> None:
        self._ops_compared = self._ops
        ours, theirs = (Outcome(materialized(side)) for side in self._checked_view())
        if not self.equal(ours.result, theirs.result):
            raise DivergenceError(
                f"after {self._current_op} the views differ: the system ({_name(self.impl)}) shows "
                f"{ours.shown()}, but the model ({_name(self.model)}) shows {theirs.shown()}"
                f"{describe_difference(ours, theirs)}"
            )

    def _checked_view(self) -> tuple[Any, Any]:
        views: object = self.view()
        if isinstance(views, tuple) and len(views) == 2:
            return views
        raise MachineError(
            f"{type(self).__name__}.view() returned {views!r}, not a pair",
            hint="return two values: what the system shows, and what the model shows",
        )

    # -----------------------------------------------------------------------------------------------------------------
    # Operations that do nothing

    def _run_op(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = self._current_op = function.__name__
        self._had_effect, self._both_raised = False, False
        seen = self._seen_text(name)
        result = function(self, *args, **kwargs)
        self._ops += 1
        if seen is not None:
            self._count_effect(name, seen)
        return result

    def _seen_text(self, name: str) -> str | None:
        """Return the view of the model, until the operation is known to have an effect."""
        if name not in self._silences:
            return None
        return "" if type(self).view is Pair.view else repr(self._checked_view()[1])

    def _count_effect(self, name: str, seen: str) -> None:
        silent_success = not seen and not self._both_raised
        if self._had_effect or silent_success or self._seen_text(name) != seen:
            del self._silences[name]
        else:
            self._silences[name].calls += 1
            self._silent_ops.add(name)

    def _count_run(self, error: BaseException | None) -> None:
        """Count a run for each operation without an effect so far, and warn of the vacuous ones."""
        if isinstance(error, Exception) and not isinstance(error, HypothesisException):
            # From now on failing runs are replayed and shrunk, which says nothing about operations.
            self._silences.clear()
        if error is not None:
            return
        for name in sorted(self._silent_ops & self._silences.keys()):
            silence = self._silences[name]
            silence.runs += 1
            if silence.is_vacuous:
                del self._silences[name]
                self._warn(name, silence)

    def _warn(self, name: str, silence: _Silence) -> None:
        warnings.warn(
            f"vacuous op: {type(self).__name__}.{name} was called {silence.calls} times in {silence.runs} runs and "
            "never changed or returned anything; choose arguments that the system knows",
            VacuousOpWarning,
            stacklevel=1,
        )


def op(
    *, target: Any = None, targets: Any = (), weight: int = 1, **arguments: st.SearchStrategy[Any]
) -> Callable[[Any], Any]:
    """Make a method of a ``Pair`` an operation: a rule after which the two sides are compared.

    Arguments are as for ``rule``. A parameter may have its strategy as default instead: ``def put(self, key=keys)``.
    With a target, the result of the method is added to it, unless both sides raised. Without, it is dropped. It is
    chosen ``weight`` times, from 1 to 1000, as often as an operation without; ``weights`` of the class take precedence.

    Raises:
        MachineError: it is not used as ``@op(...)`` above a plain method; a parameter has no strategy, or is
            positional-only; an argument is no strategy or names no parameter; ``weight`` is out of range.
    """
    if type(weight) is not int or not 1 <= weight <= BASE_MAX:
        raise MachineError(f"@op has the weight {weight!r}", hint=f"write a whole number from 1 to {BASE_MAX}")

    def decorate(method: Any) -> Any:
        if not inspect.isfunction(method):
            raise MachineError(f"@op() needs a method, got {method!r}", hint="write @op(...) above a `def`")
        if inspect.iscoroutinefunction(method):
            raise MachineError(
                f"{method.__qualname__} is a coroutine function",
                hint="write a plain `def`: self.both() awaits what the two sides return",
            )
        strategies = _strategies(method, arguments)
        has_target = target is not None or bool(targets)

        def operation(self: Pair, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(self, Pair):
                raise MachineError(
                    f"{type(self).__name__}.{method.__name__} is an @op of a class that is no Pair",
                    hint=f"write `class {type(self).__name__}(Pair):`, or use @rule",
                )
            result = self._run_op(method, args, kwargs)
            if not has_target:
                return None
            return multiple() if self._both_raised and result is None else result

        functools.update_wrapper(operation, method)
        # Hypothesis inspects the parameters: these have no defaults any more.
        operation.__signature__ = _without_defaults(method)  # type: ignore[attr-defined]
        setattr(operation, _OP_MARKER, True)
        where = {"target": target} if target is not None else {"targets": targets}
        ruled: Any = rule(**where, **strategies)(operation)  # type: ignore[no-untyped-call]
        setattr(ruled, _OP_MARKER, True)
        setattr(ruled, WEIGHT_MARKER, weight)
        return ruled

    return decorate


def _strategies(method: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    strategies = dict(arguments)
    _, *parameters = inspect.signature(method).parameters.values()
    _check_arguments(method, parameters, arguments)
    for parameter in parameters:
        if parameter.name in strategies or parameter.kind in _OPEN_ENDED:
            continue
        if isinstance(parameter.default, st.SearchStrategy):
            strategies[parameter.name] = parameter.default
        elif parameter.default is parameter.empty:
            raise MachineError(
                f"{method.__qualname__}: the parameter {parameter.name!r} has no strategy",
                hint=f"write @op({parameter.name}=st.integers()), or the like",
            )
    return strategies


_OPEN_ENDED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _check_arguments(
    method: Callable[..., Any], parameters: list[inspect.Parameter], arguments: dict[str, Any]
) -> None:
    name = method.__qualname__
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise MachineError(
                f"{name}: the parameter {parameter.name!r} can be given by position only, and rules name theirs",
                hint="leave the `/` out",
            )
    names = [parameter.name for parameter in parameters if parameter.kind not in _OPEN_ENDED]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    for argument, strategy in arguments.items():
        if argument not in names and not takes_any:
            raise MachineError(f"{name} has no parameter {argument!r}", hint=f"it has: {', '.join(names) or 'none'}")
        if not isinstance(strategy, st.SearchStrategy):
            raise MachineError(
                f"{name}: {argument}={strategy!r} is no strategy", hint=f"write {argument}=st.just({strategy!r})"
            )


def _without_defaults(method: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(method)
    strategic = st.SearchStrategy
    parameters = [
        p.replace(default=p.empty, kind=p.KEYWORD_ONLY) if isinstance(p.default, strategic) else p
        for p in signature.parameters.values()
    ]
    return signature.replace(parameters=sorted(parameters, key=lambda p: p.kind))


def _made(cls: type[Pair], side: str) -> Any:
    factory = inspect.getattr_static(cls, side)
    if isinstance(factory, staticmethod | classmethod):
        factory = factory.__get__(None, cls)
    if not callable(factory):
        what = "is missing" if factory is None else f"is {factory!r}, which makes nothing"
        raise MachineError(
            f"{cls.__name__}.{side} {what}",
            hint="write for example `impl, model = MyCache, dict` in the class body",
        )
    return factory()


def _check_settings(cls: type[Pair]) -> None:
    if type(cls.every) is not int or cls.every < 1:
        raise MachineError(f"{cls.__name__}.every is {cls.every!r}", hint="write a whole number from 1")
    errors: object = cls.errors
    classes = [*errors.keys(), *errors.values()] if isinstance(errors, Mapping) else [None]
    if not all(isinstance(error, type) and issubclass(error, Exception) for error in classes):
        raise MachineError(
            f"{cls.__name__}.errors is {errors!r}, not exceptions by exceptions",
            hint="write the system's on the left: errors = {NotFoundError: KeyError}",
        )


def _name(side: Any) -> str:
    return type(side).__name__


def _called(side: Any, operation: str | Callable[[Any], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(operation, str):
        return getattr(side, operation)(*args, **kwargs)
    return operation(side, *args, **kwargs)


def _call_text(operation: str | Callable[[Any], Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    if not isinstance(operation, str):
        return None
    arguments = [*map(shown, args), *(f"{name}={shown(value)}" for name, value in kwargs.items())]
    return f"{operation}({', '.join(arguments)})"
