"""A forked process: how its end is told, what it may take, and that it neither disturbs nor leaves anything here."""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import ordeal._native as _native
from ordeal._engine.isolation.channel import Channel, Value
from ordeal._engine.isolation.child import (
    REPLACED,
    Called,
    Child,
    ChildExit,
    Limits,
    call_in_fork,
    wait_for,
)

pytestmark = pytest.mark.forks

SECONDS = 300.0
MEBIBYTE = 1 << 20


def outcome(work: Callable[[Channel], object], *, memory: int = 0) -> tuple[ChildExit, list[list[Value]]]:
    """How a process that does ``work`` ends, and what it says until then."""
    child = Child(lambda channel, journal: void(work(channel)), Limits(memory))
    try:
        child.wait(SECONDS)
        said = child.messages()
        assert child.exit_status is not None
        return child.exit_status, said
    finally:
        child.close()


def void(_: object) -> None:
    """What a job returns is of no interest."""


def is_gone(process: int) -> bool:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.005)
    return False


def first_message(child: Child) -> list[Value]:
    wait_for([child], SECONDS)
    (message, *_) = child.messages()
    return message


@pytest.mark.parametrize(
    ("work", "code", "number"),
    [
        (lambda channel: None, 0, 0),
        (lambda channel: os._exit(3), 3, 0),
        (lambda channel: os.execv("/bin/true", ["true"]), REPLACED, 0),
        (lambda channel: os.execlp("sh", "sh", "-c", "kill -9 $$"), REPLACED, 0),
        (lambda channel: 1 / 0, 1, 0),
        (lambda channel: sys.exit(0), 1, 0),
        (lambda channel: os.kill(os.getpid(), signal.SIGKILL), 0, signal.SIGKILL),
        (lambda channel: os.kill(os.getpid(), signal.SIGTERM), 0, signal.SIGTERM),
    ],
    ids=[
        "returns",
        "exits",
        "is replaced",
        "is replaced and killed",
        "raises",
        "raises an exit",
        "is killed",
        "is terminated",
    ],
)
def test_its_end_is_told(work: Any, code: int, number: int) -> None:
    exit_status, _ = outcome(work)
    assert (exit_status.code, exit_status.signal, exit_status.is_unknown) == (code, number, False)
    assert exit_status.is_clean is (not code and not number)


def crash_here(channel: Channel) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def test_of_a_fatal_signal_the_calls_of_the_user_are_told() -> None:
    exit_status, _ = outcome(crash_here)
    assert exit_status.signal == signal.SIGSEGV
    assert "Segmentation fault" in exit_status.stacks
    assert "in crash_here" in exit_status.stacks
    assert "isolation/child.py" not in exit_status.stacks


def take_memory(channel: Channel) -> None:
    try:
        taken = np.empty(2048 * MEBIBYTE, np.uint8)  # asked for, and not filled: without a GIL, 1 GiB more passes
    except MemoryError:
        channel.send("no memory")
    else:
        channel.send(len(taken))


def test_memory_beyond_its_limit_is_refused_in_it_alone() -> None:
    exit_status, said = outcome(take_memory, memory=256 * MEBIBYTE)
    assert (exit_status.is_clean, said) == (True, [["no memory"]])
    assert len(np.empty(2048 * MEBIBYTE, np.uint8)) == 2048 * MEBIBYTE


def sleep(channel: Channel, journal: Any) -> None:
    channel.send(os.getpid())
    time.sleep(600)


def test_one_that_takes_too_long_is_ended() -> None:
    child = Child(sleep, Limits())
    (process,) = first_message(child)
    assert not child.has_ended()
    child.wait(0.01)
    assert child.exit_status is not None
    assert child.exit_status.signal == signal.SIGKILL
    assert is_gone(int(str(process)))
    child.close()


def test_closing_ends_it_and_may_be_repeated() -> None:
    child = Child(sleep, Limits())
    (process,) = first_message(child)
    child.close()
    child.close()
    assert child.has_ended()
    assert child.messages() == []
    assert is_gone(int(str(process)))
    with pytest.raises(ChildProcessError):
        os.waitpid(child.reaper, os.WNOHANG)


def leave_orphans(channel: Channel) -> None:
    there, is_there = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            channel.send(os.getpid())
            os.write(is_there, b"!")
            time.sleep(600)
        os._exit(0)
    os.read(there, 1)


def test_what_it_left_behind_ends_with_it() -> None:
    child = Child(lambda channel, journal: leave_orphans(channel), Limits())
    (daemon,) = first_message(child)
    child.wait(SECONDS)
    assert is_gone(int(str(daemon)))
    child.close()


def print_and_read(channel: Channel) -> None:
    sys.stdout.write("lost\n")
    sys.stderr.write("lost as well\n")
    sys.stdout.flush()
    os.write(1, b"lost too")
    channel.send(sys.stdin.read())


def test_what_it_prints_is_dropped_and_there_is_nothing_to_read(capfd: pytest.CaptureFixture[str]) -> None:
    assert outcome(print_and_read)[1] == [[""]]
    assert capfd.readouterr() == ("", "")


def test_what_this_process_has_not_yet_written_is_written_once(capfd: pytest.CaptureFixture[str]) -> None:
    sys.stdout.write("mine")
    outcome(lambda channel: sys.stdout.flush())
    sys.stdout.flush()
    assert capfd.readouterr().out == "mine"


