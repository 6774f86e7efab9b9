"""Rules that break the interpreter that runs them, or replace what the engine might use."""

from __future__ import annotations

import builtins
import gc
import io
import os
import resource
import signal
import sys
import threading
import time
from typing import Any, ClassVar
from unittest import mock

from hypothesis import strategies as st

from .base import Attack, attack

KIND = "the interpreter"


@attack(KIND, "empties `sys.modules`")
class NoModules(Attack):
    def harm(self) -> None:
        sys.modules.clear()


@attack(KIND, "lets the process have three open files")
class NoFiles(Attack):
    def harm(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


@attack(KIND, "opens files until there are no more descriptors")
class AllFiles(Attack):
    kept: ClassVar[list[int]] = []

    def harm(self) -> None:
        try:
            while True:
                self.kept.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            pass


@attack(KIND, "replaces `len`, `isinstance` and `str`")
class OtherBuiltins(Attack):
    def harm(self) -> None:
        vars(builtins).update(len=lambda _: 0, isinstance=lambda *_: False, str=lambda *_: "")


@attack(KIND, "deletes half of the builtins")
class HalfOfBuiltins(Attack):
    def harm(self) -> None:
        for name in sorted(vars(builtins))[::2]:
            if not name.startswith("_"):
                vars(builtins).pop(name)


@attack(KIND, "replaces `time.monotonic`, `time.time`, `time.perf_counter` and `time.sleep`")
class OtherClocks(Attack):
    def harm(self) -> None:
        vars(time).update(
            monotonic=lambda: 0.0, time=lambda: 0.0, perf_counter=lambda: -1e9, sleep=lambda _seconds: None
        )


@attack(KIND, "patches the clocks with `unittest.mock`, and never stops")
class MockedClocks(Attack):
    def harm(self) -> None:
        for name in ("time.monotonic", "time.perf_counter", "time.time"):
            mock.patch(name, return_value=1e12).start()


@attack(KIND, "sets `sys.stdout` and `sys.stderr` to None")
class NoStreams(Attack):
    def harm(self) -> None:
        sys.stdout = sys.stderr = None


@attack(KIND, "puts closed files in the place of the standard streams")
class ClosedStreams(Attack):
    def harm(self) -> None:
        sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
        sys.stdout.close()
        sys.stderr.close()


@attack(KIND, "sets a recursion limit of 60")
class ShallowStack(Attack):
    def harm(self) -> None:
        sys.setrecursionlimit(60)


@attack(KIND, "sets a trace function and a profile function that raise")
class RaisingTrace(Attack):
    def harm(self) -> None:
        def trace(*_: Any) -> Any:
            raise LookupError("traced")

        threading.settrace(trace)
        sys.setprofile(trace)
        sys.settrace(trace)


@attack(KIND, "sets an `excepthook` and an `unraisablehook` that exit")
class ExitingHooks(Attack):
    def harm(self) -> None:
        def leave(*_: Any) -> None:
            os._exit(7)

        sys.excepthook = sys.unraisablehook = leave


@attack(KIND, "has the garbage collector call what raises")
class RaisingCollector(Attack):
    def harm(self) -> None:
        def called(*_: Any) -> None:
            raise LookupError("collected")

        gc.callbacks.append(called)
        gc.collect()


@attack(KIND, "sets all handlers of signals to what raises, and sends itself some")
class RaisingSignals(Attack):
    def harm(self) -> None:
        def ring(*_: object) -> None:
            raise LookupError("signalled")

        for number in (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        time.sleep(0.05)


@attack(KIND, "breaks the random numbers and the strategies of Hypothesis")
class OtherStrategies(Attack):
    def harm(self) -> None:
        st.integers = st.booleans = None  # type: ignore[assignment]
        import random  # noqa: PLC0415

        random.random = random.getrandbits = lambda *_: 0  # type: ignore[assignment]


@attack(KIND, "lowers its limit of CPU time to a second")
class LittleTime(Attack):
    def harm(self) -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (1, resource.getrlimit(resource.RLIMIT_CPU)[1]))


@attack(KIND, "lets no file have more than a byte")
class SmallFiles(Attack):
    def harm(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
