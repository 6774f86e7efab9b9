"""Fixtures of a simulated test are made anew for each schedule, where nothing hinders it."""

from __future__ import annotations

import pytest

import ordeal.simulate.runtime.testing  # noqa: F401 - what a pytest in this process imports first, it takes away again

pytest_plugins = ["pytester"]

QUIET = ("-p", "no:cacheprovider")

#: pytest-asyncio and anyio mark tests, and would make async fixtures on a loop of their own.
CONFTEST = """
import pytest

def pytest_configure(config):
    config.addinivalue_line("markers", "asyncio: x")

@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if pyfuncitem.get_closest_marker("asyncio"):
        raise RuntimeError("in real time")
"""

FIXTURES = """
import asyncio
import pytest
from ordeal import simulate

MADE = []

@pytest.fixture(scope="module")
def shared():
    MADE.append("shared")
    return []

@pytest.fixture(autouse=True)
def around(shared):
    shared.append("begin")
    yield
    shared.append("end")

@pytest.fixture
def counts():
    return []

@pytest.fixture
async def queue(counts, monkeypatch):
    queue = asyncio.Queue()
    keeper = asyncio.create_task(asyncio.sleep(3600))
    await asyncio.sleep(1)
    counts.append("queue")
    yield queue
    await asyncio.sleep(1)
    keeper.cancel()
    counts.append("no queue")

@pytest.fixture
async def number():
    return 7

@pytest.fixture
def name(queue, number):
    return f"{type(queue).__name__} {number}"
"""


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeconftest(CONFTEST)
    return pytester


def test_each_schedule_has_its_own(project: pytest.Pytester) -> None:
    project.makepyfile(
        FIXTURES
        + """
class TestIt:
    @pytest.fixture
    def own(self, counts):
        self.seen = counts
        return self

    @simulate.test(runs=5)
    async def test_queue(self, queue, counts, name, own, shared, tmp_path):
        assert counts == ["queue"] and own.seen is counts and own is self
        assert name == "Queue 7" and tmp_path.is_dir()
        assert shared[-1] == "begin"
        counts.append(len(shared))
        asyncio.get_running_loop().call_later(1, queue.put_nowait, 1)
        assert await queue.get() == 1

def test_after(shared):
    assert MADE == ["shared"]
    # The last two times are those of this test.
    assert shared == ["begin", "end"] * (len(shared) // 2) + ["begin"] and len(shared) > 10
"""
    )
    project.runpytest_inprocess("--chaos", *QUIET).assert_outcomes(passed=2)


def test_tests_of_other_plugins_have_their_own_too(project: pytest.Pytester) -> None:
    project.makepyfile(
        FIXTURES
        + """
@pytest.mark.asyncio
async def test_queue(queue, counts):
    assert counts == ["queue"]
    asyncio.get_running_loop().call_later(1, queue.put_nowait, 1)
    assert await queue.get() == 1

@pytest.mark.asyncio
async def test_name(name):
    assert name == "Queue 7"
    await asyncio.sleep(1)
"""
    )
    result = project.runpytest_inprocess("--simulate", *QUIET)
    result.assert_outcomes(passed=2)
    result.stdout.no_fnmatch_line("*in real time*")


def test_a_failure_has_the_teardown_of_fixtures_behind_it(project: pytest.Pytester) -> None:
    project.makepyfile(
        FIXTURES
        + """
@simulate.test(runs=3)
async def test_wrong(queue, counts, shared):
    await asyncio.sleep(1)
    assert shared == 5

def test_after(shared):
    assert shared.count("begin") == shared.count("end") + 1
"""
    )
    result = project.runpytest_inprocess("--chaos", *QUIET)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*Needed: nothing special*"])


def test_what_needs_more_than_values_is_made_once(project: pytest.Pytester) -> None:
    project.makepyfile(
        FIXTURES
        + """
@pytest.fixture
async def asking(request):
    return request.node.name

@pytest.fixture(params=[1, 2])
def param(request, counts):
    counts.append(request.param)
    return request.param

@pytest.mark.asyncio
async def test_asking(asking):
    pass

@simulate.test(runs=3)
async def test_param(param, counts):
    counts.append(0)
    await asyncio.sleep(1)
    assert counts[0] == param and len(counts) > 1

@pytest.mark.parametrize("number", [3])
@simulate.test(runs=3)
async def test_given_number(number):
    await asyncio.sleep(1)
    assert number == 3
"""
    )
    result = project.runpytest_inprocess("--simulate", *QUIET)
    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["ordeal: in real time, as it has async fixtures: *::test_asking (asking)"])


def test_an_error_of_a_fixture_is_told(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
import pytest
from ordeal import simulate

@pytest.fixture
def broken():
    raise ValueError("no disk")

@pytest.fixture
async def skipping():
    pytest.skip("not today")

@pytest.fixture
async def twice():
    yield 1
    yield 2

@simulate.test
async def test_broken(broken):
    pass

@simulate.test
async def test_skipping(skipping):
    pass

@simulate.test
async def test_twice(twice):
    pass
"""
    )
    result = project.runpytest_inprocess(*QUIET)
    result.assert_outcomes(failed=2, skipped=1)
    result.stdout.fnmatch_lines(["*ValueError: no disk", "*the fixture twice yields more than once*"])
