"""Checks values from outside the settings file: options of the command line, and arguments of the Explorer."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from ordeal._base.formatting import one_line
from ordeal.config.checks import VALUE_CHARS_MAX, accepted, as_python, as_word, refusal, shown
from ordeal.config.option import Option, Place
from ordeal.config.options import (
    BenchmarkConfig,
    ExplorationOptions,
    ExploreFlags,
    ExplorerConfig,
    HealthConfig,
    ReportConfig,
    TestConfig,
    arguments_of,
    options_of,
    values_of,
)


def override[Table: (ExplorerConfig, ExplorationOptions, ExploreFlags, BenchmarkConfig, ReportConfig, HealthConfig)](
    config: Table, options: Mapping[str, object]
) -> Table:
    """Return ``config`` with the values of command line options, by name; ``None`` means not given.

    Names of options of other tables are ignored. Raises ``ConfigError`` naming the option for a value that would be
    invalid in the settings file too.
    """
    values = {}
    for name, option in options_of(type(config)).items():
        value = options.get(name)
        if value is not None:
            flag = option.flag.name if option.flag is not None else f"--{name.replace('_', '-')}"
            example = f"`{flag} {as_word(option.check.example)}`"
            values[name] = accepted(option.check, value, f"`{flag}` is {_typed(value)}", example)
    return dataclasses.replace(config, **values)


def _typed(value: object) -> str:
    """Return a value of the command line as an error quotes it: several values of one option as one text."""
    return shown(as_word(value) if isinstance(value, tuple) else value)


def options_of_entry(options: ExplorationOptions, test: TestConfig) -> ExplorationOptions:
    """Return ``options`` with the values of an entry of ``[[tests]]`` in place of the section ``[explorer]``."""
    own = {option.replaces: getattr(test, name) for name, option in options_of(TestConfig).items() if option.replaces}
    return dataclasses.replace(options, **{name: value for name, value in own.items() if value is not None})


def checked_arguments(place: Place, given: Mapping[str, object]) -> dict[str, Any]:
    """Return those of ``given`` that are options of the table, in their final types.

    An argument of ``None`` is left out if the option cannot be ``None``: the value comes from elsewhere.

    Raises ``ConfigError`` naming the argument for a value that cannot be used.
    """
    values: dict[str, Any] = {}
    for name, option in arguments_of(place).items():
        value = given[name]
        if value is not None or option.argument_default(place) is not None:
            values[name] = _checked_argument(option, value)
        elif option.default is None:
            values[name] = None
    return values


def given_arguments(place: Place, options: ExplorationOptions) -> dict[str, Any]:
    """Return the arguments that the Explorer takes at ``place``, with their values in ``options``."""
    values = values_of(options)
    return {name: values[name] for name in arguments_of(place)}


def _checked_argument(option: Option, value: object) -> Any:
    check = option.check
    if check.endless and isinstance(value, float) and value == math.inf:
        return value
    result = check.accept(value)
    if result is None:
        # The text is written for a settings file, which quotes strings.
        expected = check.expected.replace('"', "")
        raise refusal(
            f"{option.name} is {one_line(repr(value), limit=VALUE_CHARS_MAX)}; it must be {expected}",
            f"write {expected}, for example `{option.name}={as_python(check.example)}`",
        )
    return result
