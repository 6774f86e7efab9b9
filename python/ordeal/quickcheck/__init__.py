"""Property tests from type hints: ``@quickcheck`` over a function with typed parameters.

The module can be called like the function of that name: ``from ordeal import quickcheck`` gives both.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, get_type_hints, overload

from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

from ordeal._base.callable_module import make_callable
from ordeal.errors import ConfigError
from ordeal.quickcheck import biased
from ordeal.quickcheck.by_type import strategy_for_type

__all__ = ["biased", "quickcheck", "strategy_for_type"]

Test = Callable[..., None]
EXAMPLE = "write for example `def test_sum(xs: list[int]) -> None:`"


@overload
def quickcheck(fn: Test, /) -> Test: ...


@overload
def quickcheck(
    fn: None = None, /, *, max_examples: int = 100, **overrides: SearchStrategy[Any]
) -> Callable[[Test], Test]: ...


def quickcheck(fn: Test | None = None, /, *, max_examples: int = 100, **overrides: SearchStrategy[Any]) -> Any:
    """Run a test with arguments made from its type hints; Hypothesis shrinks and replays failures.

    Use it as ``@quickcheck`` or as ``@quickcheck(max_examples=500, port=st.integers(1, 65535))``. A parameter with a
    default and no hint keeps its default. The ``self`` of a method is left alone.

    Args:
        fn: the test, if no other argument is given.
        max_examples: how often it is run.
        overrides: strategies for parameters, by name; they need no hint.

    Raises:
        ConfigError: a parameter has neither a hint nor an override, or a hint for which no values can be made; an
            override is not a strategy or names no parameter; nothing is drawn; the test is a coroutine.
    """
    if type(max_examples) is not int or max_examples < 1:
        raise ConfigError(f"quickcheck(max_examples={max_examples!r})", hint="write a whole number from 1")
    if fn is not None and not callable(fn):
        raise ConfigError(f"@quickcheck needs a function, got {fn!r}", hint="write @quickcheck above a test")

    def decorate(test: Test) -> Test:
        strategies = _strategies(test, overrides)
        plain = _without_defaults(test, set(strategies))
        checked: Test = settings(max_examples=max_examples)(given(**strategies)(plain))
        return checked

    return decorate if fn is None else decorate(fn)


def _without_defaults(test: Test, drawn: set[str]) -> Test:
    """Return ``test`` as Hypothesis needs it: without defaults, and without the parameters that keep theirs."""
    signature = inspect.signature(test)
    if all(parameter.default is parameter.empty for parameter in signature.parameters.values()):
        return test

    @functools.wraps(test)
    def plain(*args: Any, **kwargs: Any) -> Any:
        return test(*args, **kwargs)

    left = [p for p in signature.parameters.values() if p.name in drawn or p.default is p.empty]
    parameters = [p.replace(default=p.empty) for p in left]
    plain.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return plain


def _strategies(test: Test, overrides: dict[str, SearchStrategy[Any]]) -> dict[str, SearchStrategy[Any]]:
    name = getattr(test, "__qualname__", repr(test))
    if inspect.iscoroutinefunction(test):
        raise ConfigError(f"{name} is a coroutine function", hint="call asyncio.run(...) in a plain test")
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = {name: p for name, p in inspect.signature(test).parameters.items() if p.kind in named}
    first = next(iter(parameters), "")
    owner = getattr(test, "__qualname__", "").rpartition(".")[0]
    if first in {"self", "cls"} and owner and not owner.endswith("<locals>"):
        del parameters[first]
    for override, strategy in overrides.items():
        if override not in parameters:
            known = ", ".join(parameters) or "none"
            raise ConfigError(f"{name} has no parameter {override!r}", hint=f"its parameters: {known}")
        if not isinstance(strategy, SearchStrategy):
            raise ConfigError(
                f"{name}: {override}={strategy!r} is not a strategy", hint=f"write {override}=st.just({strategy!r})"
            )
    try:
        hints = get_type_hints(test, include_extras=True)
    except NameError as error:
        raise ConfigError(f"{name}: a type hint cannot be read: {error}", hint="import what it names") from error
    strategies = {}
    for parameter in parameters.values():
        if parameter.name in overrides:
            strategies[parameter.name] = overrides[parameter.name]
        elif parameter.name in hints:
            try:
                strategies[parameter.name] = strategy_for_type(hints[parameter.name])
            except ConfigError as error:
                raise ConfigError(
                    f"{name}: the parameter {parameter.name!r}: {error.message}",
                    hint=f"give a strategy: @quickcheck({parameter.name}=st.builds(...))",
                ) from error
        elif parameter.default is parameter.empty:
            raise ConfigError(
                f"{name}: the parameter {parameter.name!r} has no type hint",
                hint=f"give it one, or a strategy: @quickcheck({parameter.name}=st.integers())",
            )
    if not strategies:
        raise ConfigError(f"{name} has no parameter to make values for", hint=EXAMPLE)
    return strategies


class QuickcheckFunction(Protocol):
    """The function ``ordeal.quickcheck.quickcheck``."""

    @overload
    def __call__(self, fn: Callable[..., None], /) -> Callable[..., None]: ...
    @overload
    def __call__(
        self, fn: None = None, /, *, max_examples: int = 100, **overrides: SearchStrategy[Any]
    ) -> Callable[[Callable[..., None]], Callable[..., None]]: ...


class Quickcheck(QuickcheckFunction, Protocol):
    """The interface of ``ordeal.quickcheck``, as function and as module, for type checkers."""

    quickcheck: QuickcheckFunction
    biased: Biased

    def strategy_for_type(self, tp: Any) -> SearchStrategy[Any]:
        """See ``ordeal.quickcheck.strategy_for_type``."""


if TYPE_CHECKING:

    class Biased:
        """The functions of ``ordeal.quickcheck.biased``."""

        integers = staticmethod(biased.integers)
        floats = staticmethod(biased.floats)
        strings = staticmethod(biased.strings)
        bytes_ = staticmethod(biased.bytes_)
        lists = staticmethod(biased.lists)


make_callable(__name__, quickcheck)
