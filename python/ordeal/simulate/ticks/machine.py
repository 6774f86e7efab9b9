"""Adds rules to a machine whose world has ticks: rules that let time pass, send commands, restart and restore."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from ordeal._hypothesis.character_tables import load_character_tables
from ordeal._hypothesis.markers import INITIALIZE_MARKER, RULE_MARKER, invariants_of, rewrap_rules
from ordeal.errors import MachineError
from ordeal.simulate.errors import SimulationError, checked_number, checked_seconds
from ordeal.simulate.runtime.faults import NodeFault
from ordeal.simulate.ticks.commands import CommandType, command_types
from ordeal.simulate.ticks.world import TickLoop, TickWorld, in_step, restore, snapshot_of

#: How many ticks one step of a run lets pass, at most; and in which rhythm snapshots are taken, at most.
TICKS_AT_ONCE, SNAPSHOT_EVERY = 20, 25
#: Weights of rules that would keep a program from growing old.
_CAPS = {"restart": 5, "restore": 5, "skew": 5}
#: Methods that a machine may have besides ``start`` and ``tick``, which it must have.
_HOOKS = ("start", "tick", "perform", "snapshot", "restore", "state", "live_ids", "converged")
#: Of the rules made here, those that are shown at a method of the machine, and at which.
_WHOSE = {"begin_run": "start", "restart": "start", "tick": "tick", "restore": "restore"}
#: Marks the methods of a machine that are made here.
_MADE = "ordeal_of_ticks"


@dataclass(frozen=True)
class Ticking:
    """The settings of such a world, made by ``world(ticks=...)``; as an attribute of the machine, the world itself."""

    ticks: int
    tick_s: float
    settle: float
    is_crashed: bool
    """Whether the program may crash even if it has no snapshots."""
    skew_s: float
    """How wrong its clock may be set."""

    def __get__(self, machine: Any, owner: object = None) -> Any:
        return self if machine is None else machine._own_loop().world

    def loop(self, _machine: Any, **_: Any) -> TickLoop:
        """Make what holds the world of a machine."""
        return TickLoop(TickWorld(self.tick_s, self.ticks), self.settle, take_tick)

    def add_rules(self, cls: Any) -> None:
        """Give a machine class the rules that it has for what it defines.

        Raises:
            MachineError: it lacks a method, or one of them cannot be used.
        """
        types = command_types(cls.__name__, getattr(cls, "commands", ()))
        _check(cls, types)
        if types:
            load_character_tables()
        rewrap_rules(cls, _inside)
        made: dict[str, Any] = {"begin_run": initialize(data=st.data())(_at_once(_begin_run))}
        for name, hook in (("tick", _tick_rule), ("restore", _restore_rule)):
            own = vars(cls).get(name)
            if own is not None and not hasattr(own, _MADE):
                made[name] = hook(own)
        if hasattr(cls, "restore") or self.is_crashed:
            made["restart"] = rule()(_at_once(_restart))
        if self.skew_s:
            seconds = st.sampled_from([share * self.skew_s for share in (1.0, -1.0, 0.1, -0.1)])
            made["skew"] = rule(seconds=seconds)(_skew)
        made |= {each.name: rule(data=st.data())(_command_rule(each)) for each in types}
        for name, member in made.items():
            function = (getattr(member, RULE_MARKER, None) or getattr(member, INITIALIZE_MARKER)).function
            for each in (member, function):
                setattr(each, _MADE, True)
            # Failures in it are shown at the method that it calls.
            called = getattr(cls, _WHOSE.get(name, ""), None)
            if called is not None:
                function.__signature__ = inspect.signature(function)
                function.__wrapped__ = called
            if name in ("tick", "restore") or getattr(cls, name, None) is None or hasattr(getattr(cls, name), _MADE):
                setattr(cls, name, member)
        # Each run draws weights, as far as the class does not say otherwise.
        if not any("swarm" in vars(base) for base in cls.__mro__ if getattr(base, "world", None) is not None):
            cls.swarm = "sizes"
        cls.always_on = frozenset(cls.always_on) | {"tick"}
        cls.weight_caps = {name: cap for name, cap in _CAPS.items() if name in made} | dict(cls.weight_caps)


def ticking(ticks: Any, tick_length: Any, settle: Any, faults: tuple[Any, ...]) -> Ticking:
    """Check the settings of a world with ticks.

    Raises:
        SimulationError: one of them cannot be used.
    """
    checked_number("ticks", ticks, 1)
    kinds = {fault.kind: fault for fault in faults if isinstance(fault, NodeFault)}
    for fault in faults:
        if not isinstance(fault, NodeFault) or fault.kind not in ("crash", "skew"):
            raise SimulationError(
                f"a world with ticks has no network and no tasks, so {fault!r:.100} strikes nothing",
                hint="use simulate.crash() and simulate.skew(); `faults` of the machine strike its functions",
            )
    skew_s = kinds["skew"].longest if "skew" in kinds else 0.0
    return Ticking(ticks, checked_seconds("tick_length", tick_length), settle, "crash" in kinds, skew_s)


def _check(cls: Any, types: list[CommandType]) -> None:
    for name in _HOOKS:
        member = getattr(cls, name, None)
        if inspect.iscoroutinefunction(inspect.unwrap(member) if callable(member) else member):
            raise MachineError(
                f"{cls.__name__}.{name} is `async def`, and a world with ticks has no event loop", hint="write `def`"
            )
    if types and not callable(getattr(cls, "perform", None)):
        raise MachineError(
            f"{cls.__name__} has commands, and nothing that takes them",
            hint="write `def perform(self, command): ...`",
        )
    if hasattr(cls, "restore") != hasattr(cls, "snapshot"):
        raise MachineError(
            f"{cls.__name__} has one of snapshot() and restore()",
            hint="write both: `def snapshot(self) -> bytes` and `def restore(self, blob)`",
        )
    names = [each.name for each in types]
    for name in names:
        member = getattr(cls, name, None)
        is_taken = name in (*_HOOKS, "restart", "skew", "begin_run") or not (member is None or hasattr(member, _MADE))
        if is_taken or names.count(name) > 1:
            raise MachineError(
                f"{cls.__name__}.commands has a class whose rule would be called {name}, which is taken",
                hint=f"rename the class, or the other {name}",
            )


def _inside(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a rule that runs as code of the program."""
    if hasattr(function, _MADE) or inspect.iscoroutinefunction(function):
        return function

    def inside(self: Any, **arguments: Any) -> Any:
        return self.world.run(function, self, **arguments)

    inside.__name__, inside.__qualname__ = function.__name__, function.__qualname__
    inside.__doc__, inside.__wrapped__ = function.__doc__, function  # type: ignore[attr-defined]
    return inside


