"""Ctrl-C is told from a KeyboardInterrupt of the program, and an alarm knows where its error would be lost."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import weakref
from collections.abc import Callable
from types import FrameType

import pytest

from ordeal import strategies
from ordeal._base import interrupts


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


class Member:
    """What weak collections hold."""


def lost_during(cause: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> set[bool]:
    """Return what is said of the frames that Python calls by itself during ``cause()``."""
    said: set[bool] = set()

    def profile(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code not in (cause.__code__, hold.__code__):
            said.add(interrupts.is_lost_in(frame))

    monkeypatch.setattr(sys, "unraisablehook", ignored)
    gc.collect()
    sys.setprofile(profile)
    try:
        cause()
    finally:
        sys.setprofile(None)
    return said


def hold() -> None:
    """Stand for what a callback calls."""


def ignored(_unraisable: object) -> None:
    hold()


def collects() -> None:
    gc.collect()


def callback(_phase: str, _info: dict[str, int]) -> None:
    hold()


def deletes() -> None:
    class Deleted:
        def __del__(self) -> None:
            hold()

    kept = Deleted()
    del kept


def fails_to_delete() -> None:
    class Deleted:
        def __del__(self) -> None:
            raise LookupError

    kept = Deleted()
    del kept


MEMBERS = {"member": Member()}
HELD = (
    weakref.WeakSet([MEMBERS["member"]]),
    weakref.WeakValueDictionary(MEMBERS),
    weakref.WeakKeyDictionary({MEMBERS["member"]: 1}),
)


def drops() -> None:
    MEMBERS.clear()


@pytest.mark.parametrize("cause", [collects, deletes, fails_to_delete, drops])
def test_where_python_only_prints_what_is_raised(cause: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "callbacks", gc.callbacks)
    gc.callbacks.append(callback)
    try:
        frames = lost_during(cause, monkeypatch)
    finally:
        gc.callbacks.remove(callback)
    assert True in frames


def test_code_of_ordeal_is_its_own_and_no_other() -> None:
    frames: list[FrameType] = []
    sys.setprofile(lambda frame, event, _argument: frames.append(frame) if event == "call" else None)
    try:
        strategies.edge_integers()
    finally:
        sys.setprofile(None)
    assert any(interrupts.is_own(frame) for frame in frames)
    assert not interrupts.is_own(sys._getframe())
    assert not interrupts.is_own(None)
