"""Decides whether an exploration without a failure did enough work for this to be a claim."""

from __future__ import annotations

from collections.abc import Sequence

from ordeal._base.formatting import counted, name_list
from ordeal._engine.execution.settings import Tally
from ordeal.result import Inconclusive


def why_inconclusive(
    tally: Tally, *, max_time: float, idle_workers: int, unreached: Sequence[str]
) -> Inconclusive | None:
    """Return what was left undone, or None.

    ``idle_workers`` never finished a run; no code ran of the targets ``unreached``.
    """
    if idle_workers:
        workers = counted(idle_workers, "worker")
        return Inconclusive(
            f"{workers} never came to the end of a run in {max_time:g} s",
            "give it more time or fewer steps in a run, or look for what a rule waits for, such as a lock",
        )
    if not tally.runs:
        return Inconclusive(
            f"no run came to its end in {max_time:g} s", "give it more time, or look for what it waits for"
        )
    runs = counted(tally.runs, "run")
    if tally.overrun >= tally.runs:
        return Inconclusive(
            f"all {runs} needed more data than Hypothesis allows",
            "draw smaller collections and texts: all arguments of a run may fill 8 KiB",
        )
    if tally.rejected >= tally.runs:
        return Inconclusive(
            f"all {runs} were rejected by assume() or a filter", "have the rules draw only what they accept"
        )
    if not tally.steps:
        return Inconclusive(f"no step was made in {runs}", "see that a rule can run from a fresh machine")
    if unreached:
        hint = "have the rules call it, name the module whose code they do call, or take it out of target_modules"
        return Inconclusive(f"no code of {name_list(unreached)} ran", hint)
    return None
