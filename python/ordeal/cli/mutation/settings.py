"""The settings of mutation testing, for options that the command line leaves out, and the arguments of pytest."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ordeal.config.flags import MutateOptions
from ordeal.config.settings_file import load_settings
from ordeal.config.table import values_of
from ordeal.errors import ConfigError

_OF_VERBS = {"kill_budget": "kill", "output": "kill", "on_exists": "kill", "reason": "accept"}


def with_settings(given: Mapping[str, Any]) -> MutateOptions:
    """Return the options given, completed from the section ``[mutations]`` and its ``targets``.

    Raises:
        ConfigError: the settings file is not valid, or the one that was named is not there.
    """
    section = load_settings(given["config"]).mutations
    if given["preset"] is not None:
        section = section.replaced(operators=())
    return MutateOptions(**values_of(section), paths=given["paths"] or section.targets).with_flags(given)


def refuse_options_of_others(verb: str, given: Mapping[str, Any]) -> None:
    """Refuse options that belong to another verb than this one, which is empty when mutants are judged.

    Raises:
        ConfigError: there is one.
    """
    for name, of in _OF_VERBS.items():
        if of != verb and given[name] is not None:
            flag = f"--{name.replace('_', '-')}"
            raise ConfigError(f"`{flag}` goes with `{of}`", hint=f"write `ordeal mutate {of} ...`, or leave it out")


def judging_options(given: MutateOptions) -> dict[str, Any]:
    """Return what the judge by pytest receives for any tests, by the names of ``judge_with_pytest``."""
    found: list[str] = []
    for each in given.tests:
        try:
            found += shlex.split(each)
        except ValueError:
            raise ConfigError(
                f"`--tests` is `{each}`, where a quotation mark is missing", hint="write both, or none"
            ) from None
    return {
        "tests": found,
        "folder": Path.cwd(),
        "memory": given.memory,
        "leave_out_failing": given.deselect_failing,
        "passed": given.passed,
    }
