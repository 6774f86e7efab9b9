"""The world of a machine: its coroutine rules are operations of clients, which overlap, and at the end all is calm."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Coroutine
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from ordeal._base.rule_timeout import end_unstarted
from ordeal.simulate.errors import (
    LongWait,
    NotReached,
    SimulationError,
    SimulationFailure,
    checked_number,
    checked_seconds,
)
from ordeal.simulate.nodes.world import World
from ordeal.simulate.runtime.decisions import HEAD_STARTS, ORDER, OVERLAP, name_key
from ordeal.simulate.runtime.faults import NodeFault, checked_faults
from ordeal.simulate.runtime.long_waits import LongWaits
from ordeal.simulate.runtime.loop import SimulationLoop
from ordeal.simulate.runtime.machine_loop import MachineLoop
from ordeal.simulate.runtime.running import RunSettings, failure_of
from ordeal.simulate.runtime.tasks import TaskRecord
from ordeal.simulate.ticks.machine import Ticking, ticking

_RULE_SITE, _CLIENT = name_key(OVERLAP), name_key("clients")


@dataclass(frozen=True)
class MachineWorld:
    """The settings of a machine's world, made by ``world``; as an attribute of the machine, the world itself."""

    clients: int
    settle: float
    settings: RunSettings = field(default_factory=RunSettings)

    def __get__(self, machine: Any, owner: object = None) -> Any:
        return self if machine is None else machine._own_loop().world

    def loop(self, machine: Any, *, awaited: Collection[CodeType]) -> WorldLoop:
        """Make the loop of a machine, on which coroutines of the code in ``awaited`` run to their end."""
        due = [(each.preconditions, each.function) for each in getattr(machine, "invariants", ())]

        def check() -> None:
            for preconditions, function in due:
                if all(holds(machine) for holds in preconditions):
                    function(machine)

        converged = getattr(machine, "converged", None)
        return WorldLoop(self, awaited=awaited, converged=converged, invariants=check if due else None)


def world(
    *, clients: int = 3, settle: float = 60.0, faults: Any = (), ticks: int | None = None, tick_length: float = 1.0
) -> Any:
    """Give a ChaosTest a world: write ``world = simulate.world(...)`` in its body.

    Its ``async def`` rules are then operations of clients: a rule starts one, and the next rule may run before it has
    ended. At the end of a run all faults end, the operations have to end within ``settle`` seconds, and so has
    ``converged()`` to return what counts as true, if the machine has that method. ``self.world`` is the world.

    With ``ticks`` the machine is around a program that moves in ticks: it has ``start()`` and ``tick(now)``, and is
    sent ``commands``. ``self.world`` has its ``clock`` and its ``disk``.

    Args:
        clients: how many operations run at the same time, at most.
        settle: how many simulated seconds the calm phase at the end may take.
        faults: a list such as ``[simulate.crash(), simulate.partition()]``.
        ticks: how many ticks a run takes at most; each run draws a number up to it.
        tick_length: how many simulated seconds a tick takes.

    Raises:
        SimulationError: an argument cannot be used.
    """
    checked_number("clients", clients, 1)
    checked_seconds("settle", settle)
    if ticks is not None:
        return ticking(ticks, tick_length, float(settle), checked_faults(faults))
    return MachineWorld(clients, settle, RunSettings(faults=checked_faults(faults)))


#: What the `world` of a machine may be.
WORLDS = (MachineWorld, Ticking)


