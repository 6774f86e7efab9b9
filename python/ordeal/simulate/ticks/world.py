"""The world of a machine that moves in ticks: one program with a clock and a disk, and how far its run has come."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import random
import sys
import warnings
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, NoReturn

import ordeal._native as _native
from ordeal._base import untrusted
from ordeal._base.formatting import one_line
from ordeal._base.rule_timeout import RuleLoop
from ordeal._hypothesis.bundles import ENGINE_ATTRIBUTES
from ordeal.errors import MachineError
from ordeal.simulate.clock import Clock
from ordeal.simulate.errors import (
    BrokenProperty,
    EscapedSimulation,
    NotReached,
    NotRestored,
    SimulationError,
    SimulationWarning,
)
from ordeal.simulate.file_system import FileSystem
from ordeal.simulate.nodes.life import LIFE, Life, NodeClock
from ordeal.simulate.runtime.sites import calling_site
from ordeal.simulate.runtime.surroundings import Surroundings

#: The name of the machine that the program runs on.
HOST = "app"
_NO_NETWORK = "the program of a machine that moves in ticks has no network: give it a stand-in in `start`"


@dataclass(slots=True)
class Unrestored:
    """A copy of the machine from before a restore, and for how many more steps it is compared."""

    machine: Any
    #: A program that was restored is compared with the one that was not for this many ticks and commands.
    steps_left: int = 10


class TickWorld:
    """The clock and the disk of a program that moves in ticks of ``tick_s`` seconds, at most ``limit`` of them.

    Copied with its machine. Not thread-safe.
    """

    def __init__(self, tick_s: float, limit: int) -> None:
        self.clock = Clock()
        """The clock of the program. In its code, ``time`` and ``datetime`` tell the same."""
        self.disk = FileSystem(clock=self.clock)
        """The disk of the program: what its code opens and writes is here."""
        self.ticks = 0
        """How many ticks the run has had."""
        self.last_snapshot: bytes | None = None
        """What ``snapshot()`` last returned in the rhythm of the run: what is there after a crash."""
        self.tick_s = tick_s
        self.limit = limit
        self.snapshot_every = 1
        self.original: Unrestored | None = None
        """The program as it was before it was restored, as long as the two are compared."""
        self._always: dict[str, Callable[[], object]] = {}
        life: Any = self
        self._life = Life(life, HOST, NodeClock(), self.disk)
        self._depth = 0
        # What the surroundings of a program ask a loop for.
        self.world = None

    def always(self, name: str, condition: Callable[[], object]) -> None:
        """Check ``condition()`` after each tick and command from now on; ``name`` stands in the failure."""
        self._always[name] = condition

    def skew(self, offset: float) -> None:
        """Set the date of the program wrong by ``offset`` more seconds; the clock itself goes on as before."""
        self._life.clock.offset += float(offset)

    def run(self, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Call ``function(*arguments, **named)`` with the time and the disk of the program, and nothing outside."""
        if self._depth:
            return function(*arguments, **named)
        context = contextvars.copy_context()
        context.run(LIFE.set, self._life)
        self._depth += 1
        try:
            surroundings: Any = Surroundings()
            with surroundings.around(self):
                return context.run(function, *arguments, **named)
        finally:
            self._depth -= 1

    def leave(self) -> None:
        """Mark the world as not entered: a copy made inside of ``run`` would count as entered."""
        self._depth = 0

    def check(self) -> None:
        """Raise BrokenProperty where something is not true that always must be."""
        for name, condition in self._always.items():
            if not condition():
                raise BrokenProperty(f"{name}: it does not hold at tick {self.ticks}", site=name)

    # What the surroundings ask a loop for

    def time(self) -> float:
        """Return the time in seconds: 0 when the run begins."""
        return self.clock.time()

    def sleep_through(self, seconds: float) -> None:
        """Let ``seconds`` of simulated time pass, because the program called ``time.sleep``."""
        self.clock.advance(seconds)

    def allows(self, _what: str) -> bool:
        """Return False: all fences stand."""
        return False

    def escape(self, what: str, hint: str) -> NoReturn:
        """Raise EscapedSimulation: ``what`` would leave the simulation, and ``hint`` is what to write instead."""
        __tracebackhide__ = True
        site = calling_site()
        raise EscapedSimulation(f"{what} inside of a simulation, at {site.where}: {site.name}", hint=hint)

    def addresses(self, *_asked: Any) -> NoReturn:
        """Refuse to look up a name."""
        __tracebackhide__ = True
        self.escape("the program looks up an address", _NO_NETWORK)

    def set_signal(self, *_asked: Any) -> NoReturn:
        """Refuse to handle signals."""
        __tracebackhide__ = True
        self.escape("the program uses signals", "call what its handler does, in a rule")

    reaction_to = send_signal = set_signal


