"""Inside of a clock's patch the program sees simulated time, what runs the test the real one, and nothing stays."""

from __future__ import annotations

import asyncio
import copy
import datetime
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from datetime import datetime as imported_class
from pathlib import Path
from time import perf_counter as real_seconds
from time import sleep as imported_sleep
from types import ModuleType
from typing import Any

import pytest

from ordeal.faults import timing
from ordeal.simulate import Clock, SimulationError

NOON_S = 1_700_000_000.0
NAMES = ["time", "monotonic", "perf_counter", "sleep", "gmtime", "localtime", "ctime", "strftime", "time_ns"]


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON_S)


@pytest.fixture(autouse=True)
def untouched() -> Iterator[None]:
    """No test leaves anything of a patch behind."""
    before = [*(getattr(time, name) for name in NAMES), datetime.datetime, imported_sleep, imported_class]
    yield
    after = [*(getattr(time, name) for name in NAMES), datetime.datetime, imported_sleep, imported_class]
    assert all(a is b for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("name", ["time", "monotonic", "perf_counter"])
def test_all_clocks_of_time_are_this_one(clock: Clock, name: str) -> None:
    with clock.patch():
        assert getattr(time, name)() == NOON_S
        clock.advance(0.25)
        assert getattr(time, name)() == NOON_S + 0.25
        assert getattr(time, f"{name}_ns")() == int((NOON_S + 0.25) * 1e9)


def test_sleep_advances_and_fires_timers(clock: Clock) -> None:
    fired: list[float] = []
    clock.set_timer(5, lambda: fired.append(time.time()))
    started = real_seconds()
    with clock.patch():
        time.sleep(1000)
    assert real_seconds() - started < 100
    assert clock.time() == NOON_S + 1000
    assert len(fired) == 1


def test_negative_sleep_is_a_value_error_as_it_is_in_reality(clock: Clock) -> None:
    with clock.patch(), pytest.raises(ValueError, match="negative"):
        time.sleep(-1)


def test_names_imported_from_a_module_are_reached(clock: Clock) -> None:
    with clock.patch():
        imported_sleep(7)
        assert imported_class.now() == imported_class.fromtimestamp(NOON_S + 7)


def test_dates_are_of_the_simulated_time(clock: Clock) -> None:
    utc = datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=datetime.UTC)
    with clock.patch():
        assert datetime.datetime.now(datetime.UTC) == utc
        assert datetime.datetime.utcnow() == utc.replace(tzinfo=None)
        assert datetime.datetime.now() == datetime.datetime.today() == utc.astimezone().replace(tzinfo=None)
        assert date.today() == datetime.datetime.now().date()


def test_datetimes_made_inside_are_real_ones(clock: Clock) -> None:
    outside = datetime.datetime(2020, 1, 1)
    with clock.patch():
        made = [datetime.datetime.now(), datetime.datetime(2020, 1, 1), datetime.datetime.fromisoformat("2020-01-01")]
        assert isinstance(outside, datetime.datetime)
        assert not isinstance(date(2020, 1, 1), datetime.datetime)
        assert issubclass(imported_class, datetime.date)
    assert {type(each) for each in made} == {datetime.datetime}
    assert made[1] == made[2] == outside


def test_moments_without_an_argument_are_now(clock: Clock) -> None:
    expected = time.localtime(NOON_S), time.gmtime(NOON_S), time.ctime(NOON_S)
    year = time.strftime("%Y %j", time.localtime(NOON_S))
    with clock.patch():
        assert (time.localtime(), time.gmtime(), time.ctime()) == expected
        assert time.strftime("%Y %j") == year
        assert time.gmtime(0).tm_year == 1970
        assert time.strftime("%Y", time.gmtime(0)) == "1970"


def test_blocks_nest_and_the_inner_clock_counts(clock: Clock) -> None:
    with clock.patch() as outer:
        assert outer is clock
        with Clock(1).patch():
            assert time.time() == 1.0
        assert time.time() == NOON_S
    assert time.time() != NOON_S


def test_patch_may_be_entered_again_but_not_twice_at_once(clock: Clock) -> None:
    patch = clock.patch()
    for _ in range(2):
        with patch:
            assert time.time() == NOON_S
            with pytest.raises(SimulationError, match="in place already"):
                patch.__enter__()


def test_error_in_the_block_comes_out_and_the_time_is_real_again(clock: Clock) -> None:
    with pytest.raises(KeyError), clock.patch():
        raise KeyError
    assert time.time() != NOON_S


def test_waiting_for_threads_and_loops_takes_real_time(clock: Clock) -> None:
    with clock.patch():
        assert not threading.Event().wait(0.001)
        asyncio.run(asyncio.sleep(0.001))
    assert clock.time() == NOON_S


def test_fault_that_sleeps_advances_the_clock(clock: Clock) -> None:
    with timing.slow("ordeal.simulate.paths.names_of", delay=30, mode="real"), clock.patch():
        started = real_seconds()
        sys.modules["ordeal.simulate.paths"].names_of("/a")
    assert clock.time() == NOON_S + 30
    assert real_seconds() != started


def test_module_imported_inside_does_not_keep_the_simulation(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_late.py").write_text("from time import sleep\nfrom datetime import datetime\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        with clock.patch():
            late = __import__("imported_late")
            late.sleep(3)
        assert clock.time() == NOON_S + 3
        assert late.sleep is time.sleep
        assert late.datetime is datetime.datetime
    finally:
        sys.modules.pop("imported_late", None)


def test_reference_kept_from_inside_asks_the_real_clock(clock: Clock) -> None:
    with clock.patch():
        kept: list[Callable[[], Any]] = [
            time.time,
            datetime.datetime.now,
            datetime.datetime.utcnow,
            datetime.datetime.today,
        ]
        sleep = time.sleep
        moments: list[Callable[..., Any]] = [time.gmtime, time.strftime]
    sleep(0.0001)
    assert clock.time() == NOON_S
    assert kept[0]() != NOON_S
    assert all(now().year == time.gmtime().tm_year for now in kept[1:])
    assert moments[0]().tm_year == int(moments[1]("%Y"))


def test_replacement_by_somebody_else_is_left_and_told_of(clock: Clock) -> None:
    module = ModuleType("program")
    module.__dict__["sleep"] = time.sleep
    sys.modules["program"] = module
    try:
        with pytest.raises(SimulationError, match=r"something else has replaced program\.sleep"), clock.patch():
            module.__dict__["sleep"] = print
        assert module.__dict__["sleep"] is print
    finally:
        del sys.modules["program"]


def test_clock_and_patch_are_not_copied_while_in_use(clock: Clock) -> None:
    patch = clock.patch()
    with patch, pytest.raises(SimulationError, match=r"inside of its patch\(\)") as caught:
        copy.deepcopy(clock)
    assert "in each rule" in str(caught.value)
    with pytest.raises(SimulationError, match="a patch cannot be copied"):
        copy.deepcopy(patch)
    assert copy.deepcopy(clock).time() == NOON_S
