"""How often a rule ran in an exploration, without a fault and under each, and how often it failed then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ordeal._base.formatting import counted

#: A rule that did not run in so many runs is worth a remark.
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


def unused_remark(uses: Sequence[RuleUse], runs: int) -> str:
    """Return a remark on the rules that never ran; empty if all did, or none, or there were few runs."""
    never = [use.name for use in uses if not use.ran]
    if runs < RUNS_TO_REMARK or not never or len(never) == len(uses):
        return ""
    names = ", ".join(never[:5]) + (f" and {len(never) - 5} more" if len(never) > 5 else "")
    which, them = ("Rule", "it") if len(never) == 1 else ("Rules", "them")
    ran = f"{which} {names} never ran to the end in {counted(runs, 'run')}"
    return f"{ran}: `ordeal doctor` says what keeps {them} from it."
