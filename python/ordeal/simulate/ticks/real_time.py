"""``@simulate.e2e``: the commands of a machine, sent to a program in production; and its log run again."""

from __future__ import annotations

import asyncio
import base64
import functools
import inspect
import json
import re
import time
import unittest
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st

import ordeal._native as _native
from ordeal._base import untrusted
from ordeal._base.formatting import counted, one_line
from ordeal._base.regular_file import read_whole
from ordeal._hypothesis.markers import invariants_of
from ordeal.errors import MachineError
from ordeal.simulate.errors import SimulationError, checked_number, checked_seconds
from ordeal.simulate.runtime.decisions import SEED_MAX
from ordeal.simulate.runtime.testing import file_name
from ordeal.simulate.ticks.commands import LIVE_OF_TEN, CommandType, as_fields, command_types
from ordeal.simulate.ticks.machine import Ticking, perform, take_tick

_BYTES = "bytes in base64"


@dataclass(frozen=True, slots=True)
class LoggedCommand:
    """One command of a log: when it was sent, in seconds since the first, and what became of it."""

    seconds: float
    command: Any
    outcome: str


def _packed(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    try:
        return as_fields(value)
    except TypeError:
        return str(value)


def read_log(path: Path, kinds: Sequence[CommandType]) -> Iterator[LoggedCommand]:
    """Yield the commands of a log.

    Raises:
        SimulationError: the file cannot be read, is damaged, or has commands that the machine does not know.
    """
    by_name = {kind.name: kind for kind in kinds}
    waiting: tuple[float, Any] | None = None
    try:
        lines = read_whole(path).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"the log {path} cannot be read: {error}", hint="give the path of a log") from error
    for number, line in enumerate(lines, 1):
        try:
            row = json.loads(
                line, object_hook=lambda found: base64.b64decode(found[_BYTES]) if list(found) == [_BYTES] else found
            )
        except (ValueError, RecursionError) as error:
            raise _damaged(path, number) from error
        if not isinstance(row, dict):
            raise _damaged(path, number)
        if waiting is not None:
            yield LoggedCommand(*waiting, outcome=str(row.get("outcome", "")))
            waiting = None
        if "command" not in row:
            continue
        at, name, fields = row.get("at"), row["command"], row.get("fields")
        if isinstance(at, bool) or not isinstance(at, int | float) or not isinstance(fields, dict):
            raise _damaged(path, number)
        kind = by_name.get(name) if isinstance(name, str) else None
        if kind is None:
            known = ", ".join(by_name) or "none"
            raise SimulationError(f"the log {path} has a command {name!r:.100}", hint=f"the machine knows: {known}")
        try:
            waiting = float(at), kind.cls(**fields)
        except (TypeError, ValueError) as error:
            raise SimulationError(
                f"line {number} of the log {path} does not fit {name} any more: {error}",
                hint="the class has changed since: run the test again",
            ) from error
    if waiting is not None:
        yield LoggedCommand(*waiting, outcome="unknown")


def _damaged(path: Path, number: int) -> SimulationError:
    return SimulationError(
        f"line {number} of the log {path} is damaged", hint="run the test again, which writes it again"
    )


FOLDER = ".ordeal/e2e"
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


