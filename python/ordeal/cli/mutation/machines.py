"""Machines as judges of mutants."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._report.machine_mutation import machine_mutation_json, machine_mutation_text
from ordeal._tools.mutation import saved
from ordeal._tools.mutation.dead import told
from ordeal._tools.mutation.machines.running import MachineOptions, judge_with_machines, keep_judgement
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal.cli import terminal
from ordeal.cli.mutation.files import say_if_lost, write_files
from ordeal.cli.mutation.progress import MutationProgress
from ordeal.config import load_config_for
from ordeal.errors import ConfigError

#: Runs that fail on a mutant and pass on the program: they judge mutants, as saved failures do.
GUARDS = ".ordeal/guards"


def by_machines(
    given: Mapping[str, Any],
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    workers: int,
    left_out: dict[str, int],
    drawn_from: int,
) -> Judgement:
    """Judge mutants by machines, print the report, and keep what they said. Return the verdicts."""
    options = machine_options(given, workers)
    with closing(MutationProgress(len(mutants))) as progress:
        found = judge_with_machines(sources, mutants, options, folder=Path.cwd(), progress=progress.take)
    found.verdicts, found.left_out = told(sources, found.verdicts, Path.cwd()), left_out
    found.drawn_from = drawn_from
    judgement = Judgement(found.verdicts, was_interrupted=found.was_interrupted, left_out=left_out)
    write_files(given, sources, judgement, found)
    if given["json"]:
        terminal.write(json.dumps(machine_mutation_json(sources, found), indent=2) + "\n")
    else:
        text = machine_mutation_text(sources, found, every=given["every"], with_rates=given["rates"])
        terminal.write(text)
        if any(each.word == "survived" for each in found.verdicts):
            config = [] if given["config"] == "ordeal.toml" else ["-c", given["config"]]
            words = shlex.join([*given["paths"], *config])
            terminal.write(one_line(f"a test that notices one of them: ordeal mutate kill ID {words}".rstrip()) + "\n")
    say_if_lost(saved.save(Path.cwd(), "", judgement))
    keep_judgement(Path.cwd(), found)
    return judgement


def machine_options(given: Mapping[str, Any], workers: int) -> MachineOptions:
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
        memory=given["memory"],
        saved=(config.report.corpus_dir, config.report.traces_dir, GUARDS, *given["traces"]),
    )
