"""``ordeal explore --on slurm|kubernetes --dry-run``: prints what would be started, and starts nothing."""

from __future__ import annotations

import dataclasses
import importlib

from ordeal._engine.parallel.fleet.plan import FleetPlan, make_plan
from ordeal.cli import terminal
from ordeal.config import OrdealConfig
from ordeal.config.options import ExplorationOptions, options_of_entry
from ordeal.errors import ConfigError

#: The launchers that give a scheduler a text.
_BATCH = ("slurm", "kubernetes")


def print_jobs(config: OrdealConfig, options: ExplorationOptions) -> int:
    """Print the job of each class, one document after the other, and return 0. No address with a password is in them.

    Raises:
        ConfigError: the members are not started by a scheduler.
    """
    kind = (options.on or "").partition(":")[0]
    if kind not in _BATCH:
        given = f"`--on {options.on}`" if options.on else "an exploration here"
        raise ConfigError(f"{given} submits no job to print", hint="drop `--dry-run`; it is for slurm and kubernetes")
    for number, test in enumerate(config.tests):
        own = options_of_entry(options, test)
        plan = make_plan(test.class_path, own)
        terminal.write("---\n" * (number > 0 and kind == "kubernetes") + _text(kind, plan))
    return 0


def _text(kind: str, plan: FleetPlan) -> str:
    module = importlib.import_module(f"ordeal._engine.parallel.fleet.on_{kind}")
    # No launcher waits for members that people start.
    return str(module.job_text(plan, dataclasses.replace(plan.task, alone=True)))
