"""Strikes the nodes of a world: after some steps a node crashes, pauses or is cut off for a while."""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ordeal.simulate.nodes.node import Node
from ordeal.simulate.runtime.decisions import KINDS, name_key
from ordeal.simulate.runtime.faults import (
    DISK_FAULTS,
    LENGTH,
    LENGTHS,
    MANNER,
    SKEWS,
    STEP,
    STRIKES,
    NodeFault,
    length_s,
    strike_step,
)
from ordeal.simulate.runtime.loop import SimulationLoop

_LENGTH_SITE, _MANNER_SITE = name_key(LENGTH), name_key(MANNER)
_STEP_SITE = name_key(STEP)
#: Ways to cut a node off: from all others both ways, what it sends, what it gets; then the same for one other node.
_WAYS = 3
#: What lasts beyond a life of the node: faults of the network around it, and of its disk.
_OF_SURROUNDINGS = ("partition", "clog", *DISK_FAULTS)


@dataclass(slots=True)
class _Window:
    """A fault that lasts: what ends it."""

    node: Node
    kind: str
    end: Callable[[], None]
    is_over: bool = False


class Nemesis:
    """The faults of one run's nodes. Each strikes a node again only when its last strike is over."""

    def __init__(self, loop: SimulationLoop, network: Any, faults: Sequence[NodeFault]) -> None:
        self._loop = loop
        self._network = network
        self._faults = faults
        self._plans: dict[str, list[tuple[int, int, NodeFault]]] = {}
        """When each node will be struck: (step, order of planning, fault)."""
        self._windows: list[_Window] = []
        self._planned = 0
        self._is_over = False

    def begin_life(self, node: Node) -> None:
        """Plan the strikes of a node that has just started."""
        self._plans[node.name] = []
        for fault in self._faults:
            # What strikes the network or the disk lasts beyond the life that it has struck.
            lasts = fault.kind in _OF_SURROUNDINGS and any(
                window.node is node and window.kind == fault.kind for window in self._windows
            )
            if fault.strikes(node.name) and not lasts:
                self._plan(node, fault)

    def _plan(self, node: Node, fault: NodeFault) -> None:
        value = self._loop.decide_evenly(KINDS.index(fault.kind), node.key, _STEP_SITE, STRIKES)
        if value and not self._is_over and node.is_up:
            self._planned += 1
            plans = self._plans[node.name]
            heapq.heappush(plans, (node.life.steps + strike_step(value), self._planned, fault))
            node.life.next_strike = plans[0][0]

    def strike(self, node: Node) -> None:
        """Do what is due after the present step of a node."""
        plans = self._plans[node.name]
        life = node.life
        while plans and plans[0][0] <= life.steps and not life.is_dead:
            *_, fault = heapq.heappop(plans)
            self._strike(node, fault)
        life.next_strike = plans[0][0] if plans else sys.maxsize

    def _strike(self, node: Node, fault: NodeFault) -> None:
        if self._loop.log is not None:
            self._loop.log(self._loop.now, node.name, f"fault {fault.kind}")
        self._loop.count_strike(fault.kind, node.name)
        self._loop.note_cause(fault.kind, "", of=(node.name, STEP))
        life = node.life
        if fault.kind == "reset":
            ends = self._loop.ends_of(node.name)
            if ends:
                ends[-1 - self._manner(node, fault, len(ends))].reset_both()  # the newest with 0
            self._plan(node, fault)
        elif fault.kind == "skew":
            share, rate = SKEWS[self._manner(node, fault, len(SKEWS))]
            node.skew(share * fault.longest, rate=rate)
            self._plan(node, fault)
        elif fault.kind == "partition":
            peers = [other.name for other in self._network.nodes if other is not node]
            which, way = divmod(self._manner(node, fault, _WAYS * (len(peers) + 1)), _WAYS)
            others = [*peers, ""] if which == 0 else [peers[which - 1]]
            out, back = [(node.name, other) for other in others], [(other, node.name) for other in others]
            links = [[*out, *back], out, back][way]
            self._network.cut(links)
            self._last(node, fault, lambda: self._network.heal_links(links))
        elif fault.kind == "crash":
            node.crash()
            self._last(node, fault, lambda: None if node.is_up else node.restart())
        elif fault.kind == "clog":
            self._network.clog(node, length_s(self._manner(node, fault, LENGTHS), fault.longest))
            self._last(node, fault, lambda: self._network.clog(node, 0.0))
        elif fault.kind in DISK_FAULTS:
            struck = DISK_FAULTS[fault.kind]
            node.disk.begin_fault(struck)
            self._last(node, fault, lambda: node.disk.end_fault(struck))
        elif fault.kind == "pause":
            node.pause()
            self._last(node, fault, life.resume)
        else:
            node.slow(length_s(self._manner(node, fault, LENGTHS), fault.longest))
            self._last(node, fault, lambda: setattr(life, "step_s", 0.0), longest=10.0)

    def _manner(self, node: Node, fault: NodeFault, bound: int) -> int:
        return self._loop.decide_evenly(KINDS.index(fault.kind), node.key, _MANNER_SITE, max(bound, 1))

    def _last(self, node: Node, fault: NodeFault, end: Callable[[], None], *, longest: float | None = None) -> None:
        """Let a fault end after a time that is drawn, and plan its next strike."""
        value = self._loop.decide_evenly(KINDS.index(fault.kind), node.key, _LENGTH_SITE, LENGTHS)
        window = _Window(node, fault.kind, end)
        self._windows.append(window)

        def over() -> None:
            if not window.is_over:
                window.is_over = True
                self._windows.remove(window)
                life = node.life
                end()
                # A new life has planned again what ended with the one before.
                if fault.kind in _OF_SURROUNDINGS or (node.life is life and fault.kind != "crash"):
                    self._plan(node, fault)

        timer = self._loop.at(self._loop.now + length_s(value, longest or fault.longest), over)
        self._loop.name_timer(timer, node.name, f"fault {fault.kind} is over")

    def end(self) -> None:
        """Strike no node any more, and end all faults that last."""
        self._is_over = True
        windows, self._windows = self._windows, []
        for window in windows:
            window.is_over = True
            window.end()
        for plans in self._plans.values():
            plans.clear()
