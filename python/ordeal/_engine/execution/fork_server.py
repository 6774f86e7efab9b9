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
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from ordeal import _native
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import END, Driver, Outcome, Status
from ordeal._engine.execution.fork_messages import (
    ASK,
    ASKED,
    DONE,
    ENDED,
    ERROR,
    GONE,
    NEXT,
    REJECT,
    REPLY,
    RUN,
    SAID_MAX,
    SEEN_KINDS,
    STARTED,
    STEP,
    TELL,
    TOLD,
    ForkedRunResult,
    RefusedError,
    Seen,
    check_said,
    ending_of,
    seen_of,
    typed,
    values_of_ending,
)
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.telling import tell_journal
from ordeal._hypothesis import GlobalRandoms, RunContext, TapeProvider
from ordeal.errors import OrdealError

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

_RAISED_BY_DRAWS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (OverflowError, TypeError, ValueError, RuntimeError)
}

#: What it is refused with, here, by the core, and by who hears of what was seen.
_REFUSALS = (RefusedError, _native.CheckError, OrdealError, ValueError, TypeError, OverflowError, LookupError)


class ForkedRunListener(Protocol):
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
    monitor: _native.Monitor | None
    watch: PropertyWatch


class ForkServer:
    """A process that holds the state of a machine. Owned by the thread that made it, which must close it.

    ``arguments`` is how many names of arguments the machine has.
    """

    def __init__(self, process: int, channel: Channel, arguments: int = 2**32) -> None:
        self._process = process
        self._channel = channel
        self._arguments = arguments
        channel.tell_senders()

    def run(self, session: _native.Session, listener: ForkedRunListener) -> ForkedRunResult | int:
        """Have a fork of the process run what ``session``, whose run has begun there, says.

        Returns:
            How the run ended, or the exit code of its process where that ended in the middle of it: that of a signal is
            negative.

        Raises:
            ChannelError: the process that holds the state is gone, or somebody said what no run says.
        """
        self._channel.send(RUN)
        run = _Answering(self._channel, session, listener, self._arguments)
        early: list[list[Value]] = []  # what the run said before it was said which process it is
        branch, sender = 0, 0
        while True:
            message = self._channel.receive()
            if self._channel.sender == self._process:
                kind, *values = message or [None]
                (number,) = typed(values, int)
                if kind == GONE:
                    return run.ending if run.ending is not None else number
                if kind != STARTED or branch:
                    raise ChannelError(f"{str(kind)[:40]!r} is nothing that a process says which holds a state")
                branch = number
            elif branch in (0, self._channel.sender) and sender in (0, self._channel.sender):
                sender = self._channel.sender
                early.append(message)
            else:
                raise ChannelError(f"process {self._channel.sender}, which is not that of the run, spoke up")
            if branch and sender not in (0, branch):
                raise ChannelError(f"process {sender}, which is not that of the run, spoke up")
            while branch and early:
                run.hear(early.pop(0))

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


def start_fork_server(run: RunContext, environment: RunEnvironment, others: Iterable[ForkServer]) -> ForkServer:
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
            tell_journal(None)
            if _native.die_with(parent):
                _wait_for_runs(there, run, randoms, environment)
        finally:
            os._exit(1)
    there.close()
    return ForkServer(process, here, len(environment.driver.definition.argument_names))


class _Answering:
    """Answers what one run asks, and passes on what it tells, as long as that is what a run can say.

    Attributes:
        ending: how the run ended, once it has said so.
    """

    def __init__(self, channel: Channel, session: _native.Session, listener: ForkedRunListener, arguments: int) -> None:
        self._channel = channel
        self._session = session
        self._listener = listener
        self._arguments = arguments
        self._step: int | None = None  # what runs now
        self._said = 0
        self.ending: ForkedRunResult | None = None

    def hear(self, message: list[Value]) -> None:
        """Hear one message. Raises ChannelError for what no run says then: the core refuses that as well."""
        try:
            self._hear(message)
        except ChannelError:
            raise
        except _REFUSALS as error:
            raise ChannelError(f"a run said what no run says: {error}") from error

    def _hear(self, message: list[Value]) -> None:
        kind, *values = message or [None]
        self._said += 1
        if self.ending is not None:
            raise RefusedError(f"{str(kind)[:40]!r} after its end")
        if self._said > SAID_MAX:
            raise RefusedError(f"more than {SAID_MAX} messages")
        if kind == ASK:
            self._answer(*check_said(ASKED, values))
        elif kind == TELL:
            name, arguments = check_said(TOLD, values)
            if self._step is None or (name == "begin_argument" and arguments[0] >= self._arguments):  # type: ignore[operator]
                raise RefusedError(f"{name!r} outside of a step, or of an argument that there is not")
            getattr(self._session.source, name)(*arguments)
        elif kind == NEXT and not values:
            self._next()
        elif kind == REJECT and not values:
            self._end_step(self._step)
            self._session.reject()
        elif kind == STEP:
            step, state_hash, *rest = typed(values, int, int, *SEEN_KINDS)
            self._end_step(step)
            self._listener.step_seen(step, state_hash, seen_of(rest))
        elif kind == DONE:
            self._listener.done_seen(seen_of(typed(values, *SEEN_KINDS)))
        elif kind == ENDED:
            self.ending, seen = ending_of(values)
            self._listener.end_seen(seen)
        else:
            raise RefusedError(f"{str(kind)[:40]!r} begins no message of a run")

    def _next(self) -> None:
        if self._step is not None:
            raise RefusedError("a step was asked for in the middle of one")
        step = self._session.next()
        self._step = step if step & 7 < END else None
        self._channel.send(REPLY, step)

    def _end_step(self, step: int | None) -> None:
        if self._step is None or step != self._step:
            raise RefusedError(f"step {step} ended, and {self._step} was to run")
        self._step = None

    def _answer(self, name: str, arguments: list[Value]) -> None:
        if self._step is None:
            raise RefusedError(f"{name!r} outside of a step")
        try:
            drawn: Value = getattr(self._session.source, name)(*arguments)
        except tuple(_RAISED_BY_DRAWS.values()) as error:
            self._channel.send(ERROR, type(error).__name__, str(error))
            return
        self._channel.send(REPLY, drawn)


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
        if message != [RUN]:
            continue  # an answer that a run did not wait for any more
        process = os.fork()
        if process == 0:
            try:
                if _native.die_with(holder):
                    # Python starts its own generator anew in a fork.
                    environment.randoms.reseed()
                    for generator, state in randoms:
                        generator.setstate(state)
                    _ForkedRun(_Line(channel), run, environment).execute()
            finally:
                _flush()
                os._exit(0)
        try:
            channel.send(STARTED, process, alone=True)
            _, status = os.waitpid(process, 0)
            channel.send(GONE, os.waitstatus_to_exitcode(status), alone=True)
        except ChannelError:
            os._exit(0)


