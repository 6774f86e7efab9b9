"""The faults of a simulated run: tasks that are cancelled, steps and packets that take long, and those of nodes."""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ordeal.simulate.arguments import checked_seconds
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.runtime.node_faults import NODE_FAULTS, NodeFault

#: How long a step takes at most unless a fault says otherwise, in seconds.
JITTER_S = 0.01
_HOUR_S = 3600.0
CLIENTS, ALL = "clients", "all"


@dataclass(frozen=True, slots=True)
class Cancel:
    """Tasks may be cancelled, each at most once; made by ``cancel``."""

    tasks: str

    def strikes(self, name: str, *, is_client: bool) -> bool:
        """Return whether a task with this name may be cancelled; ``is_client`` says that the test made it."""
        if self.tasks in (CLIENTS, ALL):
            return is_client or self.tasks == ALL
        return fnmatch.fnmatchcase(name, self.tasks) or fnmatch.fnmatchcase(name.rpartition("#")[0], self.tasks)


@dataclass(frozen=True, slots=True)
class Stall:
    """A step may take long; made by ``stall``."""

    longest: float


@dataclass(frozen=True, slots=True)
class Latency:
    """Packets may be late; made by ``latency``."""

    longest: float


SimulatedFault = Cancel | Stall | Latency | NodeFault


def cancel(tasks: str = CLIENTS) -> Cancel:
    """Return a fault that cancels tasks where they wait, half of them between their wake-up and their turn.

    A task is cancelled once at most, and never the test itself.

    Args:
        tasks: ``"clients"`` for the tasks that the test makes, without those that a library makes for itself when the
            test calls it, and those behind ``asyncio.shield``: nobody has them to cancel. ``"all"`` for every task, or
            a pattern of names such as ``"worker*"``. Without a name of its own, a task has that of its coroutine
            function.

    Raises:
        SimulationError: ``tasks`` is not a text, or empty.
    """
    given: Any = tasks
    if not isinstance(given, str) or not given:
        raise SimulationError(
            f"tasks is {tasks!r:.100}", hint='write "clients", "all", or a pattern of names such as "worker*"'
        )
    return Cancel(tasks)


def stall(longest: float = 2.0) -> Stall:
    """Return a fault that lets the steps of tasks take up to ``longest`` seconds of simulated time.

    Short stalls are frequent and long ones rare; half of them last until the next timer is due, so that time-outs meet
    what they guard. Without this fault, steps take up to 10 ms.

    Raises:
        SimulationError: ``longest`` is not a number of seconds above 0 and up to an hour.
    """
    return Stall(checked_seconds("longest", longest, _HOUR_S))


def latency(longest: float = 2.0) -> Latency:
    """Return a fault that lets packets of the simulated network take up to ``longest`` seconds.

    Within a connection no packet overtakes another, and none is lost. Without this fault they take up to 10 ms.

    Raises:
        SimulationError: ``longest`` is not a number of seconds above 0 and up to an hour.
    """
    return Latency(checked_seconds("longest", longest, _HOUR_S))


def checked_faults(faults: Any) -> tuple[SimulatedFault, ...]:
    """Return the faults as a tuple.

    Raises:
        SimulationError: one of them is not a fault of a simulation.
    """
    hint = "write a list such as `faults=[simulate.cancel(), simulate.stall()]`"
    if isinstance(faults, str | bytes) or not isinstance(faults, Iterable):
        raise SimulationError(f"faults is {faults!r:.100}", hint=hint)
    checked = tuple(faults)
    for fault in checked:
        if not isinstance(fault, SimulatedFault):
            raise SimulationError(f"{fault!r:.100} is not a fault of a simulation", hint=hint)
    return checked


def stall_lengths(faults: Iterable[SimulatedFault]) -> tuple[float, ...]:
    """Return how long a step may take, from the shortest: 1 ms, 10 ms, 100 ms, and so on up to the longest."""
    if not faults:
        return _up_to(JITTER_S)
    return _up_to(max((fault.longest for fault in faults if isinstance(fault, Stall)), default=JITTER_S))


def packet_latencies(faults: Iterable[SimulatedFault]) -> tuple[float, ...]:
    """Return how long a packet may take, in the same steps; the first is what it usually takes."""
    if not faults:
        return _up_to(JITTER_S)
    return _up_to(max((fault.longest for fault in faults if isinstance(fault, Latency)), default=JITTER_S))


@functools.lru_cache(maxsize=256)
def _up_to(longest: float) -> tuple[float, ...]:
    return (*(length for length in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0) if length < longest), longest)


def fault_text(fault: SimulatedFault) -> str:
    """Return the fault as a file holds it; ``fault_of_text`` reverses it."""
    if isinstance(fault, Cancel):
        return f"cancel {fault.tasks}"
    if isinstance(fault, NodeFault):
        return f"{fault.kind} {fault.longest!r} {fault.nodes}"
    return f"{type(fault).__name__.lower()} {fault.longest!r}"


def fault_of_text(text: str) -> SimulatedFault:
    """Return the fault behind a text; raises SimulationError when there is none."""
    kind, _, argument = text.partition(" ")
    longest, _, nodes = argument.partition(" ")
    try:
        if kind == "cancel":
            return cancel(argument)
        if kind == "stall":
            return stall(float(argument))
        if kind == "latency":
            return latency(float(argument))
        if kind in NODE_FAULTS and nodes:
            return NodeFault(kind, nodes, checked_seconds("longest", float(longest), _HOUR_S))
    except ValueError:
        pass
    raise SimulationError(f"{text!r:.100} is not a fault of a simulation")
