"""Operations: rules of machines that compare, and how often one had an effect."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import multiple, rule

from ordeal.chaos import ChaosTest, RuleTimeoutError
from ordeal.errors import MachineError
from ordeal.model.call_result import awaited
from ordeal.swarm.weights import BASE_MAX, WEIGHT_MARKER

#: After this many calls without an effect, in this many runs, an operation is called vacuous. A single run may lack
#: what would give it one, because runs leave out operations.
VACUOUS_CALLS = 200
VACUOUS_RUNS = 60

OP_MARKER = "ordeal_op"
#: Exceptions that end a rule for a reason other than the system's behaviour.
PASSED_ON = (AssertionError, HypothesisException, MachineError, RuleTimeoutError)


class VacuousOpWarning(UserWarning):
    """An operation has never had an effect, so it tests nothing."""

    # It has always been a name of this package.
    __module__ = "ordeal.model"


@dataclass(slots=True)
class _Silence:
    """How often an operation was called, and in how many runs, before it first had an effect."""

    calls: int = 0
    runs: int = 0

    @property
    def is_vacuous(self) -> bool:
        return self.calls >= VACUOUS_CALLS and self.runs >= VACUOUS_RUNS


class OperationMachine(ChaosTest):
    """A machine whose rules are operations, under ``@op``. It warns of those that never have an effect."""

    swarm: ClassVar[bool | str] = "sizes"
    """As for ``ChaosTest``, but "sizes" unless said otherwise: what is filled only grows while little is taken out."""

    _silences: ClassVar[dict[str, _Silence]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raises MachineError when an attribute of the class body cannot be used."""
        super().__init_subclass__(**kwargs)
        cls._silences = {name: _Silence() for name in operations_of(cls)}

    def __init__(self) -> None:
        super().__init__()
        self._ops = 0
        self._had_effect = False
        self._both_raised = False
        self._silent_ops: set[str] = set()

    _current_op = "operation"

    def teardown(self) -> None:
        """Count the run, for operations without an effect, then end it."""
        try:
            self._count_run(sys.exception())
        finally:
            super().teardown()

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the body of an operation, and return what goes to its targets."""
        return function(self, *args, **kwargs)

    def _state_text(self) -> str:
        """Return the visible state as a text that changes with it; empty if nothing of it can be seen."""
        return ""

    def _awaited(self, result: Any) -> Any:
        is_awaited = inspect.isawaitable(result) or isinstance(result, AsyncIterator)
        return self.run_coroutine(awaited(result)) if is_awaited else result

    # -----------------------------------------------------------------------------------------------------------------
    # Operations that do nothing

    def _run_op(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = self._current_op = function.__name__
        self._had_effect, self._both_raised = False, False
        seen = self._seen_text(name)
        result = self._perform(function, args, kwargs)
        self._ops += 1
        if seen is not None:
            self._count_effect(name, seen)
        return result

    def _seen_text(self, name: str) -> str | None:
        """Return the visible state, until the operation is known to have an effect."""
        return self._state_text() if name in self._silences else None

    def _count_effect(self, name: str, seen: str) -> None:
        silent_success = not seen and not self._both_raised
        self._count_call(name, self._had_effect or silent_success or self._seen_text(name) != seen)

    def _count_call(self, name: str, had_effect: bool) -> None:
        if name not in self._silences:
            return
        if had_effect:
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


def operations_of(cls: type) -> list[str]:
    """Return the names of the methods of ``cls`` under ``@op``."""
    return [name for name in dir(cls) if hasattr(getattr(cls, name, None), OP_MARKER)]


def op(
    *, target: Any = None, targets: Any = (), weight: int = 1, **arguments: st.SearchStrategy[Any]
) -> Callable[[Any], Any]:
    """Make a method of a ``Pair`` or of an oracle an operation: a rule after which what should be equal is compared.

    Arguments are as for ``rule``. A parameter may have its strategy as default instead: ``def put(self, key=keys)``.
    With a target, the result of the method is added to it, unless both sides raised. Without, it is dropped. It is
    chosen ``weight`` times, from 1 to 1000, as often as an operation without; ``weights`` of the class take precedence.

    Raises:
        MachineError: it is not used as ``@op(...)`` above a plain method; a parameter has no strategy, or is
            positional-only; an argument is not a strategy or names no parameter; ``weight`` is out of range.
    """
    if type(weight) is not int or not 1 <= weight <= BASE_MAX:
        given: object = weight
        hint = f"write a whole number from 1 to {BASE_MAX}"
        if isinstance(given, st.SearchStrategy):
            hint = "`weight` is how often the operation is chosen: give the parameter of the method another name"
        raise MachineError(f"@op has the weight {weight!r}", hint=hint)

    def decorate(method: Any) -> Any:
        if not inspect.isfunction(method):
            raise MachineError(f"@op() needs a method, got {method!r}", hint="write @op(...) above a `def`")
        if inspect.iscoroutinefunction(method):
            raise MachineError(
                f"{method.__qualname__} is a coroutine function",
                hint="write a plain `def`: what self.both() calls is awaited, and so is what an operation of an oracle "
                "returns",
            )
        strategies = _strategies(method, arguments)
        has_target = target is not None or bool(targets)

        def operation(self: OperationMachine, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(self, OperationMachine):
                raise MachineError(
                    f"{type(self).__name__}.{method.__name__} is an @op of a class that is not a Pair",
                    hint=f"write `class {type(self).__name__}(Pair):`, or use @rule",
                )
            result = self._run_op(method, args, kwargs)
            if not has_target:
                return None
            return multiple() if self._both_raised and result is None else result

        functools.update_wrapper(operation, method)
        # Hypothesis inspects the parameters: these have no defaults any more.
        operation.__signature__ = _without_defaults(method)  # type: ignore[attr-defined]
        setattr(operation, OP_MARKER, True)
        where = {"target": target} if target is not None else {"targets": targets}
        ruled: Any = rule(**where, **strategies)(operation)  # type: ignore[no-untyped-call]
        setattr(ruled, OP_MARKER, True)
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
                f"{name}: {argument}={strategy!r} is not a strategy", hint=f"write {argument}=st.just({strategy!r})"
            )


def _without_defaults(method: Callable[..., Any]) -> inspect.Signature:
    signature = inspect.signature(method)
    strategic = st.SearchStrategy
    parameters = [
        p.replace(default=p.empty, kind=p.KEYWORD_ONLY) if isinstance(p.default, strategic) else p
        for p in signature.parameters.values()
    ]
    return signature.replace(parameters=sorted(parameters, key=lambda p: p.kind))
