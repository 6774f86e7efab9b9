"""Faults that could strike nothing in a search, and why: it looks green, and has tried nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Protocol

from ordeal._base.formatting import counted, one_line
from ordeal.simulate.runtime.node_faults import NodeFault
from ordeal.simulate.runtime.scheduled_faults import Cancel, Latency, SimulatedFault
from ordeal.simulate.runtime.text import fault_call

#: In so many runs a fault strikes by chance, if it can.
_RUNS_ENOUGH = 100
_NODES_MAX = 10


class _Reach(Protocol):
    runs: int
    disturbed: Counter[str]
    waited: Counter[str]
    strikes: Counter[tuple[str, str]]
    nodes: dict[str, None]
    calm_at_once: int


def vain_faults(faults: Iterable[SimulatedFault], reach: _Reach) -> Iterator[str]:
    """Yield a sentence for each fault that struck nothing, where that is no chance."""
    for fault in faults:
        why = _why(fault, reach)
        if why:
            yield one_line(f"{fault_call(fault)} struck nothing in {counted(reach.runs, 'run')}: {why}", limit=500)


def _why(fault: SimulatedFault, reach: _Reach) -> str:
    """Return why a fault cannot have struck; empty if it did, or may have."""
    is_enough = reach.runs >= _RUNS_ENOUGH
    if isinstance(fault, Cancel):
        return "" if reach.waited else "no task was there that it cancels; it never cancels the test itself"
    if isinstance(fault, Latency):
        is_vain = is_enough and not reach.disturbed["packet"] + reach.disturbed["datagram"]
        return "nothing was sent" if is_vain else ""
    if not isinstance(fault, NodeFault):
        return ""
    named = [name for name in reach.nodes if fault.strikes(name)]
    if not named:
        nodes = ", ".join(list(reach.nodes)[:_NODES_MAX])
        return f"no node has such a name, the nodes were {nodes}" if nodes else "there were no nodes"
    if any(reach.strikes[fault.kind, name] for name in named):
        return ""
    if reach.calm_at_once == reach.runs:
        return (
            "`world.eventually` ends all faults, and began before any time had passed; let the program run first, "
            "such as by `await asyncio.sleep(60)`"
        )
    return "its nodes took too few steps" if is_enough else ""
