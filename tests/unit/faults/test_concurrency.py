"""What the faults of concurrency do to calls in threads and tasks, and to state."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal.errors import FaultError
from ordeal.faults import concurrency, release

from ..samples.shop import add_module, shop_app

DESK = """
import asyncio
import threading

inside = 0
most = 0
local = threading.local()
gate = threading.Event()

def enter(change):
    global inside, most
    inside += change
    most = max(most, inside)

def serve(pause):
    enter(1)
    pause()
    enter(-1)

async def serve_later():
    enter(1)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    enter(-1)

def count_down(number):
    return number if number == 0 else count_down(number - 1)

async def count_down_later(number):
    return number if number == 0 else await count_down_later(number - 1)

def where():
    return threading.current_thread(), getattr(local, "user", None)

async def where_later():
    return threading.current_thread(), asyncio.get_running_loop()

def fail(error):
    raise error

def wait():
    gate.wait()

async def wait_later():
    await asyncio.get_running_loop().run_in_executor(None, gate.wait)

async def fail_later(error):
    raise error
"""


@pytest.fixture
def desk() -> Iterator[ModuleType]:
    with shop_app():
        module = add_module("desk", DESK)
        yield module
        module.gate.set()


# contended_call


def test_contended_threads_go_one_by_one(desk: Any) -> None:
    def pause() -> None:
        time.sleep(0.001)

    def serve_all() -> None:
        threads = [threading.Thread(target=lambda: desk.serve(pause)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    with concurrency.contended_call("shop_app.desk.serve") as fault:
        serve_all()
    assert (desk.most, fault.observation_hits) == (1, 4)


def test_contended_tasks_go_one_by_one_on_every_loop(desk: Any) -> None:
    async def serve_all() -> None:
        await asyncio.gather(*(desk.serve_later() for _ in range(4)))

    asyncio.run(serve_all())
    assert desk.most == 4
    desk.most = 0
    with concurrency.contended_call("shop_app.desk.serve_later"):
        asyncio.run(serve_all())
        asyncio.run(serve_all())
    assert desk.most == 1


def test_a_recursive_call_does_not_wait_for_itself(desk: Any) -> None:
    with (
        concurrency.contended_call("shop_app.desk.count_down") as fault,
        concurrency.contended_call("shop_app.desk.count_down_later") as later,
    ):
        assert desk.count_down(3) == asyncio.run(desk.count_down_later(3)) == 0
    assert (fault.observation_hits, later.observation_hits) == (4, 4)


def test_an_error_lets_the_lock_go(desk: Any) -> None:
    with concurrency.contended_call("shop_app.desk.fail"), concurrency.contended_call("shop_app.desk.fail_later"):
        for _ in range(2):
            with pytest.raises(KeyError):
                desk.fail(KeyError())
            with pytest.raises(KeyError):
                asyncio.run(desk.fail_later(KeyError()))


# Sleeping


@pytest.mark.parametrize("make", [concurrency.contended_call, concurrency.delayed_release])
def test_sleeps_are_taken_when_real(desk: Any, slept: list[float], make: Any) -> None:
    calls = ("count_down", "count_down_later")
    for mode, pauses in (("simulate", []), ("real", [0.25, 0.25])):
        with make(f"shop_app.desk.{calls[0]}", 0.25, mode), make(f"shop_app.desk.{calls[1]}", 0.25, mode=mode):
            assert desk.count_down(0) == asyncio.run(desk.count_down_later(0)) == 0
        assert slept == pauses


def test_a_delayed_release_sleeps_after_the_call(desk: Any, slept: list[float]) -> None:
    with concurrency.delayed_release("shop_app.desk.serve", 0.5, "real"):
        desk.serve(lambda: slept.append(-1.0))
    assert slept == [-1.0, 0.5]


# thread_boundary


def test_a_call_is_made_in_a_thread_of_its_own(desk: Any) -> None:
    desk.local.user = "ann"
    assert desk.where() == (threading.current_thread(), "ann")
    with concurrency.thread_boundary("shop_app.desk.where") as fault:
        thread, user = desk.where()
    assert (thread.name, thread.daemon, user) == (fault.name, True, None)


def test_a_coroutine_gets_a_loop_of_its_own(desk: Any) -> None:
    async def both() -> tuple[Any, Any]:
        return await desk.where_later(), (threading.current_thread(), asyncio.get_running_loop())

    with concurrency.thread_boundary("shop_app.desk.where_later"):
        there, here = asyncio.run(both())
    assert there[0] is not here[0]
    assert there[1] is not here[1]


@pytest.mark.parametrize("error", [KeyError("gone"), TimeoutError("its own"), StopIteration(), SystemExit(3)])
def test_errors_come_back(desk: Any, error: BaseException) -> None:
    with concurrency.thread_boundary("shop_app.desk.fail"), pytest.raises(type(error)) as caught:
        desk.fail(error)
    assert caught.value is error


def test_errors_of_coroutines_come_back(desk: Any) -> None:
    with concurrency.thread_boundary("shop_app.desk.fail_later"), pytest.raises(KeyError, match="gone"):
        asyncio.run(desk.fail_later(KeyError("gone")))


def test_a_call_that_takes_too_long(desk: Any) -> None:
    text = r"^shop_app.desk.wait(_later)? did not return from its thread within 0.01s$"
    with concurrency.thread_boundary("shop_app.desk.wait", 0.01), pytest.raises(TimeoutError, match=text):
        desk.wait()
    with concurrency.thread_boundary("shop_app.desk.wait_later", 0.01), pytest.raises(TimeoutError, match=text):
        asyncio.run(desk.wait_later())


def test_the_cancelling_of_a_task_is_passed_on(desk: Any) -> None:
    async def cancel() -> None:
        task = asyncio.create_task(desk.wait_later())
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with concurrency.thread_boundary("shop_app.desk.wait_later"), pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


# stale_state


class Stock:
    opened = "class"

    def __init__(self) -> None:
        self.count = 1
        self._limit = 10

    @property
    def limit(self) -> tuple[int]:
        return (self._limit,)

    @limit.setter
    def limit(self, value: Any) -> None:
        self._limit = value[0]

    @staticmethod
    def unit() -> str:
        return "piece"


class Slots:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    count: int = 1


@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=20))
def test_any_sequence_of_switches_brings_the_value_back(switches: list[tuple[int, bool]]) -> None:
    stock = Stock()
    faults = [concurrency.stale_state(stock, "count", -number) for number in range(1, 4)]
    for number, is_on in switches:
        (faults[number].activate if is_on else faults[number].deactivate)()
        assert (stock.count == 1) == (not any(fault.active for fault in faults))
        assert stock.count == 1 or faults[-stock.count - 1].active
    release(faults)
    assert vars(stock) == {"count": 1, "_limit": 10}


def test_the_fault_that_was_put_on_last_is_seen() -> None:
    stock = Stock()
    first, second = concurrency.stale_state(stock, "count", -1), concurrency.stale_state(stock, "count", -2)
    with first:
        second.activate()
        assert stock.count == -2
    assert stock.count == -2
    second.deactivate()
    assert stock.count == 1


@pytest.mark.parametrize(
    ("owner", "attr", "stale"),
    [
        (Stock(), "count", 0),
        (Stock(), "opened", "stale"),
        (Stock(), "limit", (5,)),
        (Slots(), "count", 0),
        (Stock, "opened", "stale"),
        (Stock, "unit", None),
        (threading, "TIMEOUT_MAX", 0.0),
    ],
    ids=["attribute", "class attribute", "property", "slot", "of the class", "static method", "of a module"],
)
def test_it_is_restored_where_it_came_from(owner: Any, attr: str, stale: Any) -> None:
    before, own = getattr(owner, attr), dict(getattr(owner, "__dict__", {}))
    with concurrency.stale_state(owner, attr, stale):
        assert getattr(owner, attr) == stale
    assert getattr(owner, attr) == before
    assert dict(getattr(owner, "__dict__", {})) == own


def test_what_the_program_sets_in_the_meantime_stays() -> None:
    stock = Stock()
    fault, below = concurrency.stale_state(stock, "count", -1), concurrency.stale_state(stock, "count", -2)
    with below, fault:
        stock.count = 7
    assert (stock.count, fault.is_unwound, below.is_unwound) == (7, True, True)
    with fault:
        assert stock.count == -1
    assert stock.count == 7


def test_an_attribute_that_is_not_there_or_cannot_be_set() -> None:
    missing = concurrency.stale_state(Stock(), "price", 1)
    with pytest.raises(
        FaultError, match=r"fault 'stale_state\(Stock.price\)' cannot .*: the attribute 'price' does not exist"
    ):
        missing.activate()
    frozen = concurrency.stale_state(Frozen(), "count", 2)
    with pytest.raises(FaultError, match=r"fault 'stale_state\(Frozen.count\)' could not be switched on: FrozenInst"):
        frozen.activate()
    for fault in (missing, frozen):
        assert (fault.active, fault.is_unwound) == (False, True)