# ---------------------------------------------------------------------------------------------------------------------
# The rules


def _at_once(step: Callable[..., Any]) -> Callable[..., Any]:
    """Return a step that enters the world once, as this takes as long as many ticks.

    Where two programs are compared there are two worlds, which take turns.
    """

    @functools.wraps(step)
    def at_once(self: Any, *arguments: Any, **named: Any) -> Any:
        world: TickWorld = self.world
        if world.original is not None:
            return step(self, *arguments, **named)
        return world.run(step, self, *arguments, **named)

    return at_once


def _begin_run(self: Any, data: st.DataObject) -> None:
    world: TickWorld = self.world
    world.limit = data.draw(st.integers(1, world.limit), label="ticks of this run")
    if hasattr(self, "snapshot"):
        world.snapshot_every = data.draw(st.integers(1, SNAPSHOT_EVERY), label="ticks between snapshots")
    world.run(self.start)


def _tick_rule(own: Callable[..., Any]) -> Any:
    def tick(self: Any, now: float | None = None, *, ticks: int = 1) -> Any:
        if now is not None:
            return own(self, now)
        world: TickWorld = self.world
        left = min(ticks, world.limit - world.ticks)
        while left and world.original is not None:
            left = _take_ticks(self, left, 1)
        if left:
            _at_once(_take_ticks)(self, left, left)
        return None

    made = rule(ticks=st.integers(1, TICKS_AT_ONCE))(tick)
    return precondition(lambda self: self.world.ticks < self.world.limit)(made)


def _take_ticks(machine: Any, left: int, count: int) -> int:
    """Let ``count`` ticks pass, and ask between them and the ``left`` ones what must hold; return what is left then."""
    cls: Any = type(machine)
    invariants = _invariants(cls)
    for _ in range(count):
        take_tick(machine)
        left -= 1
        for ask in invariants if left else ():
            ask(machine)
    return left


# Read for every tick where two programs are compared.
_invariants = functools.cache(invariants_of)


def take_tick(machine: Any) -> None:
    """Let one tick pass: for the program, and for the one that was not restored."""
    world: TickWorld = machine.world
    in_step(machine, world, "tick", _tick)
    world.check()
    if hasattr(machine, "snapshot") and world.ticks % world.snapshot_every == 0:
        world.last_snapshot = snapshot_of(machine, world)


def _tick(machine: Any) -> None:
    world: TickWorld = machine.world

    def pass_one() -> None:
        world.clock.advance(world.tick_s)
        machine.tick(world.clock.time())

    world.ticks += 1
    world.run(pass_one)


def _restore_rule(own: Callable[..., Any]) -> Any:
    def restore_step(self: Any, blob: bytes | None = None) -> Any:
        if blob is not None:
            return own(self, blob)
        _at_once(_restore)(self)
        return None

    restore_step.__name__ = "restore"
    return rule()(restore_step)


def _restore(self: Any) -> None:
    self.world.original = None
    restore(self, self.world)
    self.world.check()


def _restart(self: Any) -> None:
    world: TickWorld = self.world
    world.original = None
    world.disk.crash(torn=True)
    world.run(self.start)
    world.check()


def _skew(self: Any, seconds: float) -> None:
    self.world.original = None
    self.world.skew(seconds)


_begin_run.__name__, _restart.__name__, _skew.__name__ = "begin_run", "restart", "skew"


def _command_rule(kind: CommandType) -> Callable[..., Any]:
    def send(self: Any, data: st.DataObject) -> None:
        world: TickWorld = self.world
        live: Mapping[str, Collection[Any]] = world.run(self.live_ids) if hasattr(self, "live_ids") else {}
        command = kind.draw(data, live)
        if command is not None:
            in_step(self, world, kind.name, lambda machine: perform(machine, command))
            world.check()

    send.__name__ = kind.name
    return _at_once(send)


def perform(machine: Any, command: Any) -> None:
    """Send a command to the program of a machine."""
    # The program may keep a command and change it.
    machine.world.run(machine.perform, copy.deepcopy(command))
