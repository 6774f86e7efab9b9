"""A simulated clock moves when it is told to, fires its timers in order, and copies with what it belongs to."""

from __future__ import annotations

import asyncio
import copy
import datetime
import functools
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import date
from datetime import datetime as imported_class
from time import perf_counter as real_seconds
from time import sleep as imported_sleep
from typing import Any

import pytest

from ordeal.errors import OrdealError
from ordeal.faults import timing
from ordeal.simulate import Clock, SimulationError
from ordeal.simulate.clock import TIMERS_PER_ADVANCE_MAX


class Diary:
    """Notes what happens when, by a clock of its own."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.notes: list[tuple[float, str]] = []

    def note(self, text: str = "") -> None:
        self.notes.append((self.clock.time(), text))

    def note_every_second(self) -> None:
        self.note("tick")
        self.clock.set_timer(1, self.note_every_second)


@pytest.fixture
def diary() -> Diary:
    return Diary()


def test_time_stands_still_until_it_is_moved() -> None:
    clock = Clock(100)
    assert clock.time() == clock.time() == 100.0
    clock.advance(1.5)
    clock.sleep(2)
    assert clock.time() == 103.5


def test_timers_fire_in_order_of_deadlines_each_at_its_time(diary: Diary) -> None:
    for delay, text in [(3, "c"), (1, "a"), (2, "b"), (1, "a again"), (9, "late")]:
        diary.clock.set_timer(delay, functools.partial(diary.note, text))
    diary.clock.advance(5)
    assert diary.notes == [(1.0, "a"), (1.0, "a again"), (2.0, "b"), (3.0, "c")]
    assert diary.clock.time() == 5.0
    assert diary.clock.pending_timers == 1


def test_timer_without_delay_fires_at_the_next_advance(diary: Diary) -> None:
    diary.clock.set_timer(0, diary.note)
    assert diary.notes == []
    diary.clock.advance(0)
    assert diary.notes == [(0.0, "")]


def test_error_in_a_timer_leaves_the_clock_at_its_time(diary: Diary) -> None:
    diary.clock.set_timer(1, [].pop)
    diary.clock.set_timer(2, diary.note)
    with pytest.raises(IndexError):
        diary.clock.advance(5)
    assert diary.clock.time() == 1.0
    diary.clock.advance(4)
    assert diary.notes == [(2.0, "")]


def test_cancelled_timer_does_not_fire(diary: Diary) -> None:
    timers = [diary.clock.set_timer(1, functools.partial(diary.note, text)) for text in "abc"]
    assert diary.clock.cancel_timer(timers[1])
    assert not diary.clock.cancel_timer(timers[1])
    diary.clock.advance(1)
    assert [text for _, text in diary.notes] == ["a", "c"]
    assert not diary.clock.cancel_timer(timers[0])


def test_timer_that_never_lets_time_pass_is_stopped() -> None:
    clock = Clock()

    def again() -> None:
        clock.set_timer(0, again)

    again()
    with pytest.raises(SimulationError, match=f"{TIMERS_PER_ADVANCE_MAX} timers fired") as caught:
        clock.advance(1)
    assert "needs a delay above 0" in str(caught.value)


@pytest.mark.parametrize("wrong", [lambda c: c.advance(-1), lambda c: c.sleep(-0.1), lambda c: c.set_timer(-1, c.time)])
def test_negative_time_is_refused_with_a_hint(wrong: Callable[[Clock], object]) -> None:
    clock = Clock()
    with pytest.raises(ValueError, match="must not be negative, got -") as caught:
        wrong(clock)
    assert isinstance(caught.value, OrdealError)
    assert "only goes forward" in str(caught.value)
    assert (clock.time(), clock.pending_timers) == (0.0, 0)


@pytest.mark.parametrize("value", [math.nan, math.inf, "1", None])
def test_what_is_no_finite_number_is_refused(value: Any) -> None:
    with pytest.raises(SimulationError, match="start must be a finite number of seconds"):
        Clock(value)
    with pytest.raises(SimulationError, match="seconds must be a finite number of seconds"):
        Clock().advance(value)


def test_copy_has_its_own_time_and_timers(diary: Diary) -> None:
    diary.clock.set_timer(1, diary.note)
    diary.clock.set_timer(2, functools.partial(diary.note, "two"))
    other = copy.deepcopy(diary)
    other.clock.advance(2)
    assert other.notes == [(1.0, ""), (2.0, "two")]
    assert diary.notes == []
    assert (diary.clock.time(), diary.clock.pending_timers) == (0.0, 2)


def test_timer_with_a_method_in_c_is_bound_to_the_copy(diary: Diary) -> None:
    diary.clock.set_timer(1, functools.partial(diary.notes.append, (0.0, "appended")))
    diary.clock.set_timer(2, diary.notes.clear)
    other = copy.deepcopy(diary)
    diary.clock.advance(1)
    assert (diary.notes, other.notes) == ([(0.0, "appended")], [])
    other.clock.advance(2)
    assert (diary.notes, other.notes) == ([(0.0, "appended")], [])


@pytest.mark.parametrize("wrap", [lambda f: f, functools.partial, lambda f: functools.partial(map, f)])
def test_lambda_that_holds_on_to_something_is_not_copied(diary: Diary, wrap: Callable[[Any], Any]) -> None:
    diary.clock.set_timer(1, wrap(lambda: diary.note("mine")))
    with pytest.raises(SimulationError, match="cannot be copied with its machine") as caught:
        copy.deepcopy(diary)
    assert "bound method" in str(caught.value)


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


def test_waiting_for_threads_and_loops_takes_real_time(clock: Clock) -> None:
    with clock.patch():
        assert not threading.Event().wait(0.001)
        asyncio.run(asyncio.sleep(0.001))
    assert clock.time() == NOON_S


def test_fault_that_sleeps_advances_the_clock(clock: Clock) -> None:
    with timing.slow("ordeal.simulate.descriptors.names_of", delay=30, mode="real"), clock.patch():
        started = real_seconds()
        sys.modules["ordeal.simulate.descriptors"].names_of("/a")
    assert clock.time() == NOON_S + 30
    assert real_seconds() != started


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


def test_a_clock_is_not_copied_while_in_use(clock: Clock) -> None:
    with clock.patch(), pytest.raises(SimulationError, match=r"inside of its patch\(\)") as caught:
        copy.deepcopy(clock)
    assert "in each rule" in str(caught.value)
    assert copy.deepcopy(clock).time() == NOON_S
