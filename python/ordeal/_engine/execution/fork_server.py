"""Keeps the live state of a run in a forked process, of which each run that starts there gets a fork of its own.

A process that holds a state waits. To start a run it forks once more, and that process executes the run, while all that
is decided about it is decided here: it asks for each step and for each choice, and tells what it saw. So a run from a
held state is on the tape and in the coverage map as any other is, and its process can be thrown away.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from ordeal import _native
from ordeal._engine.execution.bucket import Bucketer, traceback_text
from ordeal._engine.execution.driver import Driver, Outcome, Status
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.telling import error_message, type_name
from ordeal._hypothesis import GlobalRandoms, RunContext

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

# What messages begin with.
_RUN, _REPLY, _ERROR = "run", "reply", "error"
_NEXT, _REJECT, _ASK, _TELL, _STEP, _DONE = "next", "reject", "ask", "tell", "step", "done"
_ENDED, _GONE = "ended", "gone"

#: What a process may ask of the source of choices, and what it only tells it.
_TOLD = frozenset({"begin_argument", "misalign", "note_integer", "note_text", "put", "set_producer"})
_ASKED = frozenset(name for name in dir(_native.ChoiceSource) if not name.startswith("_")) - _TOLD
_RAISED_BY_DRAWS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (OverflowError, TypeError, ValueError, RuntimeError)
}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a process saw since it told last.

    ``hits`` is for the coverage map, ``ticks`` counts the events of the monitor, ``properties`` is a snapshot of a
    tracker, ``lines`` names the files of targets that ran, with the lines that are new to the process. ``sizes`` are
    those of the bundles; ``events`` and ``targets`` are what the run told Hypothesis, from its start.
    """

    hits: bytes
    ticks: int
    properties: dict[str, list[dict[str, Any]]]
    lines: list[tuple[str, list[int]]]
    sizes: dict[str, int]
    events: dict[str, str]
    targets: dict[str, float]


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run in a process of its own ended. Of its error, which stays there, the names are known.

    ``raised`` is said of a run that ended with what no run is to end with.
    """

    outcome: Outcome
    raised: bool
    bucket: str
    error_type: str
    error_text: str
    traceback: str


class Listener(Protocol):
    """What is told of a run in another process."""

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        """The step ``code`` and the invariants after it have run."""

    def done_seen(self, seen: Seen) -> None:
        """The run has ended well, teardown included."""

    def end_seen(self, seen: Seen) -> None:
        """The run has ended; what is left to tell of it."""


@dataclass(frozen=True, slots=True)
class RunEnvironment:
    """What a run needs beside its machine, and what watches it."""

    driver: Driver
    randoms: GlobalRandoms
    bucketer: Bucketer
    coverage: _native.CoverageMap
    monitor: _native.Monitor | None
    watch: PropertyWatch


class ForkServer:
    """A process that holds the state of a machine. Owned by the thread that made it, which must close it."""

    def __init__(self, process: int, channel: Channel) -> None:
        self._process = process
        self._channel = channel

    def run(self, session: _native.Session, listener: Listener) -> Ending | int:
        """Have a fork of the process run what ``session``, whose run has begun there, says.

        Returns:
            How the run ended, or the exit code of its process where that ended in the middle of it: that of a signal is
            negative.

        Raises:
            ChannelError: the process that holds the state is gone.
        """
        self._channel.send(_RUN)
        ending: Ending | None = None
        while True:
            kind, *values = self._channel.receive()
            if kind == _ENDED:
                ending, seen = _ending_of(values)
                listener.end_seen(seen)
            elif kind == _GONE:
                (code,) = _typed(values, int)
                return ending if ending is not None else code
            elif kind == _STEP:
                step, state_hash, *rest = _typed(values, int, int, *_SEEN)
                listener.step_seen(step, state_hash, _seen_of(rest))
            elif kind == _DONE:
                listener.done_seen(_seen_of(_typed(values, *_SEEN)))
            else:
                self._answer(session, kind, values)

    def _answer(self, session: _native.Session, kind: Value, values: list[Value]) -> None:
        if kind == _NEXT:
            self._channel.send(_REPLY, session.next())
        elif kind == _REJECT:
            session.reject()
        elif kind in (_ASK, _TELL) and values and values[0] in (_ASKED if kind == _ASK else _TOLD):
            name, *arguments = values
            try:
                drawn: Value = getattr(session.source, str(name))(*arguments)
            except tuple(_RAISED_BY_DRAWS.values()) as error:
                if kind == _TELL:
                    raise ChannelError(f"{name!r} was told {arguments}: {error}") from error
                self._channel.send(_ERROR, type(error).__name__, str(error))
                return
            if kind == _ASK:
                self._channel.send(_REPLY, drawn)
        else:
            raise ChannelError(f"{kind!r} begins no message of a run")

    def close(self) -> None:
        """End the process, and with it a run that goes on in a fork of it."""
        self._channel.close()
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        with suppress(ChildProcessError):
            # The program under test may have waited for it, as for all of its own.
            os.waitpid(self._process, 0)

    def leave(self) -> None:
        """Give up the connection, in a fork that has nothing to do with the process."""
        self._channel.close()


def running_threads() -> int:
    """How many threads this process has, those that Python knows nothing of as well."""
    return max(threading.active_count(), len(list(Path("/proc/self/task").iterdir())))


def refusal() -> str:
    """Why no state can be held now; empty when one can."""
    if not sys.platform.startswith("linux"):
        return "processes are forked on Linux only"
    threads = running_threads()
    if threads > 1:
        return f"{threads - 1} other thread{'s' if threads > 2 else ''} would not live on in a fork"
    return ""


def hold(run: RunContext, environment: RunEnvironment, others: Iterable[ForkServer]) -> ForkServer:
    """Hold the state of ``run`` as it is now, between two steps; ``others`` are held already.

    Raises:
        OSError: the system has no room for another process.
    """
    randoms = environment.randoms.changed()
    here, there = Channel.pair()
    _flush()
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        try:
            here.close()
            for other in others:
                other.leave()
            # What is decided about its runs, the other process writes down.
            environment.driver.journal = None
            if _native.die_with(parent):
                _wait_for_runs(there, run, randoms, environment)
        finally:
            os._exit(1)
    there.close()
    return ForkServer(process, here)


# ---------------------------------------------------------------------------------------------------------------------
# In the other processes


def _wait_for_runs(
    channel: Channel, run: RunContext, randoms: list[tuple[Any, Any]], environment: RunEnvironment
) -> NoReturn:
    """Fork for each run that is asked for. Ends with the process that asks."""
    # Ctrl-C reaches all processes of a terminal; the one that asks decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    holder = os.getpid()
    while True:
        try:
            message = channel.receive()
        except ChannelError:
            os._exit(0)
        if message != [_RUN]:
            continue  # an answer that a run did not wait for any more
        process = os.fork()
        if process == 0:
            try:
                if _native.die_with(holder):
                    # Python starts its own generator anew in a fork.
                    environment.randoms.reseed()
                    for generator, state in randoms:
                        generator.setstate(state)
                    _Branch(channel, run, environment).execute()
            finally:
                _flush()
                os._exit(0)
        _, status = os.waitpid(process, 0)
        try:
            channel.send(_GONE, os.waitstatus_to_exitcode(status), alone=True)
        except ChannelError:
            os._exit(0)


class _Branch:
    """One run, in a process of its own: the learner of its driver."""

    learns_each_step = True

    def __init__(self, channel: Channel, held: RunContext, environment: RunEnvironment) -> None:
        self._channel = channel
        self._held = held
        self._environment = environment
        self._lines: dict[str, list[int]] = {}
        self._ticks = 0
        self._run = held
        self._sizes: dict[str, int] = {}
        self.nearer: dict[str, None] = {}  # what is, the process that asks finds out

    def execute(self) -> None:
        """Run as is said, and tell of it."""
        self._watch_from_here()
        script = _AskedScript(self._channel)
        raised = False
        try:
            # The state is where it has always been, and a run that ends here ends for good.
            outcome = self._environment.driver.execute(script, restore=self._adopt, learner=self)
        except BaseException as error:  # noqa: BLE001 - what it is, the process that asks finds out by a replay
            outcome, raised = Outcome(Status.FAILED, 0, error), True
        self._tell(_ENDED, *_values_of_ending(outcome, raised, self._environment.bucketer), *self._seen(last=True))

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """Tell of a step that ended well."""
        self._run = run
        self._tell(_STEP, code, state_hash, *self._seen(last=False))

    def run_done(self, run: RunContext) -> None:
        """Tell that the run has ended well."""
        self._run = run
        self._tell(_DONE, *self._seen(last=False))

    def news(self, run: RunContext) -> None:
        """What is news, the process that asks finds out."""

    def _adopt(self, run: RunContext) -> RuleBasedStateMachine:
        run.length = self._held.length
        run.share(dict(self._held.shared))
        machine: RuleBasedStateMachine = self._held.machine
        return machine

    def _watch_from_here(self) -> None:
        environment = self._environment
        environment.driver.watchdog.restart()
        environment.coverage.begin_run()
        environment.watch.start_over()
        if environment.monitor is not None:
            # Where the other process only looks whether code runs, it takes from the hits that it did.
            environment.monitor.set_level("counts")
            environment.monitor.set_paused(False)
            environment.monitor.take_files()
            self._lines = environment.monitor.lines()
            self._ticks = environment.monitor.events

    def _seen(self, *, last: bool) -> tuple[Value, ...]:
        environment, run = self._environment, self._run
        properties = environment.watch.take_snapshot()
        lines: list[tuple[str, list[int]]] = []
        ticks = 0
        monitor = environment.monitor
        if monitor is not None:
            paths = monitor.files()
            now = monitor.lines() if last else {}
            new = {path: sorted(set(ran).difference(self._lines.get(path, ()))) for path, ran in now.items()}
            touched = {paths[number] for number in monitor.take_files()}
            lines = [(path, new.get(path, [])) for path in paths if path in touched or new.get(path)]
            ticks, self._ticks = monitor.events - self._ticks, monitor.events
        if run.machine is not None:  # else the run is over, and nothing has changed since its last step
            self._sizes = {name: len(references) for name, references in run.machine.bundles.items()}
        events = {label: payload if isinstance(payload, str) else "" for label, payload in run.events.items()}
        return (
            environment.coverage.take_hits(),
            ticks,
            json.dumps([properties, lines, self._sizes, events, dict(run.targets)]),
        )

    def _tell(self, *values: Value) -> None:
        try:
            self._channel.send(*values)
        except ChannelError:
            os._exit(0)


class _AskedScript:
    """The script of a session in another process."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self.source: Any = _AskedSource(channel)

    def next(self) -> int:
        """The next step."""
        return int(_ask(self._channel, _NEXT))  # type: ignore[arg-type]

    def reject(self) -> None:
        """The rule given last cannot run now."""
        _send(self._channel, _REJECT)


