"""The faults of a simulated run: of nodes, and tasks, steps and packets that are cancelled or take long."""

from __future__ import annotations

import fnmatch
import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from ordeal.simulate.errors import SimulationError, checked_seconds
from ordeal.simulate.file_system import DiskFault

NODE_FAULTS = ("crash", "pause", "partition", "reset", "slow", "skew", "clog", "disk_full", "disk_error")
#: Those of the disk of a node, each with what the whole disk is then.
DISK_FAULTS: dict[str, DiskFault] = {"disk_full": "full", "disk_error": "broken"}
#: How many values the step has at which a fault strikes, and the latest such step: each value is some percent later.
STRIKES = 256
#: How many lengths a fault may last, the shortest of them as a share of the longest.
LENGTHS = 16
#: The sites of the decisions about a strike: when it comes, how long it lasts, and in what way it strikes.
STEP, LENGTH, MANNER = "its steps", "how long", "in what way"
#: The sites of the decisions about a disk: how many changes are lost, and how much of the first of them survives.
NOT_SYNCED, TORN = "what is not synced", "the first write that is lost"
#: How a clock is wrong: the share of the longest offset, and the rate.
SKEWS = ((1.0, 1.0), (-1.0, 1.0), (0.1, 1.0), (-0.1, 1.0), (0.0, 1.01), (0.0, 0.99), (1.0, 1.01), (-1.0, 0.99))
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class NodeFault:
    """Nodes may be struck by ``kind``; made by ``crash``, ``pause`` and the like."""

    kind: str
    nodes: str
    longest: float

    def strikes(self, name: str) -> bool:
        """Return True if it may strike the node of this name."""
        return fnmatch.fnmatchcase(name, self.nodes)


def strike_step(value: int) -> int:
    """Return after how many steps of a node a fault strikes it, by the value of the decision, which is not 0."""
    return max(value, round(math.exp(math.log(3_000) * value / (STRIKES - 1)))) if value < STRIKES else value


def length_s(value: int, longest: float) -> float:
    """Return how long a fault lasts, by the value of the decision: the larger the longer."""
    share = 0.001 ** (1 - min(value, LENGTHS - 1) / (LENGTHS - 1))
    return float(longest * share)


class _NodeFaultMaker(Protocol):
    def __call__(self, nodes: str = "*", *, longest: float = ...) -> NodeFault: ...


