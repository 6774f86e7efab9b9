"""The flags of a command, made from the table of options, and the values given for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ordeal.config.options import Option, flags_of

Command = Callable[..., Any]

#: Where the context of a command notes that all options are to be shown.
ALL_OPTIONS = "ordeal.all_options"


def command_flags(command: str) -> Callable[[Command], Command]:
    """Return a decorator that gives a function the flags of a command of ``ordeal``, by the names of the options.

    A flag that was not given is ``None``. A text that spells a number is passed as a number; the configuration refuses
    others, because it checks flags like its own values.
    """

    def decorate(function: Command) -> Command:
        for _, option in reversed(flags_of(command).values()):
            function = _click_option(option)(function)
        return function

    return decorate


def _click_option(option: Option) -> Callable[[Command], Command]:
    names, text = [option.name, *filter(None, [option.short_flag, option.long_flag])], option.help_text()
    if option.name == "verbose":
        return click.option(*names, count=True, callback=_as_verbosity, help=text)
    if not option.metavar:
        return click.option(*names, is_flag=True, flag_value=option.sets, default=None, help=text)
    if option.repeats:
        return click.option(*names, metavar=option.metavar, help=text, multiple=True, callback=_or_none)
    kind = click.Path() if option.metavar == "PATH" else None  # a shell then completes paths
    callback = _as_number if option.check.of_number else None
    return click.option(*names, metavar=option.metavar, type=kind, help=text, callback=callback)


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
