"""Ends a step that does not end by itself: an endless loop, or a lock of threads that nobody will release."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from ordeal.simulate.errors import StalledStep
from ordeal.simulate.runtime.loop import SimulationLoop
from ordeal.simulate.runtime.sites import calling_site

#: How long a step may take, in real seconds; it is ended at twice that time at most.
STEP_S_MAX = 10.0
#: Modules of debuggers, and the one that asks for each object who refers to it.
_EXCUSED = ("bdb", "pdb", "pydevd", "debugpy", "ordeal.simulate.waits.orphans")


@contextmanager
def steps_watched(running: Callable[[], SimulationLoop | None]) -> Iterator[None]:
    """Raise StalledStep in a step that takes too long, during the block. ``running()`` returns the loop that runs now.

    Needs the main thread, SIGALRM, and that nothing else uses it; otherwise nothing is watched.
    """
    if not _can_watch():
        yield
        return
    seen: tuple[SimulationLoop | None, int] = None, -1

    def look(_number: int, frame: FrameType | None) -> None:
        nonlocal seen
        loop = running()
        before, seen = seen, (loop, -1 if loop is None else loop.steps)
        if loop is not None and before == seen and not _is_excused(frame):
            site = calling_site()
            error = StalledStep(
                f"a step does not end: after {STEP_S_MAX:g} s it is at {site.where}: {site.name}\n"
                "it may loop for ever, or wait for a lock of the threading module, which no other thread releases",
                site=site.name,
            )
            loop.stalled = error
            raise error

    handler = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, STEP_S_MAX, STEP_S_MAX)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, handler)


def _is_excused(frame: FrameType | None) -> bool:
    """Return whether it is no step that takes so long: somebody looks at it, or ordeal looks at all objects."""
    while frame is not None:
        if frame.f_globals.get("__name__") in _EXCUSED:
            return True
        frame = frame.f_back
    return False


def _can_watch() -> bool:
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGALRM) in (signal.SIG_DFL, signal.SIG_IGN)
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )
