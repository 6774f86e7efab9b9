"""Arguments that each run of a test makes again, such as fixtures of function scope."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from ordeal.simulate.errors import SimulationError


@dataclass(frozen=True, slots=True)
class FreshArgument:
    """What an argument is before any run: how to make it."""

    name: str
    function: Callable[[], Callable[..., Any]]
    """Returns what makes it: a function, coroutine function or generator that yields once, asynchronous or not."""
    needs: tuple[str, ...]
    """The arguments of that: names of others."""


class FreshMain:
    """A coroutine function some of whose arguments are made for each run, and ended after it.

    What is asynchronous, or needs what is, is made inside of the run, and all else before it, as pytest does.
    """

    def __init__(
        self,
        function: Callable[..., Coroutine[Any, Any, Any]],
        given: Mapping[str, Any],
        fresh: Mapping[str, FreshArgument],
        shared: Callable[[str], Any],
    ) -> None:
        """``shared`` returns an argument that all runs share, by its name."""
        self._function = function
        self._given = given
        self._shared = shared
        self._functions = {name: each.function() for name, each in fresh.items()}
        self._needs = {name: each.needs for name, each in fresh.items()}
        inside = {name for name, each in self._functions.items() if is_async(each)}
        order: dict[str, None] = {}  # each after what it needs

        def add(name: str) -> None:
            for need in self._needs.get(name, ()):
                add(need)
            if name in self._needs:
                order.setdefault(name)

        for name in self._needs:
            add(name)
        for name in order:
            if not inside.isdisjoint(self._needs[name]):
                inside.add(name)
        self._before = [name for name in order if name not in inside]
        self._inside = [name for name in order if name in inside]

    @contextmanager
    def made(self) -> Iterator[Callable[..., Coroutine[Any, Any, Any]]]:
        """Make what is made before a run, and yield the coroutine function of the run."""
        with ExitStack() as stack:
            values: dict[str, Any] = {}
            for name in self._before:
                self._make(name, values, stack)

            @functools.wraps(self._function)
            def run(**world: Any) -> Coroutine[Any, Any, Any]:
                coroutine: Any = self._run(values, world)
                coroutine.__qualname__ = getattr(self._function, "__qualname__", "main")
                return coroutine  # type: ignore[no-any-return]

            yield run

    async def _run(self, values: dict[str, Any], world: dict[str, Any]) -> Any:
        async with AsyncExitStack() as stack:
            for name in self._inside:
                function = self._functions[name]
                if not is_async(function):
                    self._make(name, values, stack)
                    continue
                made = function(**self._arguments(name, values))
                is_generator = inspect.isasyncgenfunction(function)
                values[name] = await (stack.enter_async_context(_entered_async(name, made)) if is_generator else made)
            given = {name: values.get(name, value) for name, value in self._given.items()}
            return await self._function(**given, **world)

    def _make(self, name: str, values: dict[str, Any], stack: ExitStack | AsyncExitStack) -> None:
        """Make what is not asynchronous."""
        function = self._functions[name]
        made = function(**self._arguments(name, values))
        is_generator = inspect.isgeneratorfunction(function)
        values[name] = stack.enter_context(_entered(name, made)) if is_generator else made

    def _arguments(self, name: str, values: Mapping[str, Any]) -> dict[str, Any]:
        return {need: values[need] if need in self._needs else self._shared(need) for need in self._needs[name]}


def is_async(function: Callable[..., Any]) -> bool:
    """Return True if a function is a coroutine function, or a generator of that kind."""
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


@contextmanager
def _entered(name: str, generator: Generator[Any, None, None]) -> Iterator[Any]:
    """Yield what a generator yields, and then let it end."""
    try:
        yield next(generator)
    finally:  # pytest does not pass the error of a test to its fixtures
        if next(generator, generator) is not generator:
            raise _yields_again(name)


@asynccontextmanager
async def _entered_async(name: str, generator: AsyncGenerator[Any]) -> AsyncIterator[Any]:
    try:
        yield await anext(generator)
    finally:
        if await anext(generator, generator) is not generator:
            raise _yields_again(name)


def _yields_again(name: str) -> SimulationError:
    return SimulationError(
        f"the fixture {name} yields more than once", hint="write one `yield`, and what ends it after"
    )
