"""A simulated test is an ordinary item of pytest, whose failure is saved, replayed first, and replayed by the CLI."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal import simulate
from ordeal.cli import main
from ordeal.errors import OrdealError

pytest_plugins = ["pytester"]

QUIET = ("-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")

PROGRAM = """
import asyncio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordeal import simulate

@simulate.test(runs=60)
async def test_order():
    order = []
    async def wait(number):
        await asyncio.sleep(1)
        order.append(number)
    await asyncio.gather(wait(1), wait(2), wait(3))
    assert order == FIRST

@simulate.test
async def test_fixtures(tmp_path, request):
    await asyncio.wait([asyncio.create_task(asyncio.sleep(1)) for _ in range(2)])
    assert tmp_path.name and request.node.name == "test_fixtures"

@simulate.test
@pytest.mark.parametrize("number", [1, 2])
async def test_parametrized(number):
    await asyncio.wait([asyncio.create_task(asyncio.sleep(1)) for _ in range(2)])
    assert number in (1, 2)
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.syspath_prepend(str(pytester.path))
    pytester.makepyfile(test_orders=f"FIRST = [1, 2, 3]\n{PROGRAM}")
    return pytester


def saved(project: pytest.Pytester) -> list[Path]:
    return sorted(project.path.glob(".ordeal/schedules/*/*.json"))


def test_a_failure_is_saved_and_replayed(project: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    result = project.runpytest_inprocess("--chaos", *QUIET)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*assert order == FIRST*", "*Needed: 1 change of order*"])
    (path,) = saved(project)
    name = path.relative_to(project.path)
    result.stdout.fnmatch_lines([f"*Replay: ordeal replay {name}"])
    assert "replay: pytest" not in result.stdout.str()  # one command is enough
    # It fails without --chaos too, in its first run, and is saved once.
    again = project.runpytest_inprocess(*QUIET, "test_orders.py::test_order")
    again.assert_outcomes(failed=1)
    assert saved(project) == [path]
    capsys.readouterr()
    assert main(["replay", "-v", str(path)]) == 1
    shown = capsys.readouterr().err
    assert "Failure reproduced: AssertionError" in shown
    assert "of timers with one deadline" in shown


def test_a_test_that_no_name_leads_to_is_replayed_by_pytest(project: pytest.Pytester) -> None:
    made = """
def make(last):
    @simulate.test
    async def test():
        await asyncio.sleep(1)
        assert last == 3
    return test

test_made = make(4)
"""
    project.makepyfile(test_orders=f"FIRST = [1, 2, 3]\n{PROGRAM}{made}")
    result = project.runpytest_inprocess("--chaos", *QUIET, "test_orders.py::test_made")
    result.stdout.fnmatch_lines(["*Replay: pytest 'test_orders.py::test_made', which begins with what it saved"])


def test_a_replay_tells_what_it_cannot_do(project: pytest.Pytester, capsys: pytest.CaptureFixture[str]) -> None:
    project.runpytest_inprocess("--chaos", "-q", "-p", "no:cacheprovider", "test_orders.py::test_order")
    (path,) = saved(project)
    capsys.readouterr()
    assert main(["replay", "--shrink", str(path)]) == 2
    assert "cannot be shrunk" in capsys.readouterr().err
    trace = json.loads(path.read_text())
    assert trace["version"] == 1
    assert trace["steps"][0]["choices"]["(world)"][0].startswith("order | ")


def test_other_settings_are_refused_where_the_test_is_defined() -> None:
    async def body() -> None:
        pass

    def plain() -> None:
        pass

    decorations: list[Callable[[], object]] = [
        lambda: simulate.test(runs=0)(body),
        lambda: simulate.test(faults=5)(body),
        lambda: simulate.test(cancel="each")(body),
        lambda: simulate.test(plain),  # type: ignore[arg-type]
    ]
    for decorate in decorations:
        with pytest.raises(OrdealError):
            decorate()


def test_outside_of_pytest_it_can_be_called() -> None:
    runs = []

    @simulate.test(runs=7)
    async def body() -> None:
        runs.append(1)

    with pytest.warns(simulate.SimulationWarning):
        body()
    # One of them is repeated, to see that it does the same.
    assert len(runs) == 8


GIVEN = """
import asyncio
from hypothesis import given, strategies as st
from ordeal import simulate

@given(st.integers(0, 5))
@simulate.test
async def test_count(number):
    order = []
    async def wait(number):
        await asyncio.sleep(1)
        order.append(number)
    await asyncio.gather(*map(wait, range(number)))
    assert len(order) < 3 or order == sorted(order)
"""


def test_it_combines_with_given(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_given=GIVEN)
    result = pytester.runpytest_inprocess("--chaos", *QUIET)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Needed: 1 change of order*", "*number=3*"])


def test_given_belongs_above() -> None:
    async def test(number: int) -> None:
        pass

    with pytest.raises(OrdealError, match="wrapped by @given"):
        simulate.test(given(st.integers())(test))  # type: ignore[arg-type]
