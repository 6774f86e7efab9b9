"""The faults of a world's nodes: crashes, pauses, partitions, resets, slow nodes and clocks that are wrong."""

from __future__ import annotations

import fnmatch
import math
from dataclasses import dataclass
from typing import Any

from ordeal.simulate.arguments import checked_seconds
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.file_system import DiskFault

NODE_FAULTS = ("crash", "pause", "partition", "reset", "slow", "skew", "clog", "disk_full", "disk_error")
#: Those of the disk of a node, each with what the whole disk is then.
DISK_FAULTS: dict[str, DiskFault] = {"disk_full": "full", "disk_error": "broken"}
#: How many values the step has at which a fault strikes, and the latest such step: each value is some percent later.
STRIKES = 256
LATEST_STEP = 3_000
#: How many lengths a fault may last, the shortest of them as a share of the longest.
LENGTHS = 16
#: The sites of the decisions about a strike: when it comes, how long it lasts, and in what way it strikes.
STEP, LENGTH, MANNER = "its steps", "how long", "in what way"
#: The sites of the decisions about a disk: how many changes are lost, and how much of the first of them survives.
NOT_SYNCED, TORN = "what is not synced", "the first write that is lost"
#: How a clock is wrong: the share of the longest offset, and the rate.
SKEWS = ((1.0, 1.0), (-1.0, 1.0), (0.1, 1.0), (-0.1, 1.0), (0.0, 1.01), (0.0, 0.99), (1.0, 1.01), (-1.0, 0.99))
_SHORTEST_SHARE = 1 / 1_000
_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class NodeFault:
    """Nodes may be struck by ``kind``; made by ``crash``, ``pause`` and the like."""

    kind: str
    nodes: str
    longest: float

    def strikes(self, name: str) -> bool:
        """Return whether it may strike the node of this name."""
        return fnmatch.fnmatchcase(name, self.nodes)


def strike_step(value: int) -> int:
    """Return after how many steps of a node a fault strikes it, by the value of the decision, which is not 0."""
    return max(value, round(math.exp(math.log(LATEST_STEP) * value / (STRIKES - 1)))) if value < STRIKES else value


def length_s(value: int, longest: float) -> float:
    """Return how long a fault lasts, by the value of the decision: the larger the longer."""
    share = _SHORTEST_SHARE ** (1 - min(value, LENGTHS - 1) / (LENGTHS - 1))
    return float(longest * share)


def _fault(kind: str, nodes: Any, longest: Any, most: float = _HOUR_S) -> NodeFault:
    if not isinstance(nodes, str) or not nodes:
        raise SimulationError(f"nodes is {nodes!r:.100}", hint='write a pattern of names such as "db*"')
    return NodeFault(kind, nodes, checked_seconds("longest", longest, most))


def crash(nodes: str = "*", *, longest: float = 10.0) -> NodeFault:
    """Return a fault that crashes nodes, and restarts each after up to ``longest`` seconds.

    What the disk of the node had not synced is lost, in part or altogether; its peers see a reset, or nothing.

    Args:
        nodes: a pattern of the names of nodes.
        longest: for how many seconds a node stays down at most.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("crash", nodes, longest)


def pause(nodes: str = "*", *, longest: float = 10.0) -> NodeFault:
    """Return a fault that lets nodes stand still for up to ``longest`` seconds, as a process does that is swapped out.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("pause", nodes, longest)


def partition(nodes: str = "*", *, longest: float = 10.0) -> NodeFault:
    """Return a fault that cuts nodes off from the others, in one direction or both, for up to ``longest`` seconds.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("partition", nodes, longest)


def reset(nodes: str = "*") -> NodeFault:
    """Return a fault that resets connections of nodes.

    Raises:
        SimulationError: the pattern is no text, or empty.
    """
    return _fault("reset", nodes, 1.0)


def slow(nodes: str = "*", *, longest: float = 0.1) -> NodeFault:
    """Return a fault that lets each step of a node take up to ``longest`` seconds, for a while.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("slow", nodes, longest)


def clog(nodes: str = "*", *, longest: float = 10.0) -> NodeFault:
    """Return a fault that clogs nodes for a while: whatever they send and get takes up to ``longest`` seconds longer.

    Several nodes may be clogged at a time, and become free in another order.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("clog", nodes, longest)


def disk_full(nodes: str = "*", *, longest: float = 10.0) -> NodeFault:
    """Return a fault that lets the disks of nodes be full for up to ``longest`` seconds: writing raises ``ENOSPC``.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("disk_full", nodes, longest)


def disk_error(nodes: str = "*", *, longest: float = 10.0) -> NodeFault:
    """Return a fault that lets the disks of nodes fail for up to ``longest`` seconds.

    Reading, writing and syncing files raise ``EIO``. What was not synced by then may be lost in the next crash, as
    ever.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("disk_error", nodes, longest)


def skew(nodes: str = "*", *, longest: float = 10.0) -> NodeFault:
    """Return a fault that sets the clocks of nodes wrong: by up to ``longest`` seconds, and going up to 1 % wrong.

    Raises:
        SimulationError: an argument cannot be used.
    """
    return _fault("skew", nodes, longest)
