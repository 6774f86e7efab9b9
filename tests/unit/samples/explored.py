"""Explores a machine with one kind of checkpoint, alike in all else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

from ordeal.explore import ExplorationResult, Explorer, Tuning

KINDS = ("copy", "replay", "fork")


def explore(machine: type[RuleBasedStateMachine], kind: Any, **options: Any) -> ExplorationResult:
    given = {"max_runs": 100, "max_time": 3600.0, "shrink": False, "steps_per_run": 30} | options
    modules = given.pop("target_modules", ())
    explorer = Explorer(
        machine,
        target_modules=modules,
        seed=3,
        tuning=Tuning(checkpoint_kind=kind, coverage=given.pop("coverage", "auto")),
        rule_swarm=given.pop("rule_swarm", False),
        checkpoint_prob=0.6,
    )
    return explorer.run(record_traces=True, **given)


def children() -> list[int]:
    """The processes that this one has started and that are there."""
    return [int(each) for each in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