def _of_nodes(kind: str, what: str, usually: float = 10.0) -> _NodeFaultMaker:
    """Return the function that makes the faults of one kind."""

    def fault(nodes: str = "*", *, longest: float = usually) -> NodeFault:
        given: Any = nodes
        if not isinstance(given, str) or not given:
            raise SimulationError(f"nodes is {nodes!r:.100}", hint='write a pattern of names such as "db*"')
        return NodeFault(kind, nodes, checked_seconds("longest", longest, _HOUR_S))

    fault.__name__ = fault.__qualname__ = kind
    fault.__doc__ = f"""Return a fault that {what}

    Args:
        nodes: a pattern of the names of nodes.
        longest: the most, in seconds.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return fault


crash = _of_nodes(
    "crash",
    "crashes nodes, and restarts each after up to ``longest`` seconds.\n\n"
    "    What the disk of the node had not synced is lost, in part or altogether; its peers see a reset, or nothing.",
)
pause = _of_nodes("pause", "lets nodes stand still for up to ``longest`` seconds, as a process that is swapped out.")
partition = _of_nodes(
    "partition", "cuts nodes off from the others, in one direction or both, for up to ``longest`` seconds."
)
slow = _of_nodes("slow", "lets each step of a node take up to ``longest`` seconds, for a while.", usually=0.1)
clog = _of_nodes(
    "clog",
    "clogs nodes for a while: all that they send and get takes up to ``longest`` seconds longer.\n\n"
    "    Several nodes may be clogged at a time, and become free in another order.",
)
disk_full = _of_nodes(
    "disk_full", "lets the disks of nodes be full for up to ``longest`` seconds: writing raises ``ENOSPC``."
)
disk_error = _of_nodes(
    "disk_error",
    "lets the disks of nodes fail for up to ``longest`` seconds.\n\n"
    "    Reading, writing and syncing files raise ``EIO``. The next crash may lose what was not synced by then.",
)
skew = _of_nodes(
    "skew", "sets the clocks of nodes wrong: by up to ``longest`` seconds, and running up to 1 % too fast or slow."
)
_reset = _of_nodes("reset", "")


def reset(nodes: str = "*") -> NodeFault:
    """Return a fault that resets connections of nodes.

    Raises:
        SimulationError: the pattern is not a text, or empty.
    """
    return _reset(nodes, longest=1.0)


#: How long a step takes at most unless a fault says otherwise, in seconds.
JITTER_S = 0.01
CLIENTS, ALL = "clients", "all"


@dataclass(frozen=True, slots=True)
class Cancel:
    """Tasks may be cancelled; made by ``cancel``."""

    tasks: str
    private: bool = False

    def strikes(self, name: str, *, is_client: bool) -> bool:
        """Return True if a task with this name may be cancelled; ``is_client`` says that the test made it."""
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


def cancel(tasks: str = CLIENTS, *, private: bool = False) -> Cancel:
    """Return a fault that cancels tasks where they wait, half of them between their wake-up and their turn.

    A task is cancelled twice at most, the second time while it cleans up, and never the test itself.

    Args:
        tasks: ``"clients"`` for the tasks that the test makes, without those that a library or the target makes for
            itself when the test calls it, and those behind ``asyncio.shield``: nobody has them to cancel. ``"all"`` for
            every task, or a pattern of names such as ``"worker*"``. Without its own name, a task has that of its
            coroutine function.
        private: whether clients include the tasks that a library or the target makes for itself.

    Raises:
        SimulationError: ``tasks`` is not a text, or empty.
    """
    given: Any = tasks
    if not isinstance(given, str) or not given:
        raise SimulationError(
            f"tasks is {tasks!r:.100}", hint='write "clients", "all", or a pattern of names such as "worker*"'
        )
    return Cancel(tasks, bool(private))


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


#: What a fault is without an argument, by its name on a command line.
_USUAL: dict[str, SimulatedFault] = {"cancel": cancel(), "stall": stall(), "latency": latency()}


def faults_of_option(text: str) -> tuple[SimulatedFault, ...]:
    """Return the faults that an option names, such as ``cancel,stall`` or ``cancel=worker*,stall=0.5``.

    Raises:
        SimulationError: one of them is not a fault, or what it takes cannot be used.
    """
    faults: list[SimulatedFault] = []
    for part in filter(None, map(str.strip, text.split(","))):
        name, has_argument, argument = part.partition("=")
        try:
            faults.append(fault_of_text(f"{name} {argument}") if has_argument else _USUAL[name])
        except (KeyError, SimulationError):
            raise SimulationError(
                f"{part!r:.100} is not a fault of simulated tests",
                hint="write a list such as `cancel,stall`, `cancel=worker*` or `stall=0.5,latency=1`",
            ) from None
    return tuple(faults)


def stall_lengths(faults: Iterable[SimulatedFault]) -> tuple[float, ...]:
    """Return how long a step may take, from the shortest: 1 ms, 10 ms, 100 ms, and so on up to the longest."""
    return _up_to(max((fault.longest for fault in faults if isinstance(fault, Stall)), default=JITTER_S))


def packet_latencies(faults: Iterable[SimulatedFault]) -> tuple[float, ...]:
    """Return how long a packet may take, in the same steps; the first is what it usually takes."""
    return _up_to(max((fault.longest for fault in faults if isinstance(fault, Latency)), default=JITTER_S))


@functools.lru_cache(maxsize=256)
def _up_to(longest: float) -> tuple[float, ...]:
    return (*(length for length in (0.001, 0.01, 0.1, 1.0, 10.0, 100.0) if length < longest), longest)


def fault_text(fault: SimulatedFault) -> str:
    """Return the fault as a file holds it; ``fault_of_text`` reverses it."""
    if isinstance(fault, Cancel):
        return f"{'cancel-private' if fault.private else 'cancel'} {fault.tasks}"
    if isinstance(fault, NodeFault):
        return f"{fault.kind} {fault.longest!r} {fault.nodes}"
    return f"{type(fault).__name__.lower()} {fault.longest!r}"


def fault_of_text(text: str) -> SimulatedFault:
    """Return the fault that a text names. Raises SimulationError if it names none."""
    kind, _, argument = text.partition(" ")
    longest, _, nodes = argument.partition(" ")
    try:
        if kind in ("cancel", "cancel-private"):
            return cancel(argument, private=kind == "cancel-private")
        if kind in ("stall", "latency"):
            return (stall if kind == "stall" else latency)(float(argument))
        if kind in NODE_FAULTS and nodes:
            return NodeFault(kind, nodes, checked_seconds("longest", float(longest), _HOUR_S))
    except ValueError:
        pass
    raise SimulationError(f"{text!r:.100} is not a fault of a simulation")
