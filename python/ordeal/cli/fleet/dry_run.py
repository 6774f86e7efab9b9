"""``ordeal explore --on ... --dry-run``: prints what would be started or sent, and starts nothing."""

from __future__ import annotations

import dataclasses
import importlib

from ordeal._base.formatting import counted, one_line
from ordeal._engine.parallel.fleet.cluster import packed_project, project_of
from ordeal._engine.parallel.fleet.plan import make_plan
from ordeal.cli import terminal
from ordeal.config.options import ExplorationOptions, options_of_entry
from ordeal.config.settings_file import OrdealConfig
from ordeal.errors import ConfigError

#: The launchers that give a scheduler a text, and those that send the project.
_BATCH, _CLUSTERS = ("slurm", "kubernetes"), ("ray", "dask")


def print_plans(config: OrdealConfig, options: ExplorationOptions) -> int:
    """Print the job of each class, or the files that a cluster is sent, and return 0. No password is in them.

    Raises:
        ConfigError: the members run here.
    """
    kind = (options.on or "").partition(":")[0]
    if kind not in _BATCH + _CLUSTERS:
        given = f"`--on {options.on}`" if options.on else "an exploration here"
        raise ConfigError(
            f"{given} submits and sends nothing", hint="drop `--dry-run`: it is for fleets on other hosts"
        )
    for number, test in enumerate(config.tests):
        plan = make_plan(test.class_path, options_of_entry(options, test))
        if kind in _BATCH:
            module = importlib.import_module(f"ordeal._engine.parallel.fleet.on_{kind}")
            # No launcher waits for members that people start.
            job = str(module.job_text(plan, dataclasses.replace(plan.task, alone=True)))
            terminal.write("---\n" * (number > 0 and kind == "kubernetes") + job)
        elif number == 0:
            lines = ["Nothing is sent: all nodes have the project."]
            if (project := project_of(plan)) is not None:
                sent = packed_project(project, plan.store)
                size = counted(-(-len(sent.data) // 1024), "KiB")
                lines = [f"Sent: {counted(len(sent.files), 'file')}, {size} packed"]
                lines += [f"  {one_line(name)}" for name in sent.files]
                if sent.left_out:
                    lines.append(f"Not sent: {counted(len(sent.left_out), 'file')}, and what .gitignore names")
                    lines += [f"  {one_line(name)}: {why}" for name, why in sent.left_out.items()]
            terminal.write("\n".join(lines) + "\n")
    return 0
