"""Machines as judges of mutants, alone or beside the tests."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from ordeal._base.formatting import one_line
from ordeal._report.both_judges import both_json, both_text
from ordeal._report.machine_mutation import machine_mutation_json, machine_mutation_text
from ordeal._tools.mutation import saved
from ordeal._tools.mutation.dead import told
from ordeal._tools.mutation.machines import kept_judgement
from ordeal._tools.mutation.machines.beside_tests import together
from ordeal._tools.mutation.machines.running import MachineJudgement, MachineOptions, judge_with_machines
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement, judge_with_pytest
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.cli import terminal
from ordeal.cli.mutation.files import say_if_lost, write_files
from ordeal.cli.mutation.progress import MutationProgress
from ordeal.cli.mutation.settings import judging_options
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
    found = _judged(given, sources, mutants, workers)
    found.verdicts, found.left_out = told(sources, found.verdicts, Path.cwd()), left_out
    found.drawn_from = drawn_from
    judgement = Judgement(found.verdicts, was_interrupted=found.was_interrupted, left_out=left_out)
    write_files(given, sources, judgement, found)
    if given["json"]:
        terminal.write(json.dumps(machine_mutation_json(sources, found), indent=2) + "\n")
    else:
        text = machine_mutation_text(sources, found, every=given["every"], with_rates=given["rates"])
        terminal.write(text)
        _say_what_next(given, found.verdicts)
    say_if_lost(saved.save(Path.cwd(), "", judgement))
    kept_judgement.keep(Path.cwd(), found, {})
    return judgement


def by_both(
    given: Mapping[str, Any],
    sources: Sequence[Source],
    tests: Judgement,
    workers: int,
) -> Judgement:
    """Judge by machines what tests have judged, print one report, and keep it. Return the verdicts of both."""
    mutants = [each.mutant for each in tests.verdicts]
    examples = _by_hypothesis(given, sources, mutants, workers) if given["hypothesis"] else None
    found = _judged(given, sources, mutants, workers)
    by_tests = tests.verdicts if examples is None else together(tests.verdicts, examples.verdicts)
    verdicts = told(sources, together(by_tests, found.verdicts), Path.cwd())
    interrupted = tests.was_interrupted or found.was_interrupted
    judgement = Judgement(
        *(verdicts, tests.tests, tests.names, tests.flaky), was_interrupted=interrupted, left_out=tests.left_out
    )
    write_files(given, sources, judgement, found)
    if given["json"]:
        terminal.write(json.dumps(both_json(sources, verdicts, tests, found, examples), indent=2) + "\n")
    else:
        shown = {"every": given["every"], "with_rates": given["rates"]}
        terminal.write(both_text(sources, verdicts, tests, found, examples, **shown))
        _say_what_next(given, verdicts)
    say_if_lost(saved.save(Path.cwd(), "", judgement))
    kept_judgement.keep(Path.cwd(), found, {each.mutant.id: each.word for each in tests.verdicts})
    return judgement


def _by_hypothesis(
    given: Mapping[str, Any], sources: Sequence[Source], mutants: Sequence[Mutant], workers: int
) -> Judgement:
    """Judge by the tests in which Hypothesis runs the machines that judge."""
    terminal.say("tests in which Hypothesis runs these machines")
    with closing(MutationProgress(len(mutants))) as progress:
        return judge_with_pytest(
            sources,
            mutants,
            workers=workers,
            machines=machine_options(given, workers).machines,
            which="theirs",
            progress=progress.take,
            **judging_options(given),
        )


def _say_what_next(given: Mapping[str, Any], verdicts: Sequence[Verdict]) -> None:
    if any(each.word == "survived" for each in verdicts):
        config = [] if given["config"] == "ordeal.toml" else ["-c", given["config"]]
        words = shlex.join([*given["paths"], *config])
        terminal.write(one_line(f"a test that notices one of them: ordeal mutate kill ID {words}".rstrip()) + "\n")


def _judged(
    given: Mapping[str, Any],
    sources: Sequence[Source],
    mutants: Sequence[Mutant],
    workers: int,
) -> MachineJudgement:
    options = machine_options(given, workers)
    with closing(MutationProgress(len(mutants))) as progress:
        return judge_with_machines(sources, mutants, options, folder=Path.cwd(), progress=progress.take)


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
        matrix=given["matrix"],
        memory=given["memory"],
        saved=(config.report.corpus_dir, config.report.traces_dir, GUARDS, *given["traces"]),
    )
