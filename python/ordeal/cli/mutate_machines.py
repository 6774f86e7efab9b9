"""``ordeal mutate --with machines``: the machines of the configuration judge the mutants."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ordeal._engine.mutation.machines.running import MachineJudgement, MachineOptions, judge_with_machines
from ordeal._engine.mutation.mutants import Mutant
from ordeal._engine.mutation.source import Source
from ordeal._engine.mutation.verdicts import Score, Verdict
from ordeal._report.machine_mutation import machine_mutation_json, machine_mutation_text
from ordeal.cli import INTERRUPTED, terminal
from ordeal.config import load_config_for
from ordeal.errors import ConfigError


def run(
    given: Mapping[str, Any],
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    workers: int,
    progress: Callable[[Verdict], None],
) -> int:
    """Judge mutants by machines, and print the report. Return the exit code."""
    options = options_of(given, workers)
    judgement = judge_with_machines(sources, mutants, options, folder=Path.cwd(), progress=progress)
    if given["json"]:
        terminal.write(json.dumps(machine_mutation_json(sources, judgement), indent=2) + "\n")
    else:
        terminal.write(machine_mutation_text(sources, judgement))
    return exit_code(judgement, given["threshold"])


def options_of(given: Mapping[str, Any], workers: int) -> MachineOptions:
    """Return how the machines of the configuration judge.

    Raises:
        ConfigError: it names none.
    """
    config = load_config_for((), given["config"])
    if not config.tests:
        raise ConfigError(
            f"{given['config']} names no machine", hint='add an entry [[tests]] with class = "module:Class"'
        )
    return MachineOptions(
        tuple(test.class_path for test in config.tests),
        tuple(config.explorer.target_modules),
        runs=given["runs"],
        seed=given["seed"],
        workers=workers,
        matrix=given["matrix"],
    )


def exit_code(judgement: MachineJudgement, threshold: float | None) -> int:
    """Return 0, 1 for a score below the threshold, or what an interruption ends with."""
    if judgement.was_interrupted:
        return INTERRUPTED
    percent = Score.of(judgement.verdicts).percent
    return int(threshold is not None and (percent is None or percent < threshold))