class Sendings:
    """What is sent to a program, and how it goes. Each command is in the log before it is sent."""

    def __init__(self, log: IO[str], errors: tuple[type[Exception], ...]) -> None:
        """``errors`` are those that are only counted."""
        self._log = log
        self._accepted = errors
        self._begin = time.monotonic()
        self._ended_s = 0.0
        self._latencies_s: list[float] = []
        self._errors = Counter[str]()
        self.sent = Counter[str]()
        self.last = deque[str](maxlen=20)

    @property
    def seconds(self) -> float:
        """The time since the first command could be sent."""
        return time.monotonic() - self._begin

    def send(self, kind: CommandType, command: Any, take: Callable[[Any], object]) -> None:
        """Call ``take(command)``, and raise what it raises, unless it is only counted."""
        at = self.seconds
        self._write({"at": round(at, 6), "command": kind.name, "fields": as_fields(command)})
        self.sent[kind.name] += 1
        shown = untrusted.bounded_call(lambda: repr(command), lambda _: kind.name)
        self.last.append(one_line(shown, limit=200))
        outcome = "interrupted"
        try:
            take(command)
            outcome = ""
        except self._accepted as error:
            outcome = untrusted.type_name(type(error))
            self._errors[outcome] += 1
        except Exception as error:
            outcome = f"{untrusted.type_name(type(error))}: {untrusted.error_message(error)}"
            raise
        finally:
            self._ended_s = self.seconds
            self._latencies_s.append(self._ended_s - at)
            self._write({"outcome": outcome})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._log.write(json.dumps(line, default=_packed) + "\n")
        self._log.flush()

    def text(self, log: Path) -> str:
        """Return the figures, for people."""
        ordered = sorted(self._latencies_s) or [0.0]
        rate = len(self._latencies_s) / self._ended_s if self._ended_s else 0.0
        median, late = ordered[len(ordered) // 2], ordered[len(ordered) * 99 // 100]
        lines = [
            f"{counted(sum(self.sent.values()), 'command')} in {self._ended_s:.1f} s: {rate:,.1f} a second",
            f"half of them within {1e3 * median:.1f} ms, 99 of 100 within {1e3 * late:.1f} ms",
            ", ".join(f"{name} {number:,}" for name, number in self.sent.most_common()),
        ]
        lines += [f"{number:,} times {one_line(name)}" for name, number in self._errors.most_common()]
        return "\n".join([*lines, f"log, for simulate.run_log: {log}"])


def e2e(
    machine: Any,
    *,
    duration: str | float = 30.0,
    seed: int = 0,
    errors: tuple[type[Exception], ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """Decorate a pytest test that sends the commands of a machine to the program as it runs in production.

    The test is a generator: it sets the program up, yields what takes a command, and after the ``yield`` checks what
    must be true in the end. It is skipped unless pytest runs with ``--e2e``. All commands are in a log, which
    ``run_log`` runs again in the world of the machine.

    Args:
        machine: a ChaosTest with ``commands``.
        duration: for how long commands are sent: seconds, or a text such as ``"30s"`` or ``"5min"``.
        seed: what is sent follows from it.
        errors: what ``send`` may raise; it is counted. Anything else fails the test.

    Raises:
        MachineError: the machine has no commands.
        SimulationError: an argument cannot be used.
    """
    kinds = _commands_of(machine)
    if isinstance(duration, str):
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(s|m|min|h|)", duration.strip())
        if found is None:
            raise SimulationError(f"duration is {duration!r:.100}", hint='write "30s" or "5min"')
        duration = float(found[1]) * _UNITS[found[2]]
    seconds = checked_seconds("duration", duration)
    checked_number("seed", seed, 0, SEED_MAX)

    def decorate(function: Callable[..., Any]) -> Callable[..., None]:
        if not inspect.isgeneratorfunction(function) and not inspect.isasyncgenfunction(function):
            raise SimulationError(
                f"{function.__name__} yields nothing", hint="set the program up, and `yield` what takes a command"
            )
        return _made(function, lambda given, log: _send_all(function, given, kinds, seconds, seed, errors, log))

    return decorate


def _made(function: Callable[..., Any], send_all: Callable[[Mapping[str, Any], Path], Sendings]) -> Callable[..., None]:
    signature = inspect.signature(function)
    wants_request = "request" in signature.parameters

    @functools.wraps(function)
    def run_in_real_time(**fixtures: Any) -> None:
        __tracebackhide__ = True
        request = fixtures["request"] if wants_request else fixtures.pop("request")
        if not request.config.getoption("e2e", default=False):
            raise unittest.SkipTest("runs in real time, with --e2e")
        log = request.config.rootpath / FOLDER / f"{file_name(request.node.nodeid)}.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        sendings = send_all(fixtures, log)
        request.node.add_report_section("call", "end to end", sendings.text(log.relative_to(request.config.rootpath)))

    own = list(signature.parameters.values())
    asked = inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY)
    made: Any = run_in_real_time
    made.__signature__ = signature.replace(parameters=own if wants_request else [*own, asked])
    del made.__wrapped__  # it is a generator function, and pytest would say so
    return made  # type: ignore[no-any-return]


def _commands_of(machine: Any) -> list[CommandType]:
    kinds = command_types(getattr(machine, "__name__", repr(machine)), getattr(machine, "commands", ()))
    if not kinds:
        raise MachineError(f"{machine!r:.100} has no commands", hint="write `commands = [Buy, Refund]` in its body")
    return kinds


# ---------------------------------------------------------------------------------------------------------------------
# Sending


def _below(chance: _native.Rng, bound: int) -> int:
    return int(chance.random() * bound)


def _drawn(kinds: list[CommandType], seed: int) -> Iterator[tuple[CommandType, dict[str, Any], _native.Rng]]:
    """Yield commands for ever: the class, the values of its fields, and what chooses among live ids."""
    chance = _native.Rng(seed, "commands in production")
    # Each is in this list as often as its weight says.
    weighted = [kind for kind in kinds for _ in range(1 + _below(chance, 100))]
    drawn = {kind.name: _batch(kind, _native.schedule_run_seed(seed + 1, 0)) for kind in kinds}
    batches = 0
    yield kinds[0], {}, chance  # all is ready
    while True:
        kind = weighted[_below(chance, len(weighted))]
        if not drawn[kind.name]:
            batches += 1
            drawn[kind.name] = _batch(kind, _native.schedule_run_seed(seed + 1, batches))
        yield kind, drawn[kind.name].pop(), chance


def _batch(kind: CommandType, seed: int) -> list[dict[str, Any]]:
    values = list[dict[str, Any]]()

    @hypothesis_seed(seed)
    @settings(
        max_examples=100,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.fixed_dictionaries(dict(kind.fields)))
    def draw(fields: dict[str, Any]) -> None:
        values.append(fields)

    draw()
    return values


def _send_all(
    function: Callable[..., Any],
    fixtures: Mapping[str, Any],
    kinds: list[CommandType],
    seconds: float,
    seed: int,
    errors: tuple[type[Exception], ...],
    path: Path,
) -> Sendings:
    with ExitStack() as stack:
        log = stack.enter_context(path.open("w", encoding="utf-8"))
        target, finish, call = stack.enter_context(_set_up(function, fixtures))
        take = functools.partial(call, target.send if hasattr(target, "send") else target)
        commands = _drawn(kinds, seed)
        next(commands)
        sendings = Sendings(log, errors)
        try:
            for kind, values, chance in commands:
                if sendings.seconds >= seconds:
                    break
                live = target.live_ids() if hasattr(target, "live_ids") else {}
                for name in values:
                    if live.get(name) and _below(chance, 10) < LIVE_OF_TEN:
                        ids = list(live[name])
                        values[name] = ids[_below(chance, len(ids))]
                command = kind.made(values)
                if command is not None:
                    sendings.send(kind, command, take)
            if not sendings.sent:
                raise SimulationError(f"no command was sent in {seconds:g} s", hint="write a longer duration")
            finish()
        except BaseException as error:
            error.add_note(f"\n{sendings.text(path)}\nThe last commands:\n" + "\n".join(sendings.last))
            raise
    return sendings


@contextmanager
def _set_up(
    function: Callable[..., Any], fixtures: Mapping[str, Any]
) -> Iterator[tuple[Any, Callable[[], object], Callable[..., Any]]]:
    """Set the program up; give what takes commands, what ends the test, and how to call what it gave."""
    with asyncio.Runner() as runner:

        async def finished(value: Any) -> Any:
            return await value

        def call(called: Callable[..., Any], *arguments: Any) -> Any:
            value = called(*arguments)
            return runner.run(finished(value)) if inspect.isawaitable(value) else value

        made = function(**fixtures)
        is_async = inspect.isasyncgen(made)

        def next_of() -> Any:
            return runner.run(anext(made)) if is_async else next(made)

        target = next_of()

        def finish() -> None:
            try:
                next_of()
            except (StopIteration, StopAsyncIteration):
                return
            raise SimulationError(f"{function.__name__} yields twice", hint="yield once: what takes a command")

        try:
            yield target, finish, call
        finally:
            if is_async:
                runner.run(made.aclose())
            else:
                made.close()


# ---------------------------------------------------------------------------------------------------------------------
# The log in the world


def run_log(machine: Any, path: str | Path) -> int:
    """Run the commands of a log in the world of a machine, and raise what fails; return how many there were.

    As many ticks pass between two commands as their times say. Invariants are asked after each, and ``converged()`` at
    the end.

    Args:
        machine: a ChaosTest whose world has ticks.
        path: a log that a test of ``@simulate.e2e`` has written.

    Raises:
        MachineError: the machine has no such world, or no commands.
        SimulationError: the log cannot be read.
    """
    settings_of_world = getattr(machine, "world", None)
    if not isinstance(settings_of_world, Ticking):
        raise MachineError(
            f"{machine!r:.100} has no world with ticks", hint="write `world = simulate.world(ticks=1000)` in its body"
        )
    kinds = _commands_of(machine)
    state = machine()
    world = state.world
    asking = invariants_of(machine)
    number = 0
    try:
        world.run(state.start)
        for sent in read_log(Path(path), kinds):
            number += 1
            while world.clock.time() + world.tick_s <= sent.seconds:
                take_tick(state)
            try:
                perform(state, sent.command)
            except Exception as error:
                # What production refused, the world may refuse as well.
                if untrusted.type_name(type(error)) != sent.outcome:
                    raise
            for ask in asking:
                ask(state)
    except SimulationError:
        raise
    except Exception as error:
        error.add_note(f"\nWith command {number:,} of {path}, at tick {world.ticks:,} of the world.")
        raise
    finally:
        state.teardown()
    return number
