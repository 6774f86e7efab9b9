"""Allocations are counted in one thread and one of them fails; those of ordeal neither count nor fail."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from collections.abc import Iterator

import pytest

import ordeal._native as _native
from ordeal._base.live_threads import has_gil

pytestmark = pytest.mark.skipif(not has_gil(), reason="allocations are counted with the GIL alone")


@pytest.fixture(autouse=True)
def _collector_is_off() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def make(number: int) -> list[object]:
    return [object() for _ in range(number)]


def counted(number: int, own: tuple[str, ...] = ()) -> int:
    gc.collect()
    _native.start_allocations(own)
    make(number)
    return _native.stop_allocations()[0]


def test_each_object_is_counted_and_others_are_not() -> None:
    counted(10)
    assert counted(1000) - counted(100) >= 900
    assert counted(1000) == counted(1000)
    assert counted(1000, own=(__file__,)) == 0


def test_one_allocation_fails_where_it_is_made() -> None:
    _native.start_allocations((), 5)
    try:
        make(100)
        failed = False
    except MemoryError:
        failed = True
    number, struck = _native.stop_allocations()
    assert failed
    assert number >= 5
    assert struck is not None
    assert (struck[0], struck[1]) == (make.__code__, make.__code__.co_firstlineno + 1)
    _native.start_allocations((), 100_000)
    make(10)
    assert _native.stop_allocations()[1] is None


def test_another_thread_does_not_count() -> None:
    started, ended = threading.Event(), threading.Event()

    def work() -> None:
        started.wait()
        make(100_000)
        ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    _native.start_allocations(())
    started.set()
    ended.wait()
    number, _ = _native.stop_allocations()
    thread.join()
    assert number < 1000


def test_they_are_counted_once_at_a_time_and_with_tracemalloc_around() -> None:
    _native.start_allocations(())
    with pytest.raises(_native.CoreError, match="being counted already"):
        _native.start_allocations(())
    tracemalloc.start()
    _native.stop_allocations()
    before = counted(10)
    tracemalloc.stop()
    assert before > 10
    assert counted(1000) > 1000
    assert counted(1000) > 1000
