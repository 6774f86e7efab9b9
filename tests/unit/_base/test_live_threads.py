"""Threads of the program are named; those of the tools that run it are not."""

from __future__ import annotations

import functools
import importlib._bootstrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from ordeal._base import live_threads
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


def test_what_turned_the_gil_on_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    warned = f"The global interpreter lock (GIL) has been enabled to load module 'shop._fast', which {'x' * 40}"
    monkeypatch.setitem(vars(importlib._bootstrap), "__warningregistry__", {(warned, RuntimeWarning, 491): True})
    assert live_threads.gil_note() == "", "this Python has always had one, or has none"
    flags = SimpleNamespace(gil=None)
    monkeypatch.setattr(live_threads, "sys", SimpleNamespace(abiflags="t", flags=flags, _is_gil_enabled=lambda: True))
    assert live_threads.gil_note().startswith("The extension shop._fast turned the GIL on, so threads take turns: ")
    monkeypatch.delitem(vars(importlib._bootstrap), "__warningregistry__")
    assert live_threads.gil_note().startswith("An extension turned the GIL on, so threads take turns: ")
    flags.gil = 1
    assert live_threads.gil_note() == "", "its user has turned it on"
