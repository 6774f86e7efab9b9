"""With --simulate: the async tests of pytest-asyncio and anyio run in simulated time, under many schedules."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest

from ordeal.simulate.runtime.running import RunSettings
from ordeal.simulate.runtime.testing import RUNS, SimulatedTest

_MARKERS = ("asyncio", "anyio")


class SimulatedItems:
    """The plugin of one pytest run with --simulate."""

    def __init__(self) -> None:
        self._left: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Let async tests be run here, whose own plugin would run them on a loop in real time."""
        for item in items:
            if not isinstance(item, pytest.Function) or not _is_async_test(item):
                continue
            fixtures = async_fixtures(item)
            if fixtures:
                self._left.append(f"{item.nodeid} ({', '.join(fixtures)})")
            else:
                item.runtest = functools.partial(_run, item)  # type: ignore[method-assign]

    def pytest_report_collectionfinish(self) -> list[str]:
        """Say which tests run in real time all the same."""
        return [f"ordeal: in real time, as it has async fixtures: {test}" for test in self._left]


def _is_async_test(item: pytest.Function) -> bool:
    if not inspect.iscoroutinefunction(item.obj) or not any(map(item.get_closest_marker, _MARKERS)):
        return False
    callspec: Any = getattr(item, "callspec", None)
    backend = callspec.params.get("anyio_backend", "asyncio") if callspec is not None else "asyncio"
    return (backend[0] if isinstance(backend, tuple) else backend) == "asyncio"


def async_fixtures(item: pytest.Function) -> list[str]:
    """Return the names of the async fixtures of a test: they live on another loop."""
    found = []
    for name, definitions in item._fixtureinfo.name2fixturedefs.items():
        function: Any = inspect.unwrap(definitions[-1].func)
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            found.append(name)
    return found


def _run(item: pytest.Function) -> None:
    __tracebackhide__ = True
    arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    test = SimulatedTest(item.obj, RunSettings(), runs=RUNS, seed=0, cancel=None, is_decorated=False)
    test.run(functools.partial(item.obj, **arguments), item._request)


def make_plugin() -> SimulatedItems:
    """Return the plugin."""
    return SimulatedItems()