def test_ctrl_c_is_not_for_it() -> None:
    def interrupted(channel: Channel) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        channel.send("went on")

    assert outcome(interrupted)[1] == [["went on"]]


def test_signals_are_not_blocked_in_it_or_here() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    _, said = outcome(lambda channel: channel.send(len(signal.pthread_sigmask(signal.SIG_BLOCK, ()))))
    assert said == [[len(before)]]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_one_that_says_what_is_no_message_is_ended_and_this_one_goes_on() -> None:
    def babble(channel: Channel, journal: Any) -> None:
        os.write(channel.fileno(), b"\xff no message")
        time.sleep(600)

    child = Child(babble, Limits())
    wait_for([child], SECONDS)
    assert child.messages() == []
    assert child.has_ended()
    assert child.messages() == []
    child.close()


def test_its_journal_is_read_here() -> None:
    def note(channel: Channel, journal: _native.Journal) -> None:
        journal.enter_teardown()
        os._exit(3)

    child = Child(note, Limits())
    child.wait(SECONDS)
    assert _native.read_journal(child.journal, (1, 1, 1), 1).stage == "teardown"
    assert isinstance(child.journal, mmap.mmap)
    child.close()


def sleeper(channel: Any) -> None:
    """Tell the number of this process, and sleep."""
    channel.send(os.getpid())
    time.sleep(600)


def said_by(child: Child, count: int = 1) -> list[int]:
    """The first numbers that it tells."""
    deadline = time.monotonic() + SECONDS
    said: list[int] = []
    while len(said) < count and time.monotonic() < deadline:
        said += (int(str(number)) for (number,) in child.messages())
        time.sleep(0.001)
    return said


@pytest.mark.parametrize("ends", [True, False], ids=["by-itself", "killed"])
def test_a_daemon_ends_with_the_process(ends: bool) -> None:
    there, is_there = os.pipe()

    def daemonise(channel: Any, journal: Any) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                channel.send(os.getpid())
                os.write(is_there, b"!")
                time.sleep(600)
            os._exit(0)
        if not ends:
            time.sleep(600)
        os.read(there, 1)

    child = Child(daemonise, Limits())
    (daemon,) = said_by(child)
    if ends:
        child.wait(SECONDS)
    child.close()
    os.close(there)
    os.close(is_there)
    assert is_gone(daemon)
    assert child.exit_status == (ChildExit() if ends else ChildExit(signal=signal.SIGKILL))


def test_one_that_is_stopped_ends_all_the_same() -> None:
    child = Child(lambda channel, journal: sleeper(channel), Limits())
    (process,) = said_by(child)
    os.kill(child.reaper, signal.SIGSTOP)
    child.close()
    assert is_gone(process)


def test_one_that_is_killed_takes_the_process_along_and_nobody_knows_how_that_ended() -> None:
    child = Child(lambda channel, journal: sleeper(channel), Limits())
    (process,) = said_by(child)
    os.kill(child.reaper, signal.SIGKILL)
    child.wait(SECONDS)
    child.close()
    assert is_gone(process)
    assert child.exit_status == ChildExit(signal=signal.SIGKILL, is_unknown=True)


def test_it_hears_of_the_end_in_a_program_that_ignores_that_of_its_children() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        # The job finds it as it was, and nobody can wait for the reaper: the system has done so already.
        exit_status, _ = outcome(
            lambda channel: os._exit(7 if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN else 0)
        )
        killed = Child(lambda channel, journal: sleeper(channel), Limits())
        killed.close()
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert exit_status == ChildExit(code=7)
    assert killed.exit_status == ChildExit(signal=signal.SIGKILL)


def hang() -> None:
    while True:
        with suppress(BaseException):
            time.sleep(1000)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda: None, ""),
        (lambda: int("x"), "raised ValueError: invalid literal for int() with base 10: 'x'"),
        (lambda: sys.exit(0), "raised SystemExit: 0"),
        (interrupt, "raised KeyboardInterrupt"),
        (lambda: os._exit(5), "ended its process with exit code 5"),
        (lambda: os._exit(0), "ended its process with exit code 0"),
        (lambda: os.execv("/bin/true", ["true"]), "ended its process by replacing it with another program"),
        (lambda: ctypes.string_at(0), "ended its process by SIGSEGV"),
    ],
)
def test_what_a_call_did_is_reported(function: Callable[[], Value], problem: str) -> None:
    assert call_in_fork(function, SECONDS, Limits()).problem == problem


def test_a_call_that_hangs_is_ended() -> None:
    assert call_in_fork(hang, 0.1, Limits()) == Called(problem="did not return within 0.1 s", is_late=True)


def test_a_call_may_take_no_more_memory_than_is_allowed() -> None:
    problem = call_in_fork(lambda: void(bytearray(2**40)), SECONDS, Limits(memory=2**30)).problem
    assert problem.startswith("raised MemoryError")


def test_what_a_call_returns_is_its_answer() -> None:
    assert call_in_fork(lambda: os.getppid() != os.getpid(), SECONDS, Limits()) == Called(answer=True)
    assert call_in_fork(lambda: "x" * 10_000_000, SECONDS, Limits()).answer == "x" * 10_000_000
