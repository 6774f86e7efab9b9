"""What the rules and the faults of a machine did in the runs of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ordeal._base.formatting import counted, one_line
from ordeal._base.world_reach import OF_WORLDS

#: A rule that did not run in this many runs is worth a remark.
RUNS_TO_REMARK = 500


@dataclass(frozen=True, slots=True)
class UnderFault:
    """The ``steps`` of a rule under a fault, or without one where ``fault`` is None, and how many of them failed."""

    fault: str | None
    steps: int
    failures: int


@dataclass(frozen=True, slots=True)
class RuleUse:
    """What a rule did in the runs of an exploration: first without a fault, then under each fault of the machine.

    A step with two faults on counts for both. One fails that raises or breaks an invariant, and no step is one that
    ``assume()`` rejects. Replays are not counted, nor are runs that start from a state held by a process.
    """

    name: str
    cells: tuple[UnderFault, ...]

    @property
    def ran(self) -> bool:
        """Whether there was a step of it."""
        return any(cell.steps for cell in self.cells)


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


def unused_remark(uses: Sequence[RuleUse], runs: int) -> str:
    """Return a remark on the rules that never ran; empty if all did, or none, or there were few runs."""
    never = [use.name for use in uses if not use.ran]
    if runs < RUNS_TO_REMARK or not never or len(never) == len(uses):
        return ""
    names = ", ".join(never[:5]) + (f" and {len(never) - 5} more" if len(never) > 5 else "")
    which, them = ("Rule", "it") if len(never) == 1 else ("Rules", "them")
    ran = f"{which} {names} never ran to the end in {counted(runs, 'run')}"
    return f"{ran}: `ordeal doctor` says what keeps {them} from it."


def world_lines(uses: Sequence[FaultUse]) -> list[str]:
    """Return how often the faults of simulated worlds struck, for people."""
    own = [use for use in uses if use.is_of_world]
    if not own:
        return []
    head = f"World, in {counted(max(use.runs for use in own), 'run')}:"
    return [head, *(f"  {one_line(use.name)} struck {counted(use.hits, 'time')}" for use in own)]
