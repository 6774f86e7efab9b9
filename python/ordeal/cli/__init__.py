"""The command line: the table of commands, and ``main``, which turns every error into a message and an exit code."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import override

import click

from ordeal._engine.version import version
from ordeal.cli import terminal
from ordeal.errors import WRONG_USE, ConfigError, OrdealError

INTERRUPTED = 130  # The exit code that shells report for a program ended by Ctrl-C.


@dataclass(frozen=True, slots=True)
class _Entry:
    """The module that defines a command, in its attribute ``command``, and the line of ``ordeal --help``."""

    module: str
    help: str


# A command's module is imported when the command runs, so that `ordeal --version` does not wait for the engine.
_COMMANDS = {
    "benchmark": _Entry("ordeal.cli.benchmark", "Measure how exploring scales with the number of workers"),
    "catalog": _Entry("ordeal.cli.catalog", "List the assertions of the source that no run has reached"),
    "explore": _Entry("ordeal.cli.explore", "Search the classes named in ordeal.toml for failures"),
    "replay": _Entry("ordeal.cli.replay", "Run a saved trace again, shrink it, or see which faults it needs"),
    "seeds": _Entry("ordeal.cli.seeds", "Replay the saved seeds, and say which still fail"),
}


class _Commands(click.Group):
    """A group that knows its commands from the table alone."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            close = get_close_matches(cmd_name, _COMMANDS, n=1)
            hint = f"did you mean `{close[0]}`?" if close else "`ordeal --help` lists the commands"
            raise ConfigError(f"no command named `{cmd_name}`", hint=hint)
        command: click.Command = importlib.import_module(_COMMANDS[cmd_name].module).command
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in _COMMANDS.items()])


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version=version(), prog_name="ordeal", message="%(prog)s %(version)s")
@click.pass_context
def _ordeal(ctx: click.Context) -> None:
    """Find the bugs that only a sequence of steps shows."""
    if ctx.invoked_subcommand is None:
        terminal.write(f"{ctx.get_help()}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 a finding, 2 wrong use, 130 interrupted.

    ``arguments`` follow the program's name, ``None`` for those of this process.
    """
    terminal.accept_any_text()
    with terminal.kept_streams():
        return _main(arguments)


def _main(arguments: Sequence[str] | None) -> int:
    try:
        _search_current_folder_first()
        code = _ordeal.main(args=arguments, prog_name="ordeal", standalone_mode=False)
    except OrdealError as error:
        terminal.show_error(error)
        return error.exit_code
    except click.ClickException as error:
        terminal.say_error(*_wrong_use(error))
        return WRONG_USE
    except click.Abort:
        terminal.say("interrupted")
        return INTERRUPTED
    return code if isinstance(code, int) else 0


def _search_current_folder_first() -> None:
    # The tests of a project are seldom installed; they are found from the folder in which `ordeal` runs.
    try:
        folder = str(Path.cwd())
    except FileNotFoundError:
        raise ConfigError("the current folder no longer exists", hint="change to another folder") from None
    if sys.path[:1] != [folder]:
        sys.path.insert(0, folder)


def _wrong_use(error: click.ClickException) -> tuple[str, str]:
    """Translate an error of the argument parser into the terms of this program."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    help_hint = f"`{context.command_path if context else 'ordeal COMMAND'} --help` lists the options"
    if isinstance(error, click.NoSuchOption):
        guess = f"did you mean `{error.possibilities[0]}`?" if error.possibilities else help_hint
        return f"no option named `{error.option_name}`", guess
    message = error.format_message().rstrip(".")
    return message[:1].lower() + message[1:], help_hint
