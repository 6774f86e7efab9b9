"""What a fault did in the runs of an exploration."""

from __future__ import annotations

from dataclasses import dataclass

from ordeal._engine.formatting import counted


@dataclass(frozen=True, slots=True)
class FaultUse:
    """In how many ``runs`` a fault was on, how many ``calls`` met it then, and how many it changed: ``hits``.

    Replays are not counted, nor are runs that start from a state held by a process.
    """

    name: str
    runs: int
    calls: int
    hits: int

    def remark(self) -> str:
        """Return a remark on a fault that was on and did nothing; empty for one that did something, or was never on."""
        if not self.runs or self.hits:
            return ""
        on = f"Fault {self.name} was on in {counted(self.runs, 'run')}"
        if not self.calls:
            return f"{on}, met 0 calls: see that the rules call its target."
        return f"{on}, met {counted(self.calls, 'call')} and changed nothing in any of them."