class TickLoop(RuleLoop):
    """Holds the world of one machine, and ends its run. Copied with the machine."""

    def __init__(self, world: TickWorld, settle: float, take_tick: Callable[[Any], object]) -> None:
        """Calls ``take_tick(machine)`` to let time pass at the end."""
        super().__init__()
        self._take_tick = take_tick
        self.world = world
        self._settle_s = settle
        self._outer: BaseException | None = sys.exception()

    def open(self) -> asyncio.Runner:
        """Raise MachineError: a world of ticks has no event loop."""
        raise MachineError(
            "a machine whose world has ticks has no `async def` rules",
            hint="write `def`, or give it a world without `ticks`, in which rules are operations of clients",
        )

    def run[Result](self, coroutine: Coroutine[Any, Any, Result]) -> Result:
        """Raise MachineError: a world of ticks has no event loop."""
        coroutine.close()
        self.open()
        raise AssertionError

    def end(self, machine: Any) -> None:
        """Let ticks pass until ``converged()`` is true, unless the run has failed already."""
        converged: Callable[[], object] | None = getattr(machine, "converged", None)
        if converged is None or sys.exception() is not self._outer:
            return
        world = self.world
        end = world.clock.time() + self._settle_s
        while not world.run(converged):
            if world.clock.time() >= end:
                raise NotReached(
                    f"converged() is not true within {self._settle_s:g} s of calm, at tick {world.ticks}",
                    site="converged()",
                )
            self._take_tick(machine)

    def __copy__(self) -> TickLoop:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> TickLoop:
        copied = TickLoop(copy.deepcopy(self.world, memo), self._settle_s, self._take_tick)
        memo[id(self)] = copied
        return copied


def snapshot_of(machine: Any, world: TickWorld) -> bytes:
    """Return the result of ``snapshot()``, checked.

    Raises:
        SimulationError: it is not bytes.
    """
    blob = world.run(machine.snapshot)
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise SimulationError(f"snapshot() returned {type(blob).__name__}", hint="return bytes")
    return bytes(blob)


def restore(machine: Any, world: TickWorld) -> None:
    """Start the program again and let it restore its own snapshot; compare it with what it was.

    Raises:
        NotRestored: its state or its next snapshot differs.
    """
    blob = snapshot_of(machine, world)
    state = _state(machine, world)
    world.original = None
    original = _copied(machine)
    world.run(machine.start)
    world.run(machine.restore, blob)
    restored = _state(machine, world)
    if restored != state:
        raise NotRestored(
            f"a restore changes the state\n  before: {_shown(state)}\n  after:  {_shown(restored)}", site="state"
        )
    again = snapshot_of(machine, world)
    if again != blob:
        raise NotRestored(f"the snapshot after a restore is another one\n{_difference(blob, again)}", site="snapshot()")
    if original is not None:
        world.original = Unrestored(original)


def _state(machine: Any, world: TickWorld) -> Any:
    state = getattr(machine, "state", None)
    return world.run(state) if callable(state) else None


def _copied(machine: Any) -> Any:
    """Return a copy of a machine with its program; None where it cannot be copied, which is reported."""
    kept = {name: value for name, value in vars(machine).items() if name in ENGINE_ATTRIBUTES}
    own = {name: value for name, value in vars(machine).items() if name not in (*ENGINE_ATTRIBUTES, "_tell")}
    cls: Any = type(machine)
    twin = cls.__new__(cls)
    try:
        copied = _native.deep_copy(own, {id(machine): twin})
    except Exception as error:  # noqa: BLE001 - objects of the program may raise anything
        why = f"{untrusted.type_name(type(error))}: {untrusted.error_message(error)}"
        warnings.warn(
            SimulationWarning(f"the future of a restored program is not compared, as it cannot be copied: {why}"),
            stacklevel=2,
        )
        return None
    twin.__dict__.update(kept)
    twin.__dict__.update(copied)
    twin.world.leave()
    return twin


def in_step(machine: Any, world: TickWorld, what: str, step: Callable[[Any], object]) -> None:
    """Do ``step(machine)``; do it with the program that was not restored as well, and compare the two.

    Raises:
        NotRestored: it ends in another way, or leads to another snapshot.
    """
    original = world.original
    if original is None or machine.active_faults:
        # What a fault does to one of the two is not what it does to the other.
        world.original = None
        step(machine)
        return
    begin, expected = random.getstate(), ""
    try:
        step(original.machine)
    except Exception as error:  # noqa: BLE001 - compared with what the other one raises
        expected = _ending(error)
    after = random.getstate()
    random.setstate(begin)
    try:
        step(machine)
    except Exception as error:
        if _ending(error) != expected:
            raise NotRestored(
                f"after a restore, {what} ends with {_ending(error)}; without the restore, {expected or 'it does not'}",
                site=what,
            ) from error
        world.original = None
        raise
    random.setstate(after)
    if expected:
        raise NotRestored(f"after a restore, {what} ends well; without the restore, it ends with {expected}", site=what)
    twin = original.machine
    wanted, found = snapshot_of(twin, twin.world), snapshot_of(machine, world)
    if wanted != found:
        raise NotRestored(
            f"after a restore, {what} leads to another snapshot than without it\n{_difference(wanted, found)}",
            site=what,
        )
    original.steps_left -= 1
    if not original.steps_left:
        world.original = None


def _ending(error: Exception) -> str:
    return f"{untrusted.type_name(type(error))}: {untrusted.error_message(error)}"


#: How many bytes around the first that differs are shown.
_SHOWN = 60


def _difference(wanted: bytes, found: bytes) -> str:
    first = next((at for at, pair in enumerate(zip(wanted, found, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(wanted), len(found)) if first is None else first
    begin = max(at - _SHOWN // 2, 0)
    dots = "..." if begin else ""
    shown = [_shown(each[begin : begin + _SHOWN]) for each in (wanted, found)]
    return "\n".join(
        [
            f"  they differ from byte {at}:",
            f"  without the restore: {dots}{shown[0]}",
            f"  restored:            {dots}{shown[1]}",
        ]
    )


def _shown(value: Any) -> str:
    text = untrusted.bounded_call(lambda: repr(value), lambda _: f"<{type(value).__name__}>")
    return one_line(text, limit=200)
