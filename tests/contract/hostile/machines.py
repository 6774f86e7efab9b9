"""Machines that do their worst to the process that runs them. Each has an ordinary bug as well, which must be found."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal._native import ALARM_SIGNAL

#: What the processes that rules leave behind would take, were they not ended.
FOREVER = "600"
MEBIBYTE = 2**20


#: The argument of ``strike`` that does the harm; any other does none, so that other runs come to their end.
HARMFUL = 77
#: A file that a folder must hold to be deleted.
DELETABLE = "deletable"


def loop_in_c() -> None:
    """Never return to Python, nor let other threads run; between its turns it sleeps, to leave the cores to others."""
    sum(map(ctypes.PyDLL(None).usleep, itertools.repeat(20_000)))


class Hostile(RuleBasedStateMachine):
    """Two steps lead up to the harm, three to the ordinary bug."""

    def __init__(self) -> None:
        super().__init__()
        self.walked = 0

    @rule(number=st.integers(0, 9))
    def walk(self, number: int) -> None:
        self.walked += 1

    @rule(number=st.integers(0, 99))
    def strike(self, number: int) -> None:
        if self.walked >= 2 and number == HARMFUL:
            self.harm()

    @rule()
    def ordinary(self) -> None:
        if self.walked >= 3:
            raise ValueError("an ordinary bug")

    def harm(self) -> None:
        raise NotImplementedError


class Once(Hostile):
    """Does its harm once in each process: with thousands of runs a second the machine under the test would suffer."""

    done_in: ClassVar[int] = 0

    def harm(self) -> None:
        if Once.done_in != os.getpid():
            Once.done_in = os.getpid()
            self.harm_once()

    def harm_once(self) -> None:
        raise NotImplementedError


# -- ends its process --------------------------------------------------------------------------------------------------


class Exits(Hostile):
    def harm(self) -> None:
        os._exit(3)


class ExitsWell(Hostile):
    def harm(self) -> None:
        os._exit(0)


class RaisesSystemExit(Hostile):
    def harm(self) -> None:
        sys.exit(0)


class RaisesKeyboardInterrupt(Hostile):
    def harm(self) -> None:
        raise KeyboardInterrupt


class Segfaults(Hostile):
    def harm(self) -> None:
        ctypes.string_at(0)


class Aborts(Hostile):
    def harm(self) -> None:
        os.abort()


class OverflowsStack(Hostile):
    """Through C each time, where Python counts no depth."""

    def harm(self) -> None:
        resource.setrlimit(resource.RLIMIT_STACK, (MEBIBYTE, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        libc = ctypes.CDLL(None)
        compare_type = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        block = (ctypes.c_int * 2)(2, 1)

        def sort(_one: Any, _other: Any) -> int:
            libc.qsort(block, 2, 4, compare)
            return 0

        compare = compare_type(sort)
        sort(None, None)


class KillsItself(Hostile):
    def harm(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class EatsMemory(Hostile):
    def harm(self) -> None:
        eaten = []
        while True:
            eaten.append(bytes(64 * MEBIBYTE))  # nobody fills it


class ReplacesItself(Hostile):
    """What takes its place inherits the timer that limits rules, and lasts longer."""

    def harm(self) -> None:
        os.execlp("sleep", "sleep", FOREVER)


# -- does not come to an end -------------------------------------------------------------------------------------------


class HangsInC(Hostile):
    def harm(self) -> None:
        loop_in_c()


class Sleeps(Hostile):
    def harm(self) -> None:
        time.sleep(600)


class CatchesAll(Hostile):
    """Also what is to end it."""

    def harm(self) -> NoReturn:
        while True:
            with contextlib.suppress(Exception):
                time.sleep(600)


class TakesSignals(Hostile):
    """Also the alarm that is to end it."""

    def harm(self) -> None:
        for number in (ALARM_SIGNAL, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)


class BlocksSignals(Hostile):
    """All that can be blocked."""

    def harm(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        time.sleep(600)


class HangsInThread(Hostile):
    """It waits for a thread that does not end."""

    def harm(self) -> None:
        thread = threading.Thread(target=time.sleep, args=(600,))
        thread.start()
        thread.join()


# -- leaves something behind, or takes something away ------------------------------------------------------------------


class Forks(Hostile):
    """Both processes go on with the rule."""

    def harm(self) -> None:
        os.fork()


class LeavesDaemonThread(Once):
    daemon = True

    def harm_once(self) -> None:
        threading.Thread(target=time.sleep, args=(600,), daemon=self.daemon).start()


class LeavesThread(LeavesDaemonThread):
    daemon = False


class LeavesProcess(Once):
    new_session = False

    def harm_once(self) -> None:
        subprocess.Popen(["sleep", FOREVER], start_new_session=self.new_session)


class LeavesSession(LeavesProcess):
    """The process is in no group of the worker."""

    new_session = True


class LeavesDaemon(Once):
    """As a daemon does: a child of nobody, in a session of its own, without open files."""

    def harm_once(self) -> None:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return
        os.setsid()
        if os.fork():
            os._exit(0)
        os.closerange(0, 1_024)
        time.sleep(600)
        os._exit(0)


class LeavesDaemonAndExits(LeavesDaemon):
    def harm_once(self) -> None:
        super().harm_once()
        os._exit(5)


class ClosesStandardStreams(Hostile):
    def harm(self) -> None:
        for stream in (0, 1, 2):
            with contextlib.suppress(OSError):
                os.close(stream)


class ClosesEverything(Hostile):
    def harm(self) -> None:
        os.closerange(0, 65_536)


class ChangesFolder(Hostile):
    def harm(self) -> None:
        os.chdir("/")


class DeletesFolder(Hostile):
    """The one that traces, seeds and the state are to be written to."""

    def harm(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            here = Path.cwd()
            if (here / DELETABLE).exists():
                shutil.rmtree(here)


class StopsParent(Hostile):
    """The parent is ordeal's own, which knows how to go on."""

    number = signal.SIGSTOP

    def harm(self) -> None:
        os.kill(os.getppid(), self.number)


class KillsParent(StopsParent):
    number = signal.SIGKILL


class Floods(Hostile):
    def harm(self) -> None:
        print("flood " * 10_000)  # noqa: T201 - what is printed is what this is about
        os.write(1, b"flood " * 100_000)
        os.write(2, b"flood " * 100_000)


# -- elsewhere than in a rule ------------------------------------------------------------------------------------------


class ExitsInInit(RuleBasedStateMachine):
    """There is no run of it in which anything else could fail."""

    def __init__(self) -> None:
        super().__init__()
        os._exit(3)

    @rule()
    def walk(self) -> None:
        pass


class HangsInInit(ExitsInInit):
    def __init__(self) -> None:
        RuleBasedStateMachine.__init__(self)
        loop_in_c()


class ExitsInInvariant(Hostile):
    def harm(self) -> None:
        self.is_struck = True

    @invariant()
    def is_whole(self) -> None:
        if getattr(self, "is_struck", False):
            os._exit(3)


class ExitsInTeardown(Hostile):
    def harm(self) -> None:
        self.is_struck = True

    def teardown(self) -> None:
        if getattr(self, "is_struck", False):
            os._exit(3)


def _exits_at_nine(number: int) -> int:
    if number == 9:
        os._exit(3)
    return number


class ExitsInStrategy(Hostile):
    @rule(number=st.integers(0, 9).map(_exits_at_nine))
    def draw(self, number: int) -> None:
        pass

    def harm(self) -> None:
        pass
