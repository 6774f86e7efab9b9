"""What a fault did in the runs of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ordeal._base.formatting import counted, one_line
from ordeal._base.world_reach import OF_WORLDS


@dataclass(frozen=True, slots=True)
class FaultUse:
    """In how many ``runs`` a fault was on, how many ``calls`` met it then, and how many it changed: ``hits``.

    Replays are not counted, nor are runs that start from a state held by a process.
    """

    name: str
    runs: int
    calls: int
    hits: int

    @property
    def is_of_world(self) -> bool:
        """Whether it is a fault of a simulated world."""
        return self.name.startswith(OF_WORLDS)

    def remark(self) -> str:
        """Return a remark on a fault that was on and did nothing; empty for one that did something, or was never on."""
        if not self.runs or self.hits:
            return ""
        if self.is_of_world:
            why = "changed nothing that it met" if self.calls else "met nothing: what it names was not there"
            return f"Fault {self.name} was part of {counted(self.runs, 'run')}, and {why}."
        on = f"Fault {self.name} was on in {counted(self.runs, 'run')}"
        if not self.calls:
            return f"{on}, met 0 calls: see that the rules call its target."
        return f"{on}, met {counted(self.calls, 'call')} and changed nothing in any of them."


def world_lines(uses: Sequence[FaultUse]) -> list[str]:
    """Return how often the faults of simulated worlds struck, for people."""
    own = [use for use in uses if use.is_of_world]
    if not own:
        return []
    head = f"World, in {counted(max(use.runs for use in own), 'run')}:"
    return [head, *(f"  {one_line(use.name)} struck {counted(use.hits, 'time')}" for use in own)]
