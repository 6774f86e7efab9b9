"""What the settings file says about mutation testing, where the command line says nothing; what pytest is given."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ordeal.config import load_config
from ordeal.config.options import ACCEPTED_FILE
from ordeal.errors import ConfigError

_OF_VERBS = {"pin": "kill", "kill_budget": "kill", "output": "kill", "reason": "accept"}


def with_settings(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given, with the section ``[mutations]`` in the place of defaults, and its ``targets``.

    Raises:
        ConfigError: the settings file is not valid, or the one that was named is not there.
    """
    context = click.get_current_context()

    def is_given(name: str) -> bool:
        return context.get_parameter_source(name) is not ParameterSource.DEFAULT

    if not (is_given("config") or Path(given["config"]).exists()):
        return {**given, "targets": (), "accept_file": ACCEPTED_FILE}
    found = load_config(given["config"], needs_tests=False).mutations
    settings = {
        "paths": found.targets,
        "exclude": found.exclude,
        "tests": found.tests,
        "preset": found.preset,
        "operators": None if is_given("preset") else ",".join(found.operators),
        "with": found.judges,
        "threshold": found.threshold,
        "assertion_threshold": found.assertion_threshold,
        "budget": found.budget,
        "kill_budget": found.kill_budget,
    }
    told = {name: value for name, value in settings.items() if value and not is_given(name)}
    return {**given, **told, "targets": found.targets, "accept_file": found.accept_file}


def refuse_options_of_others(verb: str) -> None:
    """Refuse the options that go with another verb than this one, which is empty where mutants are judged.

    Raises:
        ConfigError: there is one.
    """
    context = click.get_current_context()
    for name, of in _OF_VERBS.items():
        if of != verb and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            flag = f"--{name.replace('_', '-')}"
            raise ConfigError(f"`{flag}` goes with `{of}`", hint=f"write `ordeal mutate {of} ...`, or leave it out")


def judging_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the judge by pytest is told whichever tests it asks, by the names of ``judge_with_pytest``."""
    return {
        "tests": test_arguments(given),
        "folder": Path.cwd(),
        "isolation": given["isolation"],
        "route": given["route"],
        "memory": given["memory"],
        "seconds": given["mutant_timeout"],
        "leave_out_failing": given["deselect_failing"],
    }


def test_arguments(given: Mapping[str, Any]) -> list[str]:
    """Return what pytest is given.

    Raises:
        ConfigError: a quotation mark has no other.
    """
    found: list[str] = []
    for each in given["tests"]:
        try:
            found += shlex.split(each)
        except ValueError:
            raise ConfigError(
                f"`--tests` is `{each}`, where a quotation mark is missing", hint="write both, or none"
            ) from None
    return [*found, "-k", given["test_filter"]] if given["test_filter"] else found
