"""Operations: rules of machines that compare."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import multiple, rule

from ordeal.chaos import ChaosTest, RuleTimeoutError
from ordeal.errors import MachineError
from ordeal.model.call_result import awaited
from ordeal.swarm.weights import BASE_MAX, WEIGHT_MARKER

OP_MARKER = "ordeal_op"
#: Exceptions that end a rule for a reason other than the system's behaviour.
PASSED_ON = (AssertionError, HypothesisException, MachineError, RuleTimeoutError)


class OperationMachine(ChaosTest):
    """A machine whose rules are operations, under ``@op``."""

    swarm: ClassVar[bool | str] = "sizes"
    """As for ``ChaosTest``, but "sizes" unless said otherwise: what is filled only grows while little is taken out."""

    def __init__(self) -> None:
        super().__init__()
        self._ops = 0
        self._both_raised = False

    _current_op = "operation"

    def _perform(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the body of an operation, and return what goes to its targets."""
        return function(self, *args, **kwargs)

    def _awaited(self, result: Any) -> Any:
        is_awaited = inspect.isawaitable(result) or isinstance(result, AsyncIterator)
        return self.run_coroutine(awaited(result)) if is_awaited else result


def operations_of(cls: type) -> list[str]:
    """Return the names of the methods of ``cls`` under ``@op``."""
    return [name for name in dir(cls) if hasattr(getattr(cls, name, None), OP_MARKER)]


def op(
    *, target: Any = None, targets: Any = (), weight: int = 1, **arguments: st.SearchStrategy[Any]
) -> Callable[[Any], Any]:
    """Make a method of a ``Pair`` or of an oracle an operation: a rule after which what should be equal is compared.

    ``target``, ``targets`` and the other arguments are as for ``rule``. A parameter may have its strategy as default
    instead: ``def put(self, key=keys)``. With a target, the result of the method is added to it, unless both sides
    raised. Without, it is dropped. It is chosen ``weight`` times, from 1 to 1000, as often as an operation without;
    ``weights`` of the class take precedence.

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
            self._current_op, self._both_raised = method.__name__, False
            result = self._perform(method, args, kwargs)
            self._ops += 1
            if not has_target:
                return None
            return multiple() if self._both_raised and result is None else result

        functools.update_wrapper(operation, method)
        # Hypothesis inspects the parameters: a strategy is not a default there.
        signature = inspect.signature(method)
        parameters = [
            p.replace(default=p.empty, kind=p.KEYWORD_ONLY) if isinstance(p.default, st.SearchStrategy) else p
            for p in signature.parameters.values()
        ]
        parameters.sort(key=lambda p: p.kind)
        operation.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        setattr(operation, OP_MARKER, True)
        where = {"target": target} if target is not None else {"targets": targets}
        ruled: Any = rule(**where, **strategies)(operation)  # type: ignore[no-untyped-call]
        setattr(ruled, OP_MARKER, True)
        setattr(ruled, WEIGHT_MARKER, weight)
        return ruled

    return decorate


def _strategies(method: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
    strategies, method_name = dict(arguments), method.__qualname__
    _, *parameters = inspect.signature(method).parameters.values()
    for parameter in parameters:
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise MachineError(
                f"{method_name}: the parameter {parameter.name!r} is positional-only, and rules pass arguments by name",
                hint="leave the `/` out",
            )
    names = [parameter.name for parameter in parameters if parameter.kind not in _OPEN_ENDED]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    for argument, strategy in arguments.items():
        if argument not in names and not takes_any:
            known = ", ".join(names) or "none"
            raise MachineError(f"{method_name} has no parameter {argument!r}", hint=f"it has: {known}")
        if not isinstance(strategy, st.SearchStrategy):
            wrong = f"{method_name}: {argument}={strategy!r} is not a strategy"
            raise MachineError(wrong, hint=f"write {argument}=st.just({strategy!r})")
    for parameter in parameters:
        if parameter.name in strategies or parameter.kind in _OPEN_ENDED:
            continue
        if isinstance(parameter.default, st.SearchStrategy):
            strategies[parameter.name] = parameter.default
        elif parameter.default is parameter.empty:
            raise MachineError(
                f"{method_name}: the parameter {parameter.name!r} has no strategy",
                hint=f"write @op({parameter.name}=st.integers()), or the like",
            )
    return strategies


_OPEN_ENDED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
