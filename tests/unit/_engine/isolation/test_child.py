"""A forked process: how its end is told, what it may take, and that it neither disturbs nor leaves anything here."""

from __future__ import annotations

import mmap
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ordeal._native as _native
from ordeal._engine.isolation.channel import Channel, Value
from ordeal._engine.isolation.child import Child, ChildExit, Limits, wait_for
from ordeal._engine.parallel.supervisor import can_supervise

pytestmark = [
    pytest.mark.forks,
    pytest.mark.skipif(not can_supervise(), reason="processes are watched on Linux only"),
]

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
        (lambda channel: 1 / 0, 1, 0),
        (lambda channel: sys.exit(0), 1, 0),
        (lambda channel: os.kill(os.getpid(), signal.SIGKILL), 0, signal.SIGKILL),
        (lambda channel: os.kill(os.getpid(), signal.SIGTERM), 0, signal.SIGTERM),
    ],
    ids=["returns", "exits", "raises", "raises an exit", "is killed", "is terminated"],
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


def say_two_things(channel: Channel) -> None:
    channel.send(1, "two")
    channel.send(None)
    os._exit(3)


def test_it_says_what_it_has_to_say_before_its_end() -> None:
    exit_status, said = outcome(say_two_things)
    assert exit_status.code == 3
    assert said == [[1, "two"], [None]]


def take_memory(channel: Channel) -> None:
    try:
        taken = np.empty(512 * MEBIBYTE, np.uint8)  # asked for, and not filled
    except MemoryError:
        channel.send("no memory")
    else:
        channel.send(len(taken))


def test_memory_beyond_its_limit_is_refused_in_it_alone() -> None:
    exit_status, said = outcome(take_memory, memory=256 * MEBIBYTE)
    assert (exit_status.is_clean, said) == (True, [["no memory"]])
    assert len(np.empty(512 * MEBIBYTE, np.uint8)) == 512 * MEBIBYTE


def test_without_a_limit_it_takes_what_it_wants() -> None:
    assert outcome(take_memory)[1] == [[512 * MEBIBYTE]]


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


def test_whoever_has_news_first_is_not_waited_for_longer() -> None:
    quiet, loud = Child(lambda channel, journal: time.sleep(600), Limits()), Child(sleep, Limits())
    begun = time.monotonic()
    wait_for([quiet, loud], SECONDS)
    assert time.monotonic() - begun < SECONDS
    assert quiet.messages() == []
    assert len(loud.messages()) == 1
    quiet.close()
    loud.close()
