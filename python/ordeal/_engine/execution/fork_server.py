"""Keeps the live state of a run in a forked process, and forks that process for each run that starts there.

The process that holds a state waits. To start a run it forks, and the fork executes the run while this process makes
all decisions: the fork asks for each step and each choice, and reports what it saw. So a run from a held state is on
the tape and in the coverage map like any other, and its process can be thrown away.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast, override

import msgspec

import ordeal._native as _native
from ordeal._base.outside import outside
from ordeal._base.untrusted import use_journal
from ordeal._engine.execution.bucket import Bucketer
from ordeal._engine.execution.driver import END, Driver, Outcome, RunListener, Status, unpacked
from ordeal._engine.execution.fork_messages import (
    AGAIN,
    ASK,
    DONE,
    ENDED,
    ERROR,
    GONE,
    NEXT,
    NOTIFICATIONS,
    NOTIFY,
    QUERIES,
    REJECT,
    REPLY,
    RUN,
    SAID_MAX,
    SEEN_KINDS,
    STARTED,
    STEP,
    ForkedRunResult,
    RefusedError,
    Seen,
    checked_call,
    ending_of,
    seen_of,
    typed,
    values_of_ending,
)
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.isolation.child import REPLACED, can_supervise, flush_output, has_been_replaced, leave
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._hypothesis.run_context import RunContext
from ordeal.errors import OrdealError

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

_RAISED_BY_DRAWS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (OverflowError, TypeError, ValueError, RuntimeError)
}

#: The errors with which this module, the core, or a listener refuses a message.
_REFUSALS = (RefusedError, _native.CheckError, OrdealError, ValueError, TypeError, OverflowError, LookupError)


class ForkedRunListener:
    """Notified of a run in another process."""

    def step_seen(self, code: int, state_hash: int, seen: Seen) -> None:
        """Called when the step ``code`` and its invariants have run."""

    def done_seen(self, seen: Seen) -> None:
        """Called when the run ended well, including its teardown."""

    def end_seen(self, seen: Seen) -> None:
        """Called when the run has ended; ``seen`` is what was not reported before."""


class RunEnvironment(msgspec.Struct, frozen=True):
    """What a run needs besides its machine, and what watches it."""

    driver: Driver
    randoms: GlobalRandoms
    bucketer: Bucketer
    monitor: _native.Monitor | None
    watch: PropertyWatch


class ForkServer:
    """A process that holds the state of a machine. Owned by the thread that made it, which must close it.

    ``arguments`` is the number of argument names of the machine.
    """

    def __init__(self, process: int, channel: Channel, arguments: int = 2**32) -> None:
        self._process = process
        self._channel = channel
        self._arguments = arguments
        channel.identify_senders()

    def run(
        self, session: _native.Session, listener: ForkedRunListener, numbers: Sequence[str] = ()
    ) -> ForkedRunResult | int:
        """Have a fork of the process execute the run that ``session`` has begun there, and report these numbers.

        Returns:
            How the run ended; or, if its process ended in the middle, its exit code, negative for a signal.

        Raises:
            ChannelError: the process that holds the state is gone, or something sent an invalid message.
        """
        self._channel.send(RUN, *numbers)
        run = _Answering(self._channel, session, listener, self._arguments)
        early: list[list[Value]] = []  # messages of the run that arrived before the number of its process
        branch, sender = 0, 0
        while True:
            message = self._channel.receive()
            if self._channel.sender == self._process:
                kind, *values = message or [None]
                (number,) = typed(values, int)
                if kind == GONE:
                    return run.ending if run.ending is not None else number
                if kind != STARTED or branch:
                    raise ChannelError(f"{str(kind)[:40]!r} is not a message of a process that holds a state")
                branch = number
            elif branch in (0, self._channel.sender) and sender in (0, self._channel.sender):
                sender = self._channel.sender
                early.append(message)
            else:
                raise ChannelError(f"process {self._channel.sender}, which is not the run's, sent a message")
            if branch and sender not in (0, branch):
                raise ChannelError(f"process {sender}, which is not the run's, sent a message")
            while branch and early:
                try:
                    run.handle(early.pop(0))
                except ChannelError:
                    raise
                except _REFUSALS as error:
                    raise ChannelError(f"a run sent an invalid message: {error}") from error

    def close(self) -> None:
        """End the process, and with it a run that is under way in a fork of it."""
        self._channel.close()
        with suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        with suppress(ChildProcessError):
            # The program under test may have waited for all of its children, this one included.
            os.waitpid(self._process, 0)

    def leave(self) -> None:
        """Close the connection, in a fork that does not use the process."""
        self._channel.close()


def running_threads() -> int:
    """Return how many threads this process has, including those that Python does not know."""
    return max(threading.active_count(), len(list(Path("/proc/self/task").iterdir())))


def refusal() -> str:
    """Return why no state can be held now; empty when one can."""
    if not can_supervise():
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
    flush_output()
    parent = os.getpid()
    process = os.fork()
    if process == 0:
        try:
            here.close()
            for other in others:
                other.leave()
            # The choices of its runs are journaled by the other process.
            environment.driver.journal = None
            use_journal(None)
            if _native.die_with(parent):
                _wait_for_runs(there, run, randoms, environment)
        finally:
            leave(1)
    there.close()
    return ForkServer(process, here, len(environment.driver.definition.argument_names))


class _Answering:
    """Answers the requests of one run and passes on its reports, after checking that a run can send them.

    Attributes:
        ending: how the run ended, once it has reported that.
    """

    def __init__(self, channel: Channel, session: _native.Session, listener: ForkedRunListener, arguments: int) -> None:
        self._channel = channel
        self._session = session
        self._listener = listener
        self._arguments = arguments
        self._step: int | None = None  # the running step
        self._said = 0
        self.ending: ForkedRunResult | None = None

    def handle(self, message: list[Value]) -> None:
        """Handle one message. Raises one of ``_REFUSALS`` for one that no run sends then, as the core checks too."""
        kind, *values = message or [None]
        self._said += 1
        if self.ending is not None:
            raise RefusedError(f"{str(kind)[:40]!r} after its end")
        if self._said > SAID_MAX:
            raise RefusedError(f"more than {SAID_MAX} messages")
        if kind == ASK:
            name, arguments = checked_call(QUERIES, values)
            if self._step is None:
                raise RefusedError(f"{name!r} outside a step")
            try:
                drawn: Value = getattr(self._session.source, name)(*arguments)
            except tuple(_RAISED_BY_DRAWS.values()) as error:
                self._channel.send(ERROR, type(error).__name__, str(error))
            else:
                self._channel.send(REPLY, drawn)
        elif kind == NOTIFY:
            name, arguments = checked_call(NOTIFICATIONS, values)
            if self._step is None or (name == "begin_argument" and arguments[0] >= self._arguments):  # type: ignore[operator]
                raise RefusedError(f"{name!r} outside a step, or in an argument that does not exist")
            if name != "magnitude":
                getattr(self._session.source, name)(*arguments)
            elif self._session.reads_numbers:
                self._session.magnitude(*arguments)  # type: ignore[arg-type]
        elif kind == NEXT and not values:
            if self._step is not None:
                raise RefusedError("a step was requested in the middle of one")
            code = self._session.next()
            self._step = code if unpacked(code)[0] < END else None
            self._channel.send(REPLY, code)
        elif kind == REJECT and not values:
            self._end_step(self._step)
            self._session.reject()
        elif kind == AGAIN and not values:
            if self._step is None:
                raise RefusedError("arguments outside a step")
            self._channel.send(REPLY, self._session.draws_again())
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

    def _end_step(self, step: int | None) -> None:
        if self._step is None or step != self._step:
            raise RefusedError(f"step {step} ended, and {self._step} was to run")
        self._step = None


# ---------------------------------------------------------------------------------------------------------------------
# In the other processes


def _wait_for_runs(
    channel: Channel, run: RunContext, randoms: list[tuple[Any, Any]], environment: RunEnvironment
) -> NoReturn:
    """Fork for each requested run. Ends with the process that asks."""
    # Ctrl-C reaches all processes of a terminal; the process that asks decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    environment.driver.isolated = True
    holder = os.getpid()
    while True:
        try:
            message = channel.receive()
        except ChannelError:
            leave(0)
        kind, *paths = message
        if kind != RUN:
            continue  # an answer that a run no longer waited for
        process = os.fork()
        if process == 0:
            try:
                if _native.die_with(holder):
                    # Python reseeds its own generator in a fork.
                    environment.randoms.reseed()
                    for generator, state in randoms:
                        generator.setstate(state)
                    environment.driver.numbers = _native.StateNumbers()
                    for path in paths:
                        environment.driver.numbers.add(str(path).split("."))
                    _ForkedRun(_ForkLine(channel), run, environment).execute()
            finally:
                flush_output()
                leave(0)
        try:
            channel.send(STARTED, process, alone=True)
            os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
            is_replaced = has_been_replaced(process, parent=os.getpid())
            _, status = os.waitpid(process, 0)
            channel.send(GONE, REPLACED if is_replaced else os.waitstatus_to_exitcode(status), alone=True)
        except ChannelError:
            leave(0)


class _ForkLine:
    """Connects a run to the process that decides. A fork of the run may not use it, and ends here."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._process = os.getpid()

    def send(self, *values: Value) -> None:
        """Send a message."""
        try:
            if os.getpid() != self._process:
                raise ChannelError("code of the user's has forked, and the fork came back")
            self._channel.send(*values)
        except ChannelError:
            # There is nobody left to run for, and the code under test must not catch this.
            leave(0)

    def ask(self, *question: Value) -> Value:
        """Send ``question`` and return the answer."""
        self.send(*question)
        try:
            kind, *values = self._channel.receive()
        except ChannelError:
            leave(0)
        if kind == ERROR:
            raise _RAISED_BY_DRAWS[str(values[0])](values[1])
        return values[0]


