"""Threads of the program are named; those of the tools that run it are not."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ordeal._base.live_threads import program_threads


@contextmanager
def running(**options: object) -> Iterator[threading.Event]:
    end = threading.Event()
    thread = threading.Thread(target=functools.partial(end.wait, 30), daemon=True, **options)  # type: ignore[arg-type]
    thread.start()
    try:
        yield end
    finally:
        end.set()
        thread.join()


def test_a_thread_is_named_as_long_as_it_lives() -> None:
    before = program_threads()
    with running(name="a loop"):
        assert sorted(set(program_threads()) - set(before)) == ["a loop"]
    assert program_threads() == before


def test_a_thread_of_a_tool_does_not_count() -> None:
    class Console(threading.Thread):
        __module__ = "ipykernel.iostream"

    before, end = program_threads(), threading.Event()
    console = Console(target=end.wait)
    console.start()
    try:
        assert program_threads() == before
    finally:
        end.set()
        console.join()


def test_a_timer_counts_by_what_it_calls() -> None:
    before = program_threads()
    for function, count in ((int, 1), (pytest.exit, 0)):
        timer = threading.Timer(60, function)
        timer.start()
        try:
            assert len(program_threads()) - len(before) == count
        finally:
            timer.cancel()
            timer.join()
