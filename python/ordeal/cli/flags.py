"""The flags of a command, made from the table of options, and the values given for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from ordeal.config.option import Option
from ordeal.config.options import flags_of, options_of

Command = Callable[..., Any]

#: Where the context of a command notes that all options are to be shown.
ALL_OPTIONS = "ordeal.all_options"


def command_flags(command: str) -> Callable[[Command], Command]:
    """Return a decorator that gives a function the flags of a command of ``ordeal``, by the names of the options.

    A flag that was not given is ``None``. A text that spells a number is passed as a number; the configuration refuses
    others, because it checks flags like its own values.
    """

    def decorate(function: Command) -> Command:
        for option in reversed(flags_of(command).values()):
            function = _click_option(option)(function)
        return function

    return decorate


def _click_option(option: Option) -> Callable[[Command], Command]:
    flag = option.flag
    assert flag is not None
    names = [option.name, *filter(None, [flag.short, flag.name])]
    text = option.help_text()
    if option.name == "verbose":
        return click.option(*names, count=True, callback=_as_verbosity, help=text)
    if not flag.metavar:
        return click.option(*names, is_flag=True, flag_value=flag.sets, default=None, help=text)
    if flag.repeats:
        return click.option(*names, metavar=flag.metavar, help=text, multiple=True, callback=_or_none)
    kind = click.Path() if flag.metavar == "PATH" else None  # a shell then completes paths
    callback = _as_number if option.check.of_number else None
    return click.option(*names, metavar=flag.metavar, type=kind, help=text, callback=callback)


def _as_verbosity(context: click.Context, _parameter: click.Parameter, count: int) -> bool | None:
    """Note that a second ``-v`` asks for all options to be shown."""
    context.meta[ALL_OPTIONS] = count > 1
    return True if count else None


def _or_none(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    return values or None


def _as_number(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | str | None:
    """Return the number that an option's text spells, else the text itself."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            continue
    return text


def given_to[Table](table: type[Table], given: Mapping[str, Any]) -> Table:
    """Return a table filled with the given options, for options that need no check."""
    named = options_of(table)
    return table(**{name: value for name, value in given.items() if name in named and value is not None})
