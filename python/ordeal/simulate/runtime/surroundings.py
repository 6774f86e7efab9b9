"""What a simulated program sees around it: the time of its loop, seeded chance, and fences to the world outside."""

from __future__ import annotations

import asyncio
import functools
import gc
import importlib
import os
import random
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import copy_context
from typing import Any

import ordeal._native as _native
from ordeal._base.interrupts import Alarm
from ordeal.simulate.clock import CLOCK_PLACES, clocks
from ordeal.simulate.errors import SimulationError, StalledStep
from ordeal.simulate.file_functions import FILE_PLACES, mounts
from ordeal.simulate.nodes.life import LIFE
from ordeal.simulate.nodes.node import NodeDisks, is_real
from ordeal.simulate.outside.declared import event_hint
from ordeal.simulate.replacement import BoundPlaces, loaded_module, namespace_of
from ordeal.simulate.runtime.loop import SimulationLoop
from ordeal.simulate.runtime.sites import callers, calling_site
from ordeal.simulate.runtime.system_functions import SYSTEM_PLACES, epoch_s, running_loop, running_loops
from ordeal.simulate.runtime.tasks import SimulationTask

_METHOD = "run_sync_in_worker_thread"


def _worker_threads() -> BoundPlaces | None:
    """Return what lets anyio run functions on the loop of the run; None if anyio is not imported."""
    anyio = loaded_module("anyio")
    if anyio is None or "__path__" not in namespace_of(anyio):
        return None
    # anyio imports its backend when a coroutine first asks for it, which may be inside of the run.
    backend: Any = importlib.import_module("anyio._backends._asyncio").AsyncIOBackend
    original = vars(backend).get(_METHOD)
    if original is None:
        return None
    return BoundPlaces({(backend, _METHOD): classmethod(functools.partial(_run_sync, original.__func__))})


async def _run_sync(
    original: Callable[..., Any],
    backend: Any,
    func: Callable[..., Any],
    args: tuple[Any, ...],
    abandon_on_cancel: bool = False,
    limiter: Any = None,
) -> Any:
    loop: Any = running_loop()
    runs_here = loop is not None and bool(loop is asyncio.get_running_loop())
    if not runs_here or loop.allows("_thread"):
        return await original(backend, func, args, abandon_on_cancel, limiter)
    await backend.checkpoint()
    async with limiter or backend.current_default_thread_limiter():
        with backend.create_cancel_scope(shield=not abandon_on_cancel):
            context = copy_context()

            @functools.wraps(func, updated=())
            def job() -> Any:
                return context.run(func, *args)

            return await loop.run_in_executor(None, job)


#: How long a step may take, in real seconds; it is ended at twice that time at most.
STEP_S_MAX = 10.0
#: Modules of debuggers, and the one that looks for the referrers of each object.
_EXCUSED = ("bdb", "pdb", "pydevd", "debugpy", "ordeal.simulate.runtime.waits")


@contextmanager
def steps_watched(running: Callable[[], SimulationLoop | None]) -> Iterator[None]:
    """Raise StalledStep in a step that takes too long, during the block. ``running()`` returns the loop that runs now.

    Needs the main thread; otherwise nothing is watched.
    """
    if _native.rings_in() != (0.0, 0.0):
        yield  # a rule has a limit of its own
        return
    seen: tuple[SimulationLoop | None, int] = None, -1

    def due() -> Callable[[], BaseException] | None:
        nonlocal seen
        loop = running()
        before, seen = seen, (loop, -1 if loop is None else loop.steps)
        if loop is None or before != seen:
            return None
        if any(frame.f_globals.get("__name__") in _EXCUSED for frame in callers()):
            return None  # the step is not slow itself: a debugger holds it, or ordeal walks all objects
        site = calling_site()
        error = StalledStep(
            f"a step does not end: after {STEP_S_MAX:g} s it is at {site.where}: {site.name}\n"
            "it may loop for ever, or wait for a lock of the threading module, which no other thread releases",
            site=site.name,
        )
        loop.stalled = error
        return lambda: error

    with Alarm(due).every(STEP_S_MAX):
        yield


_FENCES = {
    "socket": (
        "uses a socket of the system",
        "use asyncio.start_server and asyncio.open_connection, or give the program a stand-in in the test",
    ),
    **dict.fromkeys(
        ("subprocess", "os", "pty"),
        ("starts a process", "give the program a function that answers as the process would"),
    ),
    "_thread": (
        "starts a thread",
        "use asyncio.to_thread or loop.run_in_executor, which run in this thread at a time that is drawn",
    ),
}
_FILE_HINT = "use open or pathlib, which are on the disk of the node, or let the test itself do it"
#: The same for what only nodes may not do: the files of the test itself are the real ones.
_FENCES_OF_NODES = {
    "open": ("writes to a real file", _FILE_HINT),
    "sqlite3": (
        "opens a database outside the simulated disk",
        f'use ":memory:"; SQLite opens files in C. {_FILE_HINT}',
    ),
}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Events of the system's sockets that stay inside of the process.
_HARMLESS = frozenset({"socket.gethostname"})