class _ForkedRun(RunListener):
    """One run, in its own process. The process that asks finds out what is new in it."""

    def __init__(self, line: _ForkLine, held_run: RunContext, environment: RunEnvironment) -> None:
        self._line = line
        self._held_run = held_run
        self._environment = environment
        self._run = held_run
        self._sizes: dict[str, int] = {}

    def execute(self) -> None:
        """Execute the run as the other process decides, and report to it."""
        environment = self._environment
        environment.driver.watchdog.restart()
        environment.watch.start_over()
        if environment.monitor is not None:
            # The other process finds out what is new, and which events would be silenced.
            environment.monitor.set_paused(False)
            environment.monitor.record()

        def take_over(run: RunContext) -> RuleBasedStateMachine:
            # The machine is where it has always been, and a run that ends here ends for good.
            run.length = self._held_run.length
            run.share(dict(self._held_run.shared))
            machine: RuleBasedStateMachine = self._held_run.machine
            return machine

        raised = False
        try:
            outcome = environment.driver.execute(_RemoteStepSource(self._line), restore=take_over, listener=self)
        except BaseException as error:  # noqa: BLE001 - what it is, the process that asks finds out by a replay
            outcome, raised = Outcome(Status.FAILED, 0, error), True
        self._line.send(ENDED, *values_of_ending(outcome, raised, environment.bucketer), *self._seen())

    @override
    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        self._run = run
        # All of them: this process does not know after which steps its session reads them.
        for label, number in self._environment.driver.numbers.all(run.machine):
            self._line.send(NOTIFY, "magnitude", label, number)
        self._line.send(STEP, code, state_hash, *self._seen())

    @override
    def run_done(self, run: RunContext) -> None:
        self._run = run
        self._line.send(DONE, *self._seen())

    def _seen(self) -> tuple[Value, ...]:
        environment, run = self._environment, self._run
        properties = environment.watch.take_snapshot()
        record = environment.monitor.take_record() if environment.monitor is not None else b""
        if run.machine is not None:  # otherwise the run is over, and nothing has changed since its last step
            self._sizes = {name: len(references) for name, references in run.machine.bundles.items()}
        events = {label: payload if isinstance(payload, str) else "" for label, payload in run.events.items()}
        warned = list(outside.warned)
        return record, json.dumps([properties, self._sizes, events, dict(run.targets), run.take_interleaved(), warned])


class _RemoteStepSource:
    """The steps of a session in another process."""

    def __init__(self, line: _ForkLine) -> None:
        self._line = line
        self.source: Any = _RemoteChoiceSource(line)

    def next(self) -> int:
        """Return the next step."""
        return int(self._line.ask(NEXT))  # type: ignore[arg-type]

    def reject(self) -> None:
        """Note that the rule of the last step cannot run now."""
        self._line.send(REJECT)

    def draws_again(self) -> bool:
        """Return True if the arguments of the step should be drawn again."""
        return bool(self._line.ask(AGAIN))


class _RemoteChoiceSource:
    """The choices of a session in another process. In a run from a held state they are always live."""

    live = True
    misaligned = 0
    producer = -1
    notes_spans = False

    def __init__(self, line: _ForkLine) -> None:
        self._line = line

    def provider(self) -> TapeProvider:
        """Make what Hypothesis' strategies draw from in a run of this source."""
        return TapeProvider(cast("_native.ChoiceSource", self))

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name not in QUERIES and name not in NOTIFICATIONS:
            raise AttributeError(name)
        is_query, line = name in QUERIES, self._line
        call = partial(line.ask, ASK, name) if is_query else partial(line.send, NOTIFY, name)
        self.__dict__[name] = call
        return call
