"""Ctrl-C is told from a KeyboardInterrupt of the program."""

from __future__ import annotations

import signal
import threading

import pytest

from ordeal._engine import interrupts


def pressed() -> KeyboardInterrupt:
    with pytest.raises(KeyboardInterrupt) as caught:
        signal.raise_signal(signal.SIGINT)
    return caught.value


def test_one_that_no_signal_brought_is_of_the_program() -> None:
    with interrupts.watched():
        signals_before = interrupts.signal_count()
        assert not interrupts.is_from_user(KeyboardInterrupt(), signals_before)
        assert interrupts.is_from_user(pressed(), signals_before)
        assert not interrupts.is_from_user(ValueError(), signals_before)


def test_each_counts_where_nobody_watches() -> None:
    assert interrupts.is_from_user(KeyboardInterrupt(), interrupts.signal_count())
    assert not interrupts.is_from_user(SystemExit(), interrupts.signal_count())


def test_what_was_set_before_comes_back() -> None:
    before = [signal.getsignal(number) for number in interrupts.SIGNALS]
    with interrupts.watched(), interrupts.watched():
        pressed()
    assert [signal.getsignal(number) for number in interrupts.SIGNALS] == before


def test_what_the_program_has_set_stays() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with interrupts.watched():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_watches_nothing() -> None:
    seen: list[object] = []

    def look() -> None:
        with interrupts.watched():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
