"""Fixtures of simulated tests: each run makes those of the test again, as pytest does for each test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from _pytest.fixtures import resolve_fixture_function

from ordeal.simulate.fresh_arguments import FreshArgument, is_async
from ordeal.simulate.runtime.sites import is_of_project
from ordeal.simulate.runtime.testing import test_of

type _Definitions = Sequence[pytest.FixtureDef[Any]]


def prepare(item: pytest.Item) -> None:
    """Have the fixtures of a simulated test made by its runs, and not by pytest once for all of them.

    Shared as before: those of a wider scope, those that take ``request``, or are asked for by one of these, and those
    of plugins that are no coroutines.
    """
    if not isinstance(item, pytest.Function):
        return
    definitions = item._fixtureinfo.name2fixturedefs
    callspec: Any = getattr(item, "callspec", None)
    given = set() if callspec is None else set(callspec.params)
    fresh = {name for name, each in definitions.items() if name not in given and _can_be_fresh(name, each)}
    while True:
        asked = {argument for name, each in definitions.items() if name not in fresh for argument in each[-1].argnames}
        if fresh.isdisjoint(asked):
            break
        fresh -= asked
    for name in fresh:
        definition = definitions[name][-1]
        make = functools.partial(_function, item, definition)
        # pytest makes none that is there already.
        item.funcargs[name] = FreshArgument(name, make, tuple(definition.argnames))


def is_simulated(item: pytest.Item) -> bool:
    """Return True if a test is one of ``@simulate.test``."""
    return test_of(function_of(item)) is not None


def function_of(item: pytest.Item) -> Any:
    """Return the function of a test: behind ``@given``, which asks for it once for each example, or the test itself."""
    function: Any = getattr(item, "obj", None)
    return getattr(getattr(function, "hypothesis", None), "inner_test", function)


def is_async_fixture(definition: pytest.FixtureDef[Any]) -> bool:
    """Return True if a fixture is a coroutine function, or a generator of that kind."""
    return is_async(inspect.unwrap(definition.func))


def _can_be_fresh(name: str, definitions: _Definitions) -> bool:
    definition = definitions[-1]
    if definition.scope != "function" or definition.params is not None:
        return False
    # With `request` a fixture may do anything, and with its own name it takes the place of another.
    if "request" in definition.argnames or name in definition.argnames:
        return False
    code: Any = getattr(inspect.unwrap(definition.func), "__code__", None)
    return code is not None and (is_async_fixture(definition) or is_of_project(code.co_filename))


def _function(item: pytest.Function, definition: pytest.FixtureDef[Any]) -> Callable[..., Any]:
    """Return what makes a fixture, as it was before a plugin wrapped it to run on its own loop."""
    function: Any = resolve_fixture_function(definition, item._request)
    inner: Any = inspect.unwrap(definition.func)
    if not is_async_fixture(definition) or inner is definition.func:
        return function  # type: ignore[no-any-return]
    owner = getattr(function, "__self__", None)
    return inner if owner is None else inner.__get__(owner)  # type: ignore[no-any-return]