class _AskedSource:
    """The source of choices of a session in another process. Where a run starts from a held state it is always live."""

    live = True
    misaligned = 0
    producer = -1

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name not in _ASKED | _TOLD:
            raise AttributeError(name)
        channel = self._channel
        if name in _TOLD:

            def tell(*arguments: Value) -> None:
                _send(channel, _TELL, name, *arguments)

            self.__dict__[name] = tell
            return tell

        def ask(*arguments: Value) -> Value:
            return _ask(channel, _ASK, name, *arguments)

        self.__dict__[name] = ask
        return ask


def _ask(channel: Channel, *question: Value) -> Value:
    _send(channel, *question)
    try:
        kind, *values = channel.receive()
    except ChannelError:
        os._exit(0)
    if kind == _ERROR:
        raise _RAISED_BY_DRAWS[str(values[0])](values[1])
    return values[0]


def _send(channel: Channel, *values: Value) -> None:
    try:
        channel.send(*values)
    except ChannelError:
        # Nobody is left to run for, and the code under test must not catch that.
        os._exit(0)


def _flush() -> None:
    """Write out what would else be written twice, or never."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()


# ---------------------------------------------------------------------------------------------------------------------
# Messages

_SEEN = (bytes, int, str)
_ENDING = (str, int, str, bool, str, str, str, str)


def _values_of_ending(outcome: Outcome, raised: bool, bucketer: Bucketer) -> tuple[Value, ...]:
    error = outcome.error
    if error is None:
        return outcome.status.value, outcome.steps, outcome.stuck, raised, "", "", "", ""
    return (
        outcome.status.value,
        outcome.steps,
        outcome.stuck,
        raised,
        bucketer.bucket(error),
        type_name(type(error)),
        error_message(error),
        traceback_text(error),
    )


def _ending_of(values: list[Value]) -> tuple[Ending, Seen]:
    status, steps, stuck, raised, bucket, error_type, text, traceback, *rest = _typed(values, *_ENDING, *_SEEN)
    try:
        outcome = Outcome(Status(status), steps, None, stuck)
    except ValueError as error:
        raise ChannelError(str(error)) from error
    return Ending(outcome, raised, bucket, error_type, text, traceback), _seen_of(rest)


def _seen_of(values: list[Any]) -> Seen:
    hits, ticks, text = values
    try:
        properties, lines, sizes, events, targets = json.loads(text)
        return Seen(
            hits=hits,
            ticks=ticks,
            properties=dict(properties),
            lines=[(str(path), [int(line) for line in ran]) for path, ran in lines],
            sizes={name: int(size) for name, size in sizes.items()},
            events={label: str(payload) for label, payload in events.items()},
            targets={label: float(value) for label, value in targets.items()},
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise ChannelError(f"what a run has seen is damaged: {error}") from error


def _typed(values: list[Value], *kinds: type) -> list[Any]:
    """The values, which must be of these kinds."""
    found = tuple(type(value) for value in values)
    if found != kinds:
        raise ChannelError(f"a message holds {found}, not {kinds}")
    return values
