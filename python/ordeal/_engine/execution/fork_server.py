"""Keeps the live state of a run in a forked process, of which each run that starts there gets a fork of its own.

A process that holds a state waits. To start a run it forks once more, and that process executes the run, while all that
is decided about it is decided here: it asks for each step and for each choice, and tells what it saw. So a run from a
held state is on the tape and in the coverage map as any other is, and its process can be thrown away.
"""

from __future__ import annotations

import json
import math
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
from ordeal._engine.execution.driver import END, Driver, Outcome, Status
from ordeal._engine.isolation.channel import Channel, ChannelError, Value
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.telling import error_message, type_name
from ordeal._hypothesis import GlobalRandoms, RunContext
from ordeal.errors import OrdealError

if TYPE_CHECKING:
    from hypothesis.stateful import RuleBasedStateMachine

# What messages begin with.
_RUN, _REPLY, _ERROR = "run", "reply", "error"
_NEXT, _REJECT, _ASK, _TELL, _STEP, _DONE = "next", "reject", "ask", "tell", "step", "done"
_STARTED, _ENDED, _GONE = "started", "ended", "gone"

#: What a run may say to its session, tells apart: more than any run draws.
SAID_MAX = 1 << 20
#: The longest text or bytes that a draw may be told, and be asked to have at least.
SIZE_MAX = 1 << 24
#: The longest list of the characters of an alphabet, and the longest text of an error.
TEXT_MAX = 1 << 20
#: What bounds of an integer are refused by the core.
_WIDE_MAX = 2**125
_RAISED_BY_DRAWS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (OverflowError, TypeError, ValueError, RuntimeError)
}


class _RefusedError(Exception):
    """A process says what no run says."""


#: What it is refused with, here, by the core, and by who hears of what was seen.
_REFUSALS = (_RefusedError, _native.CheckError, OrdealError, ValueError, TypeError, OverflowError, LookupError)


# ---------------------------------------------------------------------------------------------------------------------
# What a run may ask of the source of choices, and what it may tell it: each with what its arguments must be


_CHOICE_KINDS = 5


def _is_integer(value: Value) -> bool:
    return type(value) is int


def _is_number(value: Value) -> bool:
    return type(value) in (int, float)


def _is_flag(value: Value) -> bool:
    return type(value) is bool


def _is_bound(value: Value) -> bool:
    return value is None or type(value) is int


def _is_wide(value: Value) -> bool:
    return type(value) is int and abs(value) <= _WIDE_MAX


def _is_least(value: Value) -> bool:
    return type(value) is int and 0 <= value <= SIZE_MAX


def _is_count(value: Value) -> bool:
    return type(value) is int and value > 0


def _is_kind(value: Value) -> bool:
    return type(value) is int and 0 <= value < _CHOICE_KINDS


def _is_alphabet(value: Value) -> bool:
    return type(value) is bytes and len(value) <= TEXT_MAX and len(value) % 8 == 0


def _is_name(value: Value) -> bool:
    return type(value) is int and 0 <= value < 2**32


def _is_producer(value: Value) -> bool:
    return type(value) is int and -1 <= value < 2**63


def _is_choice(value: Value) -> bool:
    if type(value) is int:
        return value.bit_length() <= SIZE_MAX
    return value is not None and (not isinstance(value, (str, bytes)) or len(value) <= SIZE_MAX)


_Check = Callable[[Value], bool]
_ASKED: dict[str, tuple[_Check, ...]] = {
    "boolean": (_is_number,),
    "integer": (_is_integer, _is_integer, _is_integer),
    "position": (_is_count,),
    "real": (_is_number, _is_number, _is_flag, _is_number),
    "text": (_is_alphabet, _is_least, _is_integer),
    "bytes": (_is_least, _is_integer),
    "open_integer": (_is_bound, _is_bound, _is_integer),
    "wide_integer": (_is_wide, _is_wide, _is_wide),
    "recorded": (_is_kind,),
    "raw_unit": (),
    "raw_bits": (),
    "raw_below": (_is_count,),
}
_TOLD: dict[str, tuple[_Check, ...]] = {
    "begin_argument": (_is_name,),
    "misalign": (),
    "note_integer": (_is_integer, _is_integer, _is_integer),
    "note_text": (_is_integer, _is_integer, _is_name),
    "put": (_is_choice,),
    "set_producer": (_is_producer,),
}


