"""One simulated run of a coroutine function: what it did, how it ended, and in which bucket a failure falls."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import ordeal._native as _native
from ordeal._base import untrusted
from ordeal._base.formatting import describe_error
from ordeal.simulate.errors import (
    EscapedSimulation,
    SimulationError,
    SimulationFailure,
    StalledStep,
    UnhandledTaskError,
    checked_seconds,
)
from ordeal.simulate.fresh_arguments import FreshMain
from ordeal.simulate.nodes.world import World
from ordeal.simulate.runtime.decisions import Decided, decided
from ordeal.simulate.runtime.examination import Examination, Examined, who_failed
from ordeal.simulate.runtime.faults import NodeFault, SimulatedFault, checked_faults
from ordeal.simulate.runtime.loop import TIME_LIMIT_S, SimulationLoop
from ordeal.simulate.runtime.sites import innermost_site, raised_at
from ordeal.simulate.runtime.strays import failure_of_main, stray_cancellation
from ordeal.simulate.runtime.surroundings import Surroundings
from ordeal.simulate.runtime.waits import watched_locks

#: Without arguments, or with one, `world`.
type Main = Callable[..., Coroutine[Any, Any, Any]]
type Log = Callable[[float, str, str], object]

#: Fences that a test may open.
ALLOWED = ("socket", "subprocess", "os", "pty", "_thread", "time.sleep", "open", "sqlite3", "signal")
#: What ends a test without being a failure of the program; by name, as pytest may not be there.
_NOT_FAILURES = ("Skipped", "Exit", "XFailed", "UnsatisfiedAssumption", "StopTest")
#: What ends the search as well. A stalled step is a failure, but to repeat and to shrink it would take minutes.
_RAISED = (KeyboardInterrupt, SystemExit, GeneratorExit, SimulationError, EscapedSimulation, StalledStep)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What all runs of one search have in common."""

    faults: tuple[SimulatedFault, ...] = ()
    allowed: tuple[str, ...] = ()
    time_limit: float = TIME_LIMIT_S


@dataclass(slots=True, kw_only=True)
class SimulatedRun:
    """How a run ended, and what it did."""

    value: Any = None
    error: BaseException | None = None
    bucket: str = ""
    is_cut_short: bool = False
    """Whether a cancellation that a fault made ended the test itself."""
    schedule: _native.Schedule
    made: int = 0
    event_hash: int = 0
    steps: int = 0
    simulated_s: float = 0.0
    waited: dict[str, int] = field(default_factory=dict)
    struck: dict[str, int] = field(default_factory=dict)
    strikes: dict[tuple[str, str], int] = field(default_factory=dict)
    examined: Examined | None = None
    """What else its report says, where it was examined."""
    nodes: tuple[str, ...] = ()

    @property
    def decisions(self) -> list[Decided]:
        """Those whose value was not 0."""
        return decided(self.schedule)


def run_settings(faults: Any, allow: Any, time_limit: Any) -> RunSettings:
    """Check what a caller wrote.

    Raises:
        SimulationError: one of the values cannot be used.
    """
    if isinstance(allow, str) or not isinstance(allow, Iterable):
        raise SimulationError(f"allow is {allow!r:.100}", hint='write a list such as `allow=["time.sleep"]`')
    allowed = tuple(allow)
    for name in allowed:
        if name not in ALLOWED:
            raise SimulationError(f"{name!r:.100} cannot be allowed", hint=f"choose from {', '.join(ALLOWED)}")
    limit = checked_seconds("time_limit", time_limit)
    return RunSettings(faults=checked_faults(faults), allowed=allowed, time_limit=limit)


def checked_main(main: Any) -> Main:
    """Return the coroutine function that is to be run.

    Raises:
        SimulationError: it is a coroutine already, or cannot be called.
    """
    if asyncio.iscoroutine(main):
        main.close()
        name = getattr(main, "__qualname__", "main").rpartition(".")[2]
        raise SimulationError(
            f"{name}() is a coroutine, which runs only once", hint=f"pass the function itself: write `{name}`"
        )
    if not callable(main):
        raise SimulationError(
            f"{main!r:.100} is not a coroutine function", hint="pass an `async def` function without arguments"
        )
    return in_world(main)


@dataclass(frozen=True, slots=True)
class WorldMain:
    """A coroutine function with a parameter ``world``: each run passes a new one."""

    function: Callable[..., Coroutine[Any, Any, Any]]

    def __call__(self, world: World) -> Coroutine[Any, Any, Any]:
        """Begin a run in a world."""
        return self.function(world=world)


def in_world(main: Any) -> Main:
    """Return a coroutine function, so that each run gives it a world if it has a parameter of that name."""
    try:
        wants_world = not isinstance(main, WorldMain) and "world" in inspect.signature(main).parameters
    except (TypeError, ValueError):
        wants_world = False
    return WorldMain(main) if wants_world else main