class WorldLoop(MachineLoop):
    """The loop of one machine with a world. Not thread-safe, and not copied: coroutines cannot be."""

    _has_main = False

    def __init__(
        self,
        settings: MachineWorld,
        *,
        awaited: Collection[CodeType],
        converged: Callable[[], object] | None,
        invariants: Callable[[], None] | None = None,
    ) -> None:
        """Coroutines of the code in ``awaited`` run to their end, before the next rule.

        Calls ``invariants()`` before each event while operations run, and ``converged()`` in the calm phase.
        """
        super().__init__(settings.settings)
        self._world_settings = settings
        self._awaited = awaited
        self._converged = converged
        self._invariants = invariants
        self._operations: list[asyncio.Task[Any]] = []
        self._world: World | None = None
        self._outer: BaseException | None = None

    @property
    def world(self) -> World:
        """The world of the machine."""
        self.open()
        assert self._world is not None
        return self._world

    def open(self) -> asyncio.Runner:
        """Return what runs coroutines; makes the world when it is first needed."""
        is_new = self._runner is None
        runner = super().open()
        if is_new:
            self._outer = sys.exception()
            faults = [fault for fault in self._settings.faults if isinstance(fault, NodeFault)]
            self._world = World(self._loop, faults)
        return runner

    def run[Result](self, coroutine: Coroutine[Any, Any, Result]) -> Any:
        """Start an operation, and let the world go on for as long as the tape says."""
        try:
            self.open()
            loop: SimulationLoop = self._loop
            if getattr(coroutine, "cr_code", None) in self._awaited:
                # What the test itself waits for is never cancelled; what it starts meanwhile may be.
                return self._watched(lambda: loop.run_until_complete(loop.create_task(coroutine)), has_main=True)
            self._watched(lambda: self._operate(loop, coroutine))
        except BaseException:
            end_unstarted(coroutine)  # the run has failed: what it waits for as a task is of no interest
            raise
        return None

    def _operate(self, loop: SimulationLoop, coroutine: Coroutine[Any, Any, Any]) -> None:
        task = loop.create_task(coroutine)
        self._operations.append(task)
        loop.operations = self._operations
        steps = HEAD_STARTS[loop.decide(ORDER, _CLIENT, _RULE_SITE, len(HEAD_STARTS))]
        if steps is None:
            loop.run_while(self._checking(lambda: not task.done()), is_idle_allowed=True)
        else:
            end = loop.steps + steps
            loop.run_while(self._checking(lambda: loop.steps < end and not task.done()), is_idle_allowed=True)
        is_full = self._checking(lambda: self._busy() >= self._world_settings.clients)
        if is_full():
            loop.run_while(is_full)

    def _checking(self, condition: Callable[[], bool]) -> Callable[[], bool]:
        """Return a condition that checks the invariants whenever it is asked, which is between two events."""
        invariants = self._invariants
        if invariants is None:
            return condition

        def checked() -> bool:
            invariants()
            return condition()

        return checked

    def _busy(self) -> int:
        return sum(not task.done() for task in self._operations)

    def _failure(self) -> BaseException | None:
        ended = [task for task in self._operations if task.done()]
        self._operations = [task for task in self._operations if not task.done()]
        errors = [task.exception() for task in ended if not task.cancelled()]
        return next((error for error in errors if error is not None), None) or super()._failure()

    def close(self) -> None:
        """End the faults, wait for what is still to happen, unless the run has failed already, and close the loop."""
        if self._runner is None:
            return
        try:
            if sys.exception() is self._outer:
                self._watched(self._settle)
        finally:
            self._end()

    def _end(self) -> None:
        """End the nodes, and what is left of the operations, as at the end of any run."""
        self._count_run()
        loop: SimulationLoop = self._loop
        self._runner = self._loop = self._world = None
        self._operations.clear()
        try:
            with self._installed, self._surroundings.act_for(loop):
                if self._has_failed:
                    loop.abandon()
                else:
                    loop.shut_down()
                failure = failure_of(loop)
                loop.close()
        except SimulationFailure as error:
            failure = error
        if failure is not None and not self._has_failed:
            raise failure

    def _settle(self) -> None:
        loop: SimulationLoop = self._loop
        self.world.calm()
        limit = loop.now + self._world_settings.settle
        if self._busy():
            loop.long_waits = LongWaits(loop, self._operations, self._waited_long)
            try:
                loop.run_until_complete(self.world.eventually("all operations have ended", lambda: not self._busy()))
            except NotReached:
                failure = loop.orphaned_wait(self._operations, is_end=True)
                if failure is None:
                    raise
                raise failure from None
            finally:
                loop.long_waits.close()
                loop.long_waits = None
        if self._converged is not None:
            within = max(limit - loop.now, 1.0)
            loop.run_until_complete(self.world.eventually("converged()", self._converged, within=within))

    def _waited_long(self, record: TaskRecord, code: CodeType) -> None:
        """End the run: an operation waited although it could have gone on."""
        loop: SimulationLoop = self._loop
        what = f"at {loop.now:.3f} s `{code.co_qualname}` went through at once, for which {record.name} had just waited"
        error = LongWait(
            f"{what} until its time-out: nothing else ran in between, so nobody had woken it", site=code.co_qualname
        )
        loop.broken = loop.broken or error

    def __copy__(self) -> Any:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._runner is not None:
            raise SimulationError("a world cannot be copied", hint="its machine repeats its steps in place of a copy")
        return None  # the copy of the machine makes its own