class _Line:
    """What a run says to the process that decides, and hears of it. A fork of the run has no say: it ends here."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._process = os.getpid()

    def send(self, *values: Value) -> None:
        """Say something."""
        try:
            if os.getpid() != self._process:
                raise ChannelError("code of the user's has forked, and the fork came back")
            self._channel.send(*values)
        except ChannelError:
            # Nobody is left to run for, and the code under test must not catch that.
            os._exit(0)

    def ask(self, *question: Value) -> Value:
        """The answer."""
        self.send(*question)
        try:
            kind, *values = self._channel.receive()
        except ChannelError:
            os._exit(0)
        if kind == ERROR:
            raise _RAISED_BY_DRAWS[str(values[0])](values[1])
        return values[0]


class _ForkedRun:
    """One run, in a process of its own: the listener of its driver."""

    learns_each_step = True

    def __init__(self, line: _Line, held_run: RunContext, environment: RunEnvironment) -> None:
        self._line = line
        self._held_run = held_run
        self._environment = environment
        self._run = held_run
        self._sizes: dict[str, int] = {}
        self.nearer: dict[str, None] = {}  # what is, the process that asks finds out

    def execute(self) -> None:
        """Run as is said, and tell of it."""
        self._watch_from_here()
        step_source = _RemoteStepSource(self._line)
        raised = False
        try:
            # The state is where it has always been, and a run that ends here ends for good.
            outcome = self._environment.driver.execute(step_source, restore=self._take_over, listener=self)
        except BaseException as error:  # noqa: BLE001 - what it is, the process that asks finds out by a replay
            outcome, raised = Outcome(Status.FAILED, 0, error), True
        self._line.send(ENDED, *values_of_ending(outcome, raised, self._environment.bucketer), *self._seen())

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """Tell of a step that ended well."""
        self._run = run
        self._line.send(STEP, code, state_hash, *self._seen())

    def run_done(self, run: RunContext) -> None:
        """Tell that the run has ended well."""
        self._run = run
        self._line.send(DONE, *self._seen())

    def new_features(self, run: RunContext) -> None:
        """Do nothing: the process that asks finds out."""

    def _take_over(self, run: RunContext) -> RuleBasedStateMachine:
        run.length = self._held_run.length
        run.share(dict(self._held_run.shared))
        machine: RuleBasedStateMachine = self._held_run.machine
        return machine

    def _watch_from_here(self) -> None:
        environment = self._environment
        environment.driver.watchdog.restart()
        environment.watch.start_over()
        if environment.monitor is not None:
            # What is new, and what would be silent, the other process finds out.
            environment.monitor.set_paused(False)
            environment.monitor.record()

    def _seen(self) -> tuple[Value, ...]:
        environment, run = self._environment, self._run
        properties = environment.watch.take_snapshot()
        record = environment.monitor.take_record() if environment.monitor is not None else b""
        if run.machine is not None:  # else the run is over, and nothing has changed since its last step
            self._sizes = {name: len(references) for name, references in run.machine.bundles.items()}
        events = {label: payload if isinstance(payload, str) else "" for label, payload in run.events.items()}
        return record, json.dumps([properties, self._sizes, events, dict(run.targets)])


class _RemoteStepSource:
    """The steps of a session in another process."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        self.source: Any = _RemoteChoiceSource(line)

    def next(self) -> int:
        """The next step."""
        return int(self._line.ask(NEXT))  # type: ignore[arg-type]

    def reject(self) -> None:
        """The rule given last cannot run now."""
        self._line.send(REJECT)


class _RemoteChoiceSource:
    """The choices of a session in another process. Where a run starts from a held state, they are always live."""

    live = True
    misaligned = 0
    producer = -1

    def __init__(self, line: _Line) -> None:
        self._line = line

    def provider(self) -> TapeProvider:
        """Make what Hypothesis' strategies draw from in a run of this source."""
        return TapeProvider(cast("_native.ChoiceSource", self))

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name not in ASKED and name not in TOLD:
            raise AttributeError(name)
        line = self._line
        if name in TOLD:

            def notify(*arguments: Value) -> None:
                line.send(TELL, name, *arguments)

            self.__dict__[name] = notify
            return notify

        def ask(*arguments: Value) -> Value:
            return line.ask(ASK, name, *arguments)

        self.__dict__[name] = ask
        return ask


def _flush() -> None:
    """Write out what would else be written twice, or never."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