def run_once(
    main: Main | FreshMain,
    schedule: _native.Schedule,
    settings: RunSettings,
    surroundings: Surroundings,
    *,
    chance: int = 0,
    is_examined: bool = False,
    log: Log | None = None,
) -> SimulatedRun:
    """Run ``main()`` once, and return how it ended.

    ``chance`` seeds the generators of the program. ``is_examined`` notes who uses which lock, for the report of a
    failure.
    """
    with ExitStack() as stack:
        if isinstance(main, FreshMain):
            main = in_world(stack.enter_context(main.made()))
        examination = Examination() if is_examined else None
        loop = SimulationLoop(  # type: ignore[abstract]
            schedule,
            faults=settings.faults,
            allowed=settings.allowed,
            time_limit=settings.time_limit,
            log=log if examination is None else examination.log,
        )
        outcome = SimulatedRun(schedule=schedule)
        surroundings.begin(loop, chance)
        if examination is not None:
            stack.enter_context(watched_locks(loop.running_name))
            stack.enter_context(examination.watching())
        try:
            try:
                outcome.value = loop.run_until_complete(_started(main, loop, settings))
                failure = failure_of(loop)
                loop.shut_down()
                outcome.error = failure or failure_of(loop)
            except BaseException as error:
                outcome.error = error
                if isinstance(error, asyncio.CancelledError):
                    outcome.error = failure_of_main(error, loop.records, loop._main)
                    outcome.is_cut_short = outcome.error is None
                if examination is not None:
                    outcome.examined = examination.found(loop, outcome.decisions)
                loop.abandon()
                if isinstance(error, _RAISED) or type(error).__name__ in _NOT_FAILURES:
                    raise
            finally:
                if examination is not None and outcome.examined is None:
                    outcome.examined = examination.found(loop, outcome.decisions)
                loop.close()
        finally:
            forgotten = surroundings.end()
        has_nodes = loop.world is not None and bool(loop.world.nodes)  # they lose power at the end, and report nothing
        if outcome.error is None and not outcome.is_cut_short and not has_nodes:
            # Of a future that nothing asked for, where the run has freed it or still holds it.
            freed = [context["exception"] for context in loop.unhandled if context.get("exception") is not None]
            errors = freed or [future.exception() for future in forgotten]
            outcome.error = _unhandled(errors[0], "a future") if errors else None
    if outcome.error is not None:
        outcome.bucket = bucket_of(outcome.error)
    outcome.made, outcome.event_hash = schedule.made, schedule.event_hash
    outcome.steps, outcome.simulated_s = loop.steps, loop.time()
    outcome.strikes = loop.strikes
    if loop.world is not None:
        outcome.nodes = tuple(node.name for node in loop.world.nodes)
    outcome.waited, outcome.struck = loop.interruptions.waited, loop.interruptions.struck
    return outcome


def _started(main: Main, loop: SimulationLoop, settings: RunSettings) -> Coroutine[Any, Any, Any]:
    if isinstance(main, WorldMain):
        coroutine: Any = main(World(loop, [fault for fault in settings.faults if isinstance(fault, NodeFault)]))
        main = main.function
    else:
        coroutine = main()
    if not asyncio.iscoroutine(coroutine):
        name = getattr(main, "__qualname__", repr(main))
        raise SimulationError(
            f"{name} returned {type(coroutine).__name__}, not a coroutine", hint="write it as `async def`"
        )
    return coroutine


def failure_of(loop: SimulationLoop) -> BaseException | None:
    """Return what is wrong with a run whose test ended without an error."""
    if loop.blocked is not None:
        return loop.blocked
    if loop.get_exception_handler() is not None:  # the program's own, which decides what is a failure
        while (left := loop._unhandled_task()) is not None:
            message = "Task exception was never retrieved"
            loop.call_exception_handler({"message": message, "exception": left.exception(), "future": left})
    if loop.unhandled:
        context = loop.unhandled[0]
        task, error, message = (
            context.get("task") or context.get("future"),
            context.get("exception"),
            str(context.get("message", "")),
        )
        if error is None:
            return UnhandledTaskError(f"asyncio reports: {message}", site=message)
        who = f"the task {loop.record_of(task).name}" if isinstance(task, asyncio.Task) else who_failed(context)
        return _unhandled(error, who)
    ended: asyncio.Task[Any] | None = loop._unhandled_task()
    if ended is not None and (error := ended.exception()) is not None:
        return _unhandled(error, f"the task {loop.record_of(ended).name}")
    return stray_cancellation(loop.records, loop._main) if loop._has_cancelled else None


def _unhandled(error: BaseException, who: str) -> UnhandledTaskError:
    failure = UnhandledTaskError(
        f"{who} ended with {describe_error(error)}{raised_at(error)}\n"
        "nobody awaited it, so asyncio would only have logged it",
        site=bucket_of(error),
    )
    failure.__cause__ = error
    return failure


def bucket_of(error: BaseException) -> str:
    """Return a text that is equal for failures with one cause: the type, and the innermost place in the program."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    name = untrusted.full_name(type(error))
    if isinstance(error, SimulationFailure):
        return f"{name} in {error.site}" if error.site else name
    place = innermost_site(error.__traceback__)
    return name if place is None else f"{name} in {place.name}"
