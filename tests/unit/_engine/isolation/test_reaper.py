"""What stands between a process and a fork of it, and ends all that comes of that."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import pytest

from ordeal._engine.isolation.child import Child, ChildExit, Limits
from ordeal._engine.parallel.supervisor import can_supervise

pytestmark = pytest.mark.skipif(not can_supervise(), reason="processes are watched on Linux only")

SECONDS = 300.0


def ended(job: Callable[[], object]) -> ChildExit:
    """How a process ends that does ``job``, and nothing else."""

    def work(channel: Any, journal: Any) -> None:
        job()

    child = Child(work, Limits())
    child.wait(SECONDS)
    child.close()
    assert child.exit_status is not None
    return child.exit_status


def sleeper(channel: Any) -> None:
    """Tell the number of this process, and sleep."""
    channel.send(os.getpid())
    time.sleep(600)


def is_gone(process: int) -> bool:
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def said_by(child: Child, count: int = 1) -> list[int]:
    """The first numbers that it tells."""
    deadline = time.monotonic() + SECONDS
    said: list[int] = []
    while len(said) < count and time.monotonic() < deadline:
        said += (int(str(number)) for (number,) in child.messages())
        time.sleep(0.001)
    return said


def test_it_tells_how_the_process_ended() -> None:
    assert ended(lambda: None) == ChildExit()
    assert ended(lambda: os._exit(7)) == ChildExit(code=7)
    assert ended(lambda: os.kill(os.getpid(), signal.SIGKILL)) == ChildExit(signal=signal.SIGKILL)


def test_it_is_the_parent_of_the_process_and_in_another_group() -> None:
    def tell(channel: Any, journal: Any) -> None:
        channel.send(os.getppid())
        channel.send(os.getpgrp())
        channel.send(os.getpgid(os.getppid()))
        time.sleep(600)

    child = Child(tell, Limits())
    reaper, group, group_of_warden = said_by(child, 3)
    child.close()
    assert reaper == child.reaper == group_of_warden
    assert group not in (reaper, os.getpgrp())


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
        exit_status = ended(lambda: os._exit(7 if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN else 0))
        killed = Child(lambda channel, journal: sleeper(channel), Limits())
        killed.close()
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert exit_status == ChildExit(code=7)
    assert killed.exit_status == ChildExit(signal=signal.SIGKILL)


def test_signals_are_blocked_in_neither_process_for_long() -> None:
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    child = Child(lambda channel, journal: channel.send(len(signal.pthread_sigmask(signal.SIG_BLOCK, ()))), Limits())
    assert said_by(child) == [len(blocked)]
    child.close()
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == blocked