def _check_said(table: dict[str, tuple[_Check, ...]], values: list[Value]) -> tuple[str, list[Value]]:
    """The name and the arguments of what is said to the source of choices."""
    name, *arguments = values or [None]
    checks = table.get(name) if isinstance(name, str) else None
    if checks is None or len(arguments) != len(checks):
        raise _RefusedError(f"{str(name)[:40]!r} with {len(arguments)} values is nothing that a run says")
    for value, check in zip(arguments, checks, strict=True):
        if not check(value):
            raise _RefusedError(f"{name!r} was said with a {type(value).__name__} that it does not take")
    assert isinstance(name, str)
    return name, arguments


@dataclass(frozen=True, slots=True)
class Seen:
    """What a process saw since it told last.

    ``record`` is that of its monitor, ``properties`` a snapshot of a tracker. ``sizes`` are those of the bundles;
    ``events`` and ``targets`` are what the run told Hypothesis, from its start.
    """

    record: bytes
    properties: dict[str, list[dict[str, Any]]]
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

    def run(self, session: _native.Session, listener: Listener) -> Ending | int:
        """Have a fork of the process run what ``session``, whose run has begun there, says.

        Returns:
            How the run ended, or the exit code of its process where that ended in the middle of it: that of a signal is
            negative.

        Raises:
            ChannelError: the process that holds the state is gone, or somebody said what no run says.
        """
        self._channel.send(_RUN)
        run = _Answering(self._channel, session, listener, self._arguments)
        early: list[list[Value]] = []  # what the run said before it was said which process it is
        branch, sender = 0, 0
        while True:
            message = self._channel.receive()
            if self._channel.sender == self._process:
                kind, *values = message or [None]
                (number,) = _typed(values, int)
                if kind == _GONE:
                    return run.ending if run.ending is not None else number
                if kind != _STARTED or branch:
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
    return ForkServer(process, here, len(environment.driver.definition.argument_names))


class _Answering:
    """Answers what one run asks, and passes on what it tells, as long as that is what a run can say.

    Attributes:
        ending: how the run ended, once it has said so.
    """

    def __init__(self, channel: Channel, session: _native.Session, listener: Listener, arguments: int) -> None:
        self._channel = channel
        self._session = session
        self._listener = listener
        self._arguments = arguments
        self._step: int | None = None  # what runs now
        self._said = 0
        self.ending: Ending | None = None

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
            raise _RefusedError(f"{str(kind)[:40]!r} after its end")
        if self._said > SAID_MAX:
            raise _RefusedError(f"more than {SAID_MAX} messages")
        if kind == _ASK:
            self._answer(*_check_said(_ASKED, values))
        elif kind == _TELL:
            name, arguments = _check_said(_TOLD, values)
            if self._step is None or (name == "begin_argument" and arguments[0] >= self._arguments):  # type: ignore[operator]
                raise _RefusedError(f"{name!r} outside of a step, or of an argument that there is not")
            getattr(self._session.source, name)(*arguments)
        elif kind == _NEXT and not values:
            self._next()
        elif kind == _REJECT and not values:
            self._end_step(self._step)
            self._session.reject()
        elif kind == _STEP:
            step, state_hash, *rest = _typed(values, int, int, *_SEEN)
            self._end_step(step)
            self._listener.step_seen(step, state_hash, _seen_of(rest))
        elif kind == _DONE:
            self._listener.done_seen(_seen_of(_typed(values, *_SEEN)))
        elif kind == _ENDED:
            self.ending, seen = _ending_of(values)
            self._listener.end_seen(seen)
        else:
            raise _RefusedError(f"{str(kind)[:40]!r} begins no message of a run")

    def _next(self) -> None:
        if self._step is not None:
            raise _RefusedError("a step was asked for in the middle of one")
        step = self._session.next()
        self._step = step if step & 7 < END else None
        self._channel.send(_REPLY, step)

    def _end_step(self, step: int | None) -> None:
        if self._step is None or step != self._step:
            raise _RefusedError(f"step {step} ended, and {self._step} was to run")
        self._step = None

    def _answer(self, name: str, arguments: list[Value]) -> None:
        if self._step is None:
            raise _RefusedError(f"{name!r} outside of a step")
        try:
            drawn: Value = getattr(self._session.source, name)(*arguments)
        except tuple(_RAISED_BY_DRAWS.values()) as error:
            self._channel.send(_ERROR, type(error).__name__, str(error))
            return
        self._channel.send(_REPLY, drawn)


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
                    _Branch(_Line(channel), run, environment).execute()
            finally:
                _flush()
                os._exit(0)
        try:
            channel.send(_STARTED, process, alone=True)
            _, status = os.waitpid(process, 0)
            channel.send(_GONE, os.waitstatus_to_exitcode(status), alone=True)
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
        if kind == _ERROR:
            raise _RAISED_BY_DRAWS[str(values[0])](values[1])
        return values[0]


