"""With --simulate: the async tests of pytest-asyncio and anyio run in simulated time, under many schedules."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import pytest

from ordeal._pytest import fresh_fixtures
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.fresh_arguments import FreshArgument
from ordeal.simulate.runtime.faults import SimulatedFault, faults_of_option
from ordeal.simulate.runtime.running import RunSettings
from ordeal.simulate.runtime.testing import RUNS, SimulatedTest

_MARKERS = ("asyncio", "anyio")


class SimulatedItems:
    """The plugin of one pytest run with --simulate."""

    def __init__(self, faults: tuple[SimulatedFault, ...] = ()) -> None:
        self._settings = RunSettings(faults=faults)
        self._left: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Let async tests be run here, whose own plugin would run them on a loop in real time."""
        for item in items:
            if not isinstance(item, pytest.Function) or not _is_async_test(item):
                continue
            fresh_fixtures.prepare(item)
            definitions = item._fixtureinfo.name2fixturedefs.items()
            fixtures = [
                name
                for name, each in definitions
                if fresh_fixtures.is_async_fixture(each[-1]) and not isinstance(item.funcargs.get(name), FreshArgument)
            ]
            if fixtures:
                # pytest makes all fixtures of the test.
                for name in [name for name, each in item.funcargs.items() if isinstance(each, FreshArgument)]:
                    del item.funcargs[name]
                self._left.append(f"{item.nodeid} ({', '.join(fixtures)})")
            else:
                item.runtest = functools.partial(_run, item, self._settings)  # type: ignore[method-assign]

    def pytest_report_collectionfinish(self) -> list[str]:
        """Say which tests run in real time all the same."""
        return [f"ordeal: in real time, as it has async fixtures: {test}" for test in self._left]


def _is_async_test(item: pytest.Function) -> bool:
    if not inspect.iscoroutinefunction(fresh_fixtures.function_of(item)) or not any(
        map(item.get_closest_marker, _MARKERS)
    ):
        return False
    callspec: Any = getattr(item, "callspec", None)
    backend = callspec.params.get("anyio_backend", "asyncio") if callspec is not None else "asyncio"
    return (backend[0] if isinstance(backend, tuple) else backend) == "asyncio"


def _run(item: pytest.Function, settings: RunSettings) -> None:
    __tracebackhide__ = True
    arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
    function = fresh_fixtures.function_of(item)
    test = SimulatedTest(function, settings, runs=RUNS, seed=0, cancel=None, is_decorated=False)
    if function is item.obj:
        test.run(function, arguments, item._request)
        return

    def run_example(*own: Any, **values: Any) -> None:
        __tracebackhide__ = True
        test.run(functools.partial(function, *own), values, item._request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(item.obj.hypothesis, "inner_test", functools.wraps(function)(run_example))
        item.obj(**arguments)


def make_plugin(faults: str) -> SimulatedItems:
    """Return the plugin; ``faults`` are what ``--simulate-faults`` says.

    Raises:
        pytest.UsageError: they cannot be used.
    """
    try:
        return SimulatedItems(faults_of_option(faults))
    except SimulationError as error:
        raise pytest.UsageError(f"--simulate-faults: {error.message}\nhint: {error.hint}") from None
