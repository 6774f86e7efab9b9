"""Texts of untrusted objects are read in bounded time and size."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from ordeal._base import interrupts, untrusted
from ordeal._base.limits import ITEMS_MAX, LINE_CHARS_MAX, TEXT_CHARS_MAX
from ordeal._base.untrusted import (
    bounded_call,
    error_message,
    full_name,
    source_line,
    traceback_text,
    type_name,
)
from ordeal._native import ALARM_SIGNAL, ring_in, rings_in


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give nothing much time; what was set before is there again afterwards."""
    monkeypatch.setattr(untrusted, "SECONDS_MAX", 0.1)
    before = signal.getsignal(ALARM_SIGNAL), rings_in()
    yield
    assert (signal.getsignal(ALARM_SIGNAL), rings_in()) == before


def loop() -> NoReturn:
    while True:
        pass


def raises(error: BaseException) -> Callable[..., Any]:
    def raising(*_: object) -> NoReturn:
        raise error

    return raising


def error_saying(say: Callable[..., Any], base: type[BaseException] = Exception) -> BaseException:
    made: BaseException = type("Odd", (base,), {"__str__": say})()
    return made


def caught_from(call: Callable[[], object]) -> BaseException:
    try:
        call()
    except BaseException as raised:  # noqa: BLE001 - any may be asked for
        return raised
    raise AssertionError("nothing was raised")


def caught(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as raised:  # noqa: BLE001 - any may be asked for
        return raised


class TestMessage:
    @pytest.mark.parametrize("error", [ValueError(), KeyboardInterrupt(), SystemExit(), GeneratorExit()])
    def test_of_one_that_raises_is_a_stand_in(self, error: BaseException) -> None:
        assert error_message(error_saying(raises(error))) == "<Odd whose text raises>"

    def test_of_one_that_loops_is_a_stand_in(self) -> None:
        assert error_message(error_saying(lambda _self: loop())) == "<Odd whose text takes too long>"

    def test_of_one_that_catches_what_ends_it_is_a_stand_in(self) -> None:
        left = [3]

        def stubborn(_self: object) -> str:
            while left[0]:
                try:
                    loop()
                except BaseException:  # noqa: BLE001 - this is what it is about
                    left[0] -= 1
            return loop()

        assert error_message(error_saying(stubborn)) == "<Odd whose text takes too long>"

    def test_is_cut(self) -> None:
        assert len(error_message(ValueError("x" * 1_000_000))) == TEXT_CHARS_MAX

    def test_a_timer_of_somebody_else_goes_on(self) -> None:
        rung: list[int] = []
        before = signal.signal(ALARM_SIGNAL, lambda *_: rung.append(1))
        try:
            ring_in(0.03, 0.03)
            error_message(error_saying(lambda _self: loop()))
            while not rung:
                signal.sigtimedwait([], 0.01)
        finally:
            ring_in(0.0, 0.0)
            signal.signal(ALARM_SIGNAL, before)


class TestName:
    def test_of_a_class_whose_metaclass_raises(self) -> None:
        meta = type("Meta", (type,), {"__getattribute__": raises(RuntimeError())})
        hidden = meta("Hidden", (Exception,), {})
        assert type_name(hidden) == "Hidden"
        assert full_name(hidden) == f"{__name__}.Hidden"

    def test_is_cut(self) -> None:
        assert type_name(type("x" * 1_000_000, (), {})) == "x" * LINE_CHARS_MAX


class TestTraceback:
    def chained(self) -> BaseException:
        try:
            try:
                try:
                    raise KeyError("first")
                except KeyError as first:
                    raise ValueError("second") from first
            except ValueError:
                raise TypeError("third")  # noqa: B904 - chained by context, as it is
        except TypeError as third:
            third.add_note("noted")
            return third

    def test_is_as_python_prints_it(self) -> None:
        for error in (
            self.chained(),
            caught(ExceptionGroup("several", [ValueError("a"), TypeError("b")])),
            caught(SyntaxError("no", ("f.py", 1, 2, "x y", 1, 3))),
        ):
            printed = "".join(traceback.format_exception(error))
            assert traceback_text(error, error.__traceback__) == printed

    def test_a_long_chain_is_cut(self) -> None:
        error = ValueError("first")
        for number in range(100_000):
            following = ValueError(str(number))
            following.__context__ = error
            error = following
        text = traceback_text(error, None)
        assert text.count("During handling") == ITEMS_MAX - 1
        assert text.endswith("ValueError: 99999\n")

    def test_a_circle_is_printed_once(self) -> None:
        one, other = ValueError("one"), ValueError("other")
        one.__cause__, other.__cause__ = other, one
        assert traceback_text(one, None).count("ValueError: one") == 1

    def test_of_one_whose_notes_loop_has_its_frames(self) -> None:
        error = caught(ValueError("x"))
        error.__notes__ = type("Notes", (), {"__iter__": lambda _self: loop()})()
        text = traceback_text(error, error.__traceback__)
        assert "in caught" in text
        assert "ValueError" in text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_finalisers_of_local_variables_run_in_bounded_time(monkeypatch: pytest.MonkeyPatch) -> None:
    # The hook of pytest imports modules, and on a busy machine the time may be over in the middle of that.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    ended: list[str] = []

    class Kept:
        def __del__(self) -> None:
            try:
                while True:
                    pass
            finally:
                ended.append("kept")

    def fail() -> NoReturn:
        kept = Kept()
        raise LookupError("kept", id(kept))

    error = caught_from(fail)
    error.__context__ = error  # what is in a circle is not dropped with its last reference
    assert ended == []
    untrusted.release_frames(error)
    assert ended == ["kept"]


def test_a_line_of_a_pipe_is_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert source_line(str(tmp_path / "pipe.py"), 1) == ""


def test_ctrl_c_of_the_person_gets_out() -> None:
    with pytest.raises(KeyboardInterrupt):
        bounded_call(lambda: signal.raise_signal(signal.SIGINT), lambda _raised: None)


def test_an_alarm_that_was_on_its_way_neither_cuts_a_call_nor_stops_its_timer() -> None:
    def told() -> str:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {ALARM_SIGNAL})
        return "whole"

    rung = threading.Event()
    handler = signal.signal(ALARM_SIGNAL, lambda *_: rung.set())
    signal.pthread_sigmask(signal.SIG_BLOCK, {ALARM_SIGNAL})
    try:
        ring_in(1e-3, 1e-3)
        time.sleep(5e-3)
        assert bounded_call(told, lambda _raised: "cut") == "whole"
        assert rung.wait(10.0)
    finally:
        ring_in(0.0, 0.0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {ALARM_SIGNAL})
        signal.signal(ALARM_SIGNAL, handler)


def test_an_alarm_that_rings_again_before_it_is_cleared_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    clear = interrupts.Alarm.clear

    def ringing(alarm: Any) -> None:
        signal.raise_signal(ALARM_SIGNAL)
        clear(alarm)

    monkeypatch.setattr(interrupts.Alarm, "clear", ringing)
    assert bounded_call(lambda: time.sleep(600), lambda error: "too long" if error is None else "raised") == "too long"