class _Branch:
    """One run, in a process of its own: the learner of its driver."""

    learns_each_step = True

    def __init__(self, line: _Line, held: RunContext, environment: RunEnvironment) -> None:
        self._line = line
        self._held = held
        self._environment = environment
        self._run = held
        self._sizes: dict[str, int] = {}
        self.nearer: dict[str, None] = {}  # what is, the process that asks finds out

    def execute(self) -> None:
        """Run as is said, and tell of it."""
        self._watch_from_here()
        script = _AskedScript(self._line)
        raised = False
        try:
            # The state is where it has always been, and a run that ends here ends for good.
            outcome = self._environment.driver.execute(script, restore=self._adopt, learner=self)
        except BaseException as error:  # noqa: BLE001 - what it is, the process that asks finds out by a replay
            outcome, raised = Outcome(Status.FAILED, 0, error), True
        self._line.send(_ENDED, *_values_of_ending(outcome, raised, self._environment.bucketer), *self._seen())

    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        """Tell of a step that ended well."""
        self._run = run
        self._line.send(_STEP, code, state_hash, *self._seen())

    def run_done(self, run: RunContext) -> None:
        """Tell that the run has ended well."""
        self._run = run
        self._line.send(_DONE, *self._seen())

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


class _AskedScript:
    """The script of a session in another process."""

    def __init__(self, line: _Line) -> None:
        self._line = line
        self.source: Any = _AskedSource(line)

    def next(self) -> int:
        """The next step."""
        return int(self._line.ask(_NEXT))  # type: ignore[arg-type]

    def reject(self) -> None:
        """The rule given last cannot run now."""
        self._line.send(_REJECT)


class _AskedSource:
    """The source of choices of a session in another process. Where a run starts from a held state it is always live."""

    live = True
    misaligned = 0
    producer = -1

    def __init__(self, line: _Line) -> None:
        self._line = line

    def __getattr__(self, name: str) -> Callable[..., Value]:
        if name not in _ASKED and name not in _TOLD:
            raise AttributeError(name)
        line = self._line
        if name in _TOLD:

            def tell(*arguments: Value) -> None:
                line.send(_TELL, name, *arguments)

            self.__dict__[name] = tell
            return tell

        def ask(*arguments: Value) -> Value:
            return line.ask(_ASK, name, *arguments)

        self.__dict__[name] = ask
        return ask


def _flush() -> None:
    """Write out what would else be written twice, or never."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()


# ---------------------------------------------------------------------------------------------------------------------
# Messages

_SEEN = (bytes, str)
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
        bucketer.bucket(error)[:TEXT_MAX],
        type_name(type(error)),
        error_message(error)[:TEXT_MAX],
        traceback_text(error)[:TEXT_MAX],
    )


def _ending_of(values: list[Value]) -> tuple[Ending, Seen]:
    status, steps, stuck, raised, bucket, error_type, text, traceback, *rest = _typed(values, *_ENDING, *_SEEN)
    outcome = Outcome(Status(status), steps, None, stuck)
    is_named = bool(bucket and error_type) and "\0" not in error_type and error_type.isprintable()
    if not 0 <= steps <= SAID_MAX or (outcome.status is Status.FAILED and not is_named):
        raise _RefusedError(f"it ended as {status} in bucket {bucket[:40]!r}, with {error_type[:40]!r}")
    if max(map(len, (stuck, bucket, error_type, text, traceback))) > TEXT_MAX:
        raise _RefusedError(f"an ending has a text of more than {TEXT_MAX} characters")
    return Ending(outcome, raised, bucket, error_type, text, traceback), _seen_of(rest)


def _seen_of(values: list[Any]) -> Seen:
    record, text = values
    try:
        properties, sizes, events, targets = json.loads(text)
        return Seen(
            record=record,
            properties=dict(properties),
            sizes={name: _size(size) for name, size in sizes.items()},
            events={label: str(payload) for label, payload in events.items()},
            targets={label: _target(value) for label, value in targets.items()},
        )
    except (AttributeError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ChannelError(f"what a run has seen is damaged: {error}") from error


def _target(value: object) -> float:
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("a target has no such value")
    return float(value)


def _size(size: object) -> int:
    if not isinstance(size, int) or not 0 <= size < 2**31:
        raise ValueError("a bundle has no such size")
    return size


def _typed(values: list[Value], *kinds: type) -> list[Any]:
    """The values, which must be of these kinds."""
    found = tuple(type(value) for value in values)
    if found != kinds:
        raise ChannelError(f"a message holds {found}, not {kinds}")
    return values
