"""Functions that replace others and keep their kind: plain, coroutine, generator or asynchronous generator."""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any

import ordeal._native as _native

Change = Callable[[Any], Any]

_UNCHANGING = (bool, int, float, complex, str, bytes, type(None), type, ModuleType, BuiltinFunctionType)
_WRITES = {"STORE_DEREF", "DELETE_DEREF"}


def mark_like(function: Any, replacement: Any) -> Any:
    """Make ``replacement`` count as a coroutine function if ``function`` is one; return ``replacement``."""
    if inspect.iscoroutinefunction(function):
        return inspect.markcoroutinefunction(replacement)
    return replacement


def keeps_nothing(replacement: Any, original: Any) -> bool:
    """Return whether calls of ``replacement`` surely leave nothing in it: no variable around it can change."""
    if type(replacement) is not FunctionType:
        return False
    held = [cell.cell_contents for cell in replacement.__closure__ or ()]
    held += [*(replacement.__defaults__ or ()), *(replacement.__kwdefaults__ or {}).values()]
    if not all(each is original or type(each) in _UNCHANGING or _is_top_level(each) for each in held):
        return False
    return not any(step.opname in _WRITES for step in dis.get_instructions(replacement))


def _is_top_level(value: Any) -> bool:
    return type(value) is FunctionType and not (value.__closure__ or value.__defaults__ or value.__kwdefaults__)


def direct(callee: Callable[..., Any]) -> Any:
    """Return a Python function that calls ``callee``, in C++ and without a frame of its own."""

    def passed(*args: Any, **kwargs: Any) -> Any:
        return callee(*args, **kwargs)

    _native.call_directly(passed)
    return passed


def passing_on(function: Any, current: Callable[[], Any]) -> Any:
    """Return a function like ``function`` that calls the result of ``current()`` at the time of each call."""

    def passed(*args: Any, **kwargs: Any) -> Any:
        return current()(*args, **kwargs)

    return _of_kind(function, passed)


def dispatching(function: Any) -> tuple[Any, CellType]:
    """Return a function like ``function``, and the cell that holds what it calls; at first ``function`` itself."""
    passed = direct(function)
    return _of_kind(function, passed), passed.__closure__[0]


def _of_kind(function: Any, passed: Any) -> Any:
    if inspect.isgeneratorfunction(function):
        return generator_like(function, passed)
    if inspect.isasyncgenfunction(function):

        async def start(*args: Any, **kwargs: Any) -> Any:
            return passed(*args, **kwargs)

        return async_generator_like(function, start)
    return mark_like(function, functools.wraps(function)(passed))


def generator_like(function: Any, start: Callable[..., Any]) -> Any:
    """Return a generator function like ``function``; ``start``, called at the first item, returns items or None."""

    @functools.wraps(function)
    def passed(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        items = start(*args, **kwargs)
        return None if items is None else (yield from items)

    return passed


def async_generator_like(
    function: Any, start: Callable[..., Awaitable[Any]], change: Change = lambda item: item
) -> Callable[..., AsyncGenerator[Any, Any]]:
    """Do the same for an asynchronous generator function; ``change`` changes each item."""

    @functools.wraps(function)
    async def passed(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        items = await start(*args, **kwargs)
        if items is None:
            return
        upcoming = anext(items)
        while True:
            try:
                item = await upcoming
            except StopAsyncIteration:
                return
            try:
                sent = yield change(item)
            except GeneratorExit:
                await items.aclose()
                raise
            except BaseException as error:  # noqa: BLE001 - whatever the caller throws in is for the generator
                upcoming = items.athrow(error)
            else:
                upcoming = items.asend(sent)

    return passed


def changed_items(result: Any, change: Change) -> Any:
    """Return ``result``, or for a generator of either kind one whose items ``change`` has changed."""
    if inspect.isgenerator(result):
        return _each(result, change)
    if inspect.isasyncgen(result):

        async def start() -> Any:
            return result

        return async_generator_like(start, start, change)()
    return change(result)


def _each(items: Generator[Any, Any, Any], change: Change) -> Generator[Any, Any, Any]:
    resume: Callable[[], Any] = functools.partial(next, items)
    while True:
        try:
            item = resume()
        except StopIteration as end:
            return end.value
        try:
            sent = yield change(item)
        except GeneratorExit:
            items.close()
            raise
        except BaseException as error:  # noqa: BLE001 - whatever the caller throws in is for the generator
            resume = functools.partial(items.throw, error)
        else:
            resume = functools.partial(items.send, sent)