class RunClock:
    """The clock of the program: the time of the loop that runs now."""

    packages = frozenset({"asyncio"})

    def __init__(self) -> None:
        self.loop: SimulationLoop | None = None

    @property
    def epoch(self) -> float:
        """What the date is when ``time`` says 0: in a node, its clock may be set wrong."""
        return epoch_s()

    def time(self) -> float:
        """Return the simulated time in seconds."""
        return 0.0 if self.loop is None else self.loop.time()

    def sleep(self, seconds: float) -> None:
        """Let time pass for all: a task that sleeps blocks the loop."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        if self.loop is not None:
            self.loop.sleep_through(seconds)


class Surroundings:
    """The surroundings of the runs of one search: entered once, and set for each run. Only one at a time."""

    def __init__(self) -> None:
        self._clock = RunClock()
        self._thread = threading.get_ident()
        self._running = self._thread, self.running
        self._random: random.Random | None = None
        self._chance = 0
        self._runs = 0
        self._was_collected = False

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Replace time and chance, and put up the fences, for the block.

        Raises:
            SimulationError: a simulation runs already.
        """
        _demand_no_other()
        state, collects = random.getstate(), gc.isenabled()
        with ExitStack() as stack:
            stack.callback(random.setstate, state)
            stack.callback(gc.enable if collects else gc.disable)
            gc.disable()
            stack.callback(gc.callbacks.remove, self._note_collection)
            gc.callbacks.append(self._note_collection)
            stack.enter_context(self.installed())
            stack.enter_context(self)
            stack.callback(_entered.clear)
            _entered.append(self)
            yield

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Put the functions in place by which a program meets a run, for the block. Outside of a run they are real."""
        with ExitStack() as stack:
            workers = _worker_threads()
            for places in (
                CLOCK_PLACES,
                SYSTEM_PLACES,
                FILE_PLACES,
                _CHANCE_PLACES,
                *([] if workers is None else [workers]),
            ):
                places.enter()
                stack.callback(places.leave)
            yield

    def act_for(self, loop: SimulationLoop) -> Surroundings:
        """Return a block in which these are the surroundings of ``loop``, as for one rule of a machine."""
        _demand_no_other()
        self._clock.loop = loop
        return self

    def __enter__(self) -> None:
        clocks.append(self._clock)
        running_loops.append(self._running)
        mounts.append(_NODE_DISKS)
        _native.ask_about_audit_events(self._audit)

    def __exit__(self, *_: object) -> None:
        _native.ask_about_audit_events(None)
        mounts.pop()
        running_loops.pop()
        clocks.pop()

    @contextmanager
    def around(self, loop: SimulationLoop) -> Iterator[None]:
        """Put the functions in place and act for ``loop``, for the block."""
        with self.installed(), self.act_for(loop):
            yield

    def begin(self, loop: SimulationLoop, chance: int) -> None:
        """Prepare for a run on ``loop``; ``chance`` seeds the generators of the program."""
        self._clock.loop = loop
        self._chance = chance
        self._random = None
        self._was_collected = False
        random.seed(chance)
        numpy = loaded_module("numpy.random")
        seed = None if numpy is None else namespace_of(numpy).get("seed")
        if seed is not None:
            seed(chance % 2**32)

    def running(self) -> SimulationLoop | None:
        """Return the loop that runs now."""
        return self._clock.loop

    def end(self) -> list[asyncio.Future[Any]]:
        """End a run: objects that it left are freed here, and not at some time in the next.

        Returns the futures of the run that are left, with an error that nothing has asked for.
        """
        self._clock.loop = None
        self._runs += 1
        # A collection by the program makes what is left old.
        is_young = not self._was_collected
        made = gc.get_objects(generation=0) if is_young else gc.get_objects()
        kinds = {each for each in set(map(type, made)) if issubclass(each, asyncio.Future)} - _TASKS
        futures = [weakref.ref(each) for each in made if type(each) in kinds and each._log_traceback] if kinds else []
        del made
        # Garbage that survived the collection after its own run is collected every 64 runs.
        gc.collect(2 if not is_young else 1 if self._runs % 64 == 0 else 0)
        return [each for future in futures if (each := future()) is not None and each._log_traceback]

    def _note_collection(self, _phase: str, _info: dict[str, int]) -> None:
        self._was_collected = True

    def urandom(self, size: int, /) -> bytes:
        """Return bytes that follow from the seed of the run."""
        if self._random is None:
            self._random = random.Random(self._chance ^ 0x0DEA1)
        return self._random.randbytes(size)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        __tracebackhide__ = True
        loop = self._clock.loop
        kind = event.partition(".")[0]
        if loop is None or event in _HARMLESS or threading.get_ident() != self._thread or loop.allows(kind):
            return
        if kind in _FENCES_OF_NODES:
            if LIFE.get() is None:
                return
            place = arguments[0] if arguments else ""
            if event != "open":
                stays = place == ":memory:"
            else:
                writes = isinstance(place, str) and bool(arguments[-1] & _WRITING)
                stays = not writes or is_real(os.path.abspath(place))  # noqa: PTH100
            if stays:
                return
            what, hint = _FENCES_OF_NODES[kind]
        else:
            what, hint = _FENCES[kind]
        hint = event_hint(event, arguments, has_world=loop.world is not None) or hint
        loop.escape(f"the program {what} ({event})", hint)


#: Their errors are found by what the loop knows of tasks.
_TASKS = {asyncio.Task, SimulationTask}


#: The surroundings that are entered now: one, or none.
_entered: list[Surroundings] = []


_NODE_DISKS = NodeDisks()
_REAL_URANDOM = os.urandom


def _urandom(size: int, /) -> bytes:
    return _entered[0].urandom(size) if _entered else _REAL_URANDOM(size)


_CHANCE_PLACES = BoundPlaces({(os, "urandom"): _urandom, (random, "_urandom"): _urandom})


def _demand_no_other() -> None:
    if _entered:
        raise SimulationError(
            "a simulation runs already", hint="call the coroutine function itself: it is inside of a simulation"
        )
