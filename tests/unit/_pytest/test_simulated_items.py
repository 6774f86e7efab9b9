"""``--simulate`` runs the tests of async plugins in simulated time, whatever these plugins would do."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

QUIET = ("-p", "no:cacheprovider")

#: What pytest-asyncio and anyio do, as far as it matters here: they mark tests, and wrap fixtures.
PLUGIN = """
import functools
import pytest

def pytest_configure(config):
    config.addinivalue_line("markers", "asyncio: x")
    config.addinivalue_line("markers", "anyio: x")

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if pyfuncitem.get_closest_marker("asyncio") or pyfuncitem.get_closest_marker("anyio"):
        raise RuntimeError("in real time")
"""

TESTS = """
import asyncio
import time
import pytest

@pytest.mark.asyncio
async def test_hour(tmp_path):
    before = time.monotonic()
    await asyncio.wait([asyncio.create_task(asyncio.sleep(3600)) for _ in range(2)])
    assert time.monotonic() >= before + 3600 and tmp_path.name

class TestOrder:
    @pytest.mark.anyio
    async def test_order(self):
        order = []
        async def wait(number):
            await asyncio.sleep(1)
            order.append(number)
        await asyncio.gather(*map(wait, range(6)))
        assert order == sorted(order)

@pytest.fixture
async def resource(request):
    return request.node

@pytest.mark.asyncio
async def test_real(resource):
    pass

@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["trio"])
async def test_trio(anyio_backend):
    pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(PLUGIN)
    pytester.makepyfile(test_them=TESTS)
    return pytester


def test_async_tests_run_in_simulated_time(project: pytest.Pytester) -> None:
    result = project.runpytest_inprocess("--simulate", "--chaos", *QUIET)
    result.assert_outcomes(passed=1, failed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "ordeal: in real time, as it has async fixtures: test_them.py::test_real (resource)",
            "*Needed: 1 change of order*",
            "*Replay: pytest --simulate 'test_them.py::TestOrder::test_order', which begins*",
        ]
    )
    again = project.runpytest_inprocess("--simulate", *QUIET, "test_them.py::TestOrder")
    again.stdout.fnmatch_lines(["*Needed: 1 change of order*"])


def test_nothing_is_simulated_without_the_option(project: pytest.Pytester) -> None:
    project.runpytest_inprocess(*QUIET).assert_outcomes(failed=3, errors=1)


GIVEN_TEST = """
import asyncio
import time
import pytest
from hypothesis import given, settings, strategies as st

class TestGiven:
    @pytest.mark.asyncio
    @given(minutes=st.integers(1, 100))
    @settings(max_examples=20)
    async def test_minutes(self, minutes):
        before = time.monotonic()
        await asyncio.sleep(minutes * 60)
        assert time.monotonic() >= before + minutes * 60
        assert minutes < 50

@pytest.mark.asyncio
@given(number=st.integers(1, 100))
@settings(max_examples=20)
async def test_passes(number):
    await asyncio.sleep(3600)
"""


def test_a_plain_test_that_leaves_nothing_open_is_no_warning(project: pytest.Pytester) -> None:
    project.makepyfile(test_them="import pytest\n@pytest.mark.asyncio\nasync def test_nothing(): pass")
    project.runpytest_inprocess("--simulate", "-Werror::ordeal.simulate.SimulationWarning", *QUIET).assert_outcomes(
        passed=1
    )


def test_each_example_of_given_is_simulated(project: pytest.Pytester) -> None:
    project.makepyfile(test_them=GIVEN_TEST)
    result = project.runpytest_inprocess("--simulate", *QUIET)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*assert 50 < 50*", "*minutes=50*"])
    assert result.stdout.str().count("Captured simulation call") == 1


STRUCK_TEST = """
import asyncio
import pytest

@pytest.mark.asyncio
async def test_pool():
    free = ["connection"]

    async def use():
        connection = free.pop()
        await asyncio.sleep(1)
        free.append(connection)

    await asyncio.wait([asyncio.create_task(use())])
    assert free
"""


@pytest.mark.parametrize("way", ["option", "ini"])
def test_faults_strike_the_tests_of_other_plugins(project: pytest.Pytester, way: str) -> None:
    project.makepyfile(test_them=STRUCK_TEST)
    project.runpytest_inprocess("--simulate", "--chaos", *QUIET).assert_outcomes(passed=1)
    if way == "ini":
        project.makeini("[pytest]\nordeal_simulate_faults = cancel, stall=0.5\n")
    option = ["--simulate-faults", "cancel=us*,stall"] if way == "option" else []
    result = project.runpytest_inprocess("--simulate", "--chaos", *option, *QUIET)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Needed: 1 cancellation*", "*cancel use#0*"])
    project.runpytest_inprocess("--simulate", *QUIET, "test_them.py").assert_outcomes(failed=1)  # it was saved


@pytest.mark.parametrize("faults", ["crash", "stall=never", "cancel=", "stall=-1"])
def test_faults_that_cannot_be_used_are_refused(project: pytest.Pytester, faults: str) -> None:
    result = project.runpytest_inprocess("--simulate", "--simulate-faults", faults, *QUIET)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--simulate-faults: *is not a fault of simulated tests*", "*write a list such as*"])


def test_faults_without_simulation_are_refused(project: pytest.Pytester) -> None:
    result = project.runpytest_inprocess("--simulate-faults", "cancel", *QUIET)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--simulate-faults strikes nothing*", "*add --simulate*"])
