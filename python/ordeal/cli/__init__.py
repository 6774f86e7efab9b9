"""The command line: the table of commands, and ``main``, which turns every error into a message and an exit code."""

from __future__ import annotations

import importlib
import sys
import tempfile
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, override

import click

from ordeal._base.formatting import describe_error, one_line
from ordeal._base.machine_files import class_paths_like
from ordeal.cli import terminal
from ordeal.errors import INTERRUPTED, WRONG_USE, ConfigError, OrdealError

_MODULE = "ordeal.cli.commands"
# The lines of `ordeal --help`, by what people do. The commands are defined apart, and what they do in modules of their
# own: help must not wait for the engine.
_GROUPS = {
    "Find": {
        "init": "Write a first machine for a package, and run it",
        "explore": "Search the classes named in ordeal.toml for failures",
        "doctor": "Explain why a machine finds nothing",
        "catalog": "List the assertions of the source that no run has reached",
    },
    "Understand": {
        "view": "Make the page of a saved failure, and open it",
        "replay": "Run a saved failure again, shrink it, write it as plain Python",
        "diff": "Show where two saved failures diverge",
        "report": "Make a page of a run, or a report in another format; compare two",
        "dashboard": "Serve pages of all runs to a browser on this computer",
    },
    "Keep": {
        "seeds": "Replay the saved failures (seeds), and report which still fail",
        "bisect": "Find the commit that introduced a failure",
        "pack": "Pack a saved failure into one file, to share it",
        "artifacts": "List the saved failures, or export all that belongs to one",
    },
    "Before a merge": {
        "gate": "Check all that must hold before a merge",
        "compare": "Show what a program does differently from an earlier version",
        "profile": "Count what steps cost, in figures that are equal in every run",
    },
    "Judge tests": {
        "mutate": "Break a program, and report which changes no test notices",
        "chimp": "Break each node of a program, with any command of tests",
    },
    "Many hosts": {
        "fleet": "Show the members of a fleet, what failed there, or stop it",
        "benchmark": "Measure how exploring scales with the number of workers",
    },
    "Set up": {
        "completion": "Print the script that completes commands in a shell",
        "env": "Print what there is here: versions, what works, what is switched",
        "schema": "Print the JSON Schema of the settings, or of a file of a run",
    },
}
_COMMANDS = {name: line for group in _GROUPS.values() for name, line in group.items()}


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
        command: click.Command = getattr(importlib.import_module(_MODULE), cmd_name)
        return command

    @override
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except OSError as error:
            # click would end with 1 for a broken pipe, which means a finding.
            raise OrdealError(
                one_line(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}")
            ) from error

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, _COMMANDS))
        for group, commands in _GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name.ljust(width), line) for name, line in commands.items()])


def _show_version(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        terminal.write(f"ordeal {importlib.import_module('ordeal._native').__version__}\n")
        context.exit()


@click.group(cls=_Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    help="Show the version and exit.",
    callback=_show_version,
)
@click.pass_context
def _ordeal(ctx: click.Context) -> None:
    """Find bugs that need a particular sequence of calls and faults."""
    if ctx.invoked_subcommand is None:
        has_settings = Path("ordeal.toml").is_file()
        machine = "" if has_settings else next(iter(class_paths_like("")), "")
        following = "explore" if machine or has_settings else "init"
        command = f"ordeal {following} {machine}".strip()
        width = max(len(command), len("ordeal --help")) + 2
        line = "Search this class for failures" if machine else _COMMANDS[following]
        lines = [(command, line), ("ordeal --help", "List all commands")]
        terminal.write(_NEXT + "".join(f"  {name:{width}}{line}\n" for name, line in lines))


_NEXT = """\
ordeal finds bugs that need a particular sequence of calls and faults.

Next:
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 a finding, 2 wrong use, 130 interrupted.

    ``arguments`` follow the program's name, ``None`` for those of this process.
    """
    with terminal.kept_streams():
        code = _main(arguments)
        why = terminal.unwritten()
        if why:
            terminal.say_error(f"stdout cannot be written: {why}", "write it to a place with room, and run it again")
        # What was asked for is not there. A finding stays one, and a reader that left had enough.
        return WRONG_USE if why and not code else code


def _main(arguments: Sequence[str] | None) -> int:
    try:
        try:
            folder = str(Path.cwd())
        except FileNotFoundError:
            raise ConfigError("the current folder no longer exists", hint="change to another folder") from None
        if sys.path[:1] != [folder]:
            sys.path.insert(0, folder)
        # So is a package in `src` that is not installed. Last, as what is installed is what is used.
        sources = Path(folder, "src")
        if sources.is_dir() and Path(folder, "pyproject.toml").exists() and str(sources) not in sys.path:
            sys.path.append(str(sources))
        code = _ordeal.main(args=arguments, prog_name="ordeal", standalone_mode=False)
    except OrdealError as error:
        terminal.show_error(error)
        return error.exit_code
    except click.ClickException as error:
        terminal.say_error(*_wrong_use(error, sys.argv[1:] if arguments is None else arguments))
        return WRONG_USE
    except click.Abort:
        terminal.say("interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - any other exit code would be wrong: 1 would claim a finding
        with tempfile.NamedTemporaryFile("w", prefix="ordeal-", suffix=".txt", errors="replace", delete=False) as file:
            file.write("".join(traceback.format_exception(error)))
        terminal.say_error(f"ordeal made a mistake: {one_line(describe_error(error))}", f"report it, with {file.name}")
        return WRONG_USE
    return code if isinstance(code, int) else 0


def _wrong_use(error: click.ClickException, arguments: Sequence[str]) -> tuple[str, str]:
    """Translate an error of the argument parser into the terms of this program."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    # The parser reports a missing value without naming the command.
    command = next((word for word in arguments if word in _COMMANDS), "COMMAND")
    help_hint = f"`{context.command_path if context else f'ordeal {command}'} --help` lists the options"
    if isinstance(error, click.NoSuchOption):
        guess = f"did you mean `{error.possibilities[0]}`?" if error.possibilities else help_hint
        return f"no option named `{error.option_name}`", guess
    # What can be chosen is in the name of the argument already, and not on separate lines.
    message = error.format_message().partition(". Choose from:")[0].rstrip(".")
    return message[:1].lower() + message[1:], help_hint
