"""Copies of what the standard library makes in C: locks, what is made of them, modules and counters."""

from __future__ import annotations

import copy
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ordeal._native import deep_copy


class Plain:
    def __init__(self, first: Any) -> None:
        self.first = first


def held(lock: Any) -> Any:
    lock.acquire()
    return lock


def held_elsewhere(lock: Any) -> Any:
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    thread.join()
    return lock


@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock])
def test_a_lock_that_nobody_holds_is_copied_as_another(kind: Callable[[], Any]) -> None:
    lock = kind()
    first, second = deep_copy([lock, Plain(lock)], {})
    assert first is second.first
    assert first is not lock
    with first:
        assert lock.acquire(blocking=False)
    lock.release()
    assert first.acquire(blocking=False)


@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock])
@pytest.mark.parametrize("hold", [held, held_elsewhere])
def test_a_lock_that_is_held_cannot_be_copied(kind: Callable[[], Any], hold: Callable[[Any], Any]) -> None:
    with pytest.raises(copy.Error, match="a lock that is held cannot be copied"):
        deep_copy([hold(kind())], {})


def test_what_is_made_of_locks_works_after_a_copy() -> None:
    jobs: queue.Queue[int] = queue.Queue()
    jobs.put(1)
    event, condition = threading.Event(), threading.Condition()
    twins: list[Any] = list(deep_copy([jobs, event, condition], {}))
    assert twins[0].get(block=False) == 1
    assert jobs.qsize() == 1
    twins[1].set()
    assert not event.is_set()
    with twins[2], condition:
        twins[2].notify_all()
