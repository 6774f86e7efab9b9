"""The commands with their options and arguments. What carries them out is imported only when one runs."""

from __future__ import annotations

import gc
import importlib
import math
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, override

import click
from click.shell_completion import get_completion_class

from ordeal.cli import terminal
from ordeal.config.options import DEFAULT_PATH, Option, flags_of

_CORPUS_DIR = ".ordeal/seeds"
_NUMBER_MAX = 1e9
_SHELLS = ("bash", "zsh", "fish")
_SETTINGS: dict[str, Any] = {"context_settings": {"help_option_names": ["-h", "--help"]}}


class Number(click.FloatRange):
    """A number in a range, but neither NaN, which is in none of them, nor more seconds than a clock can wait."""

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not number <= _NUMBER_MAX:
            what = "no number" if math.isnan(number) else f"more than {_NUMBER_MAX:g}"
            self.fail(f"{number:g} is {what}", param, ctx)
        return number


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    @override
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = (each for each in self.get_params(ctx) if isinstance(each, click.Option))
        records = [(self._group(ctx, each), each.get_help_record(ctx)) for each in options]
        # The groups stand in the order of their first option; the sort keeps the order within a group.
        order = list(dict.fromkeys(group for group, _ in records))
        records.sort(key=lambda pair: order.index(pair[0]))
        rows = [row for _, row in records if row is not None]
        width = max((len(name) for name, _ in rows), default=0)
        for group, members in groupby(records, key=lambda pair: pair[0]):
            shown = [row for _, row in members if row is not None]
            if shown:
                with formatter.section(group):
                    formatter.write_dl([(name.ljust(min(width, 30)), text) for name, text in shown])

    def _group(self, _ctx: click.Context, parameter: click.Parameter) -> str:
        return flags_of(str(self.name)).get(str(parameter.name), ("Output", None))[0]


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


def _run(module: str, given: dict[str, Any]) -> int:
    # The collector of garbage would look through all modules again and again while they come: a seventh of a start.
    collects = gc.isenabled()
    gc.disable()
    try:
        run = importlib.import_module(f"ordeal.cli.{module}").run
    finally:
        gc.freeze()
        if collects:
            gc.enable()
    code: int = run(given)
    return code


@click.command(
    name="benchmark",
    cls=GroupedCommand,
    epilog="Exit code: 0 when it was measured, 2 for wrong use, 130 when interrupted.",
    **_SETTINGS,
)
@command_flags("benchmark")
def benchmark(**given: Any) -> int:
    """Measure how exploring scales with the number of workers.

    Explores the first class of the settings file with 1, 2, 4, ... workers and fits the Universal Scaling Law. Nothing
    that is found is saved.
    """
    return _run("benchmark", given)


@click.command(
    name="bisect",
    epilog="Exit code: 0 when the commit was found, 2 otherwise.",
    **_SETTINGS,
)
@click.argument("trace", metavar="ID|FILE", type=click.Path())
@click.option("--good", metavar="COMMIT", required=True, help="Commit without the failure")
@click.option("--bad", metavar="COMMIT", default="HEAD", show_default=True, help="Commit with the failure")
def bisect(**given: Any) -> int:
    """Find the commit that brought a failure.

    Replays the failure at commits between the two, in a worktree of its own.
    """
    return _run("bisect", given)


@click.command(
    name="catalog",
    epilog="Exit code: 0 when runs have reached all sites, 1 when they have not or a name is used with two types, "
    "2 for wrong use.",
    **_SETTINGS,
)
@click.argument("paths", nargs=-1, metavar="[PATHS]...", type=click.Path())
@click.option("--json", is_flag=True, help="Print the catalog as JSON")
def catalog(**given: Any) -> int:
    """List the assertions of the source that no run has reached.

    PATHS are files and folders [default: the target modules of ordeal.toml, else the current folder]. What `ordeal
    explore` and `pytest --chaos` have reached is in .ordeal/properties.json.
    """
    return _run("catalog", given)


@click.command(
    name="chimp",
    options_metavar="--code DIR --tests COMMAND... [--exclude PATTERN...] [--timeout SECONDS]",
    epilog="Exit code: 0 when all was tried, 1 for what --fail-on names, 2 for wrong use, 3 when the tests fail on the "
    "unchanged program.",
    context_settings={**_SETTINGS["context_settings"], "ignore_unknown_options": True},
)
@click.option("--code", metavar="DIR", required=True, type=click.Path(), help="Folder of the program")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=Number(min=0.1),
    default=20.0,
    show_default=True,
    help="How long the tests may take",
)
@click.option("--fail-on", metavar="WORDS", help="End with 1 for any of these: dead, uncovered")
@click.option("--logs", is_flag=True, help="Append what no test notices to FILE.py.log beside each file")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="")
def chimp(**given: Any) -> int:
    """Break each node of a program, and run any command of tests on it.

    --tests takes the command, of several words if need be, and --exclude patterns of files to leave alone.
    The program is not written. Where the command is pytest of the same Python, nodes are broken in memory, which is
    many times as fast; else in a copy of the current folder.
    """
    return _run("mutation.chimp", given)


@click.command(
    name="completion",
    epilog='bash: eval "$(ordeal completion bash)"    fish: ordeal completion fish | source',
    **_SETTINGS,
)
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> int:
    """Print the script that completes commands and options in a shell."""
    complete = get_completion_class(shell)
    assert complete is not None
    root = click.get_current_context().find_root().command
    terminal.write(f"{complete(root, {}, 'ordeal', '_ORDEAL_COMPLETE').source().rstrip()}\n")
    return 0


@click.command(
    name="dashboard",
    epilog="Exit code: 0, 2 for wrong use.",
    **_SETTINGS,
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on [default: one that is free]",
)
@click.option("--open", is_flag=True, help="Open the page in a browser")
@click.option("--runs", metavar="PATH", type=click.Path(), help="Folder of the runs [default: .ordeal/runs]")
@click.option("--store", metavar="URL", help="Show the fleets in a store too [default: $ORDEAL_STORE]")
def dashboard(**given: Any) -> int:
    """Serve pages of all runs to a browser on this machine.

    Follows a run that goes on. Prints an address with a token, which nobody else knows; it reads the files of the runs,
    and changes nothing.
    """
    return _run("dashboard", given)


@click.command(
    name="doctor",
    epilog="Exit code: 0, 1 for a warning with --strict or --fail-on, 2 for an error or wrong use.",
    **_SETTINGS,
)
@click.argument("classes", nargs=-1, metavar="[CLASS]...")
@click.option("-c", "--config", metavar="PATH", type=click.Path(), help=f"Settings file [default: {DEFAULT_PATH}]")
@click.option("--strict", is_flag=True, help="End with 1 for a warning, too")
@click.option("--fail-on", metavar="CHECKS", multiple=True, help="End with 1 for a warning of these checks")
@click.option("--json", is_flag=True, help="Print all checks as JSON")
@click.option("-v", "--verbose", is_flag=True, help="Show the checks that passed")
def doctor(**given: Any) -> int:
    """Say why a machine finds nothing.

    Runs each class for some seconds in a process of its own, and names rules that never run, always raise or are
    rejected, faults whose target is never called, invariants that see one state, and what is not deterministic.
    """
    return _run("doctor", given)


@click.command(
    name="explore",
    cls=GroupedCommand,
    epilog="Exit code: 0 without findings, 1 with a finding, 2 for wrong use or when an entry could not be explored, "
    "130 when interrupted before anything was found.",
    **_SETTINGS,
)
@click.argument("classes", nargs=-1, metavar="[CLASS]...")
@command_flags("explore")
def explore(**given: Any) -> int:
    """Search classes for failures.

    CLASS is module.path:ClassName, and needs no settings file [default: the classes in the [[tests]] of ordeal.toml].
    Options override ordeal.toml.
    """
    return _run("explore", given)


@click.command(name="fleet", **_SETTINGS)
@click.argument("action", type=click.Choice(("status", "logs", "stop")))
@click.argument("url", metavar="[URL]", required=False)
@click.option("--name", metavar="NAME", help="Name of the fleet [default: the one that runs, or ran last]")
@click.option("-f", "--follow", is_flag=True, help="Show it anew each second until it has ended; Ctrl-C leaves")
@click.option("--json", is_flag=True, help="Print the records as JSON; with --follow, a line each second")
def fleet(**given: Any) -> int:
    """Show the members of a fleet, what failed there, or stop it.

    URL is the store of the fleet [default: the environment variable ORDEAL_STORE, which shows no password to others].
    """
    return _run("fleet.show", given)


@click.command(
    name="init",
    epilog="Exit code: 0 when the machine was written and ran, 2 when there is none, or it did not run.",
    **_SETTINGS,
)
@click.argument("target", metavar="[PACKAGE|MODULE:CLASS]", required=False)
@click.option(
    "--seconds",
    metavar="SECONDS",
    type=Number(0.1, 3600),
    default=3.0,
    show_default=True,
    help="Time of the first run",
)
@click.option("--class", "cls", metavar="CLASS", help="Take this class of the package")
@click.option("-y", "--yes", is_flag=True, help="Take the most promising class without asking")
@click.option("--ci", type=click.Choice(("github",)), help="Write a workflow that explores on each push and each night")
@click.option("--dry-run", is_flag=True, help="Print what would be written, as a diff; write nothing")
@click.option("--json", is_flag=True, help="Print the outcome as JSON")
def init(**given: Any) -> int:
    """Write a first machine for a package, and run it.

    Reads the package, tries the methods of its classes in a process of its own, writes tests/test_ordeal_CLASS.py and
    an entry in ordeal.toml, and explores it. Writes over no file. Without PACKAGE it takes that of the current folder;
    of several classes it asks on a terminal which one it is to be.
    """
    return _run("init", given)


@click.command(
    name="mutate",
    cls=GroupedCommand,
    epilog="Exit code: 0, 1 when the score is below the threshold, 2 for wrong use, 3 when no verdict is possible: the "
    "tests fail without a mutant, or there are none. 130 when interrupted.",
    **_SETTINGS,
)
@click.argument("paths", nargs=-1, metavar="[kill ID] [PATH]...", type=click.Path())
@command_flags("mutate")
def mutate(**given: Any) -> int:
    """Break a program in many places, and say which breaks no test notices.

    PATH is a file or folder of the program [default: the packages in src or the current folder], or a part of it:
    shop.py:12-40, shop.cart or shop.cart.Cart.add. The tests are those
    that pytest finds; with `--with machines`, recorded runs of the machines in ordeal.toml judge instead. The program
    is not written: the broken code is only in memory.

    Of the last run, kept in .ordeal/mutate, `ordeal mutate show ID` prints a mutant, `apply ID` writes it into the
    program, `accept ID` notes that no test needs to notice it, `rerun` judges again what nothing noticed, `rerun
    survived` what tests ran and did not notice, and `report FORMAT` writes a report: html, md, junit, sarif, github,
    badge or json. `kill ID` searches a run in which a machine of
    ordeal.toml notices a survivor, and writes it as a test; `kill` does so for all survivors. `doctor [PATH]...` runs
    the tests without a mutant, and says what they are good for.
    """
    return _run("mutation.kill" if given["paths"][:1] == ("kill",) else "mutation.mutate", given)


@click.command(
    name="replay",
    epilog="Exit code: 1 when the trace fails, as recorded or differently, 0 when it does not, "
    "2 for wrong use, an unreadable trace, or one that no longer applies.",
    **_SETTINGS,
)
@click.argument("trace", metavar="[ID|FILE]", required=False, type=click.Path())
@click.option("--shrink", is_flag=True, help="Make the trace shorter")
@click.option("--ablate", is_flag=True, help="Find the faults that it needs")
@click.option("-o", "--output", metavar="PATH", type=click.Path(), help="Save the shrunk trace")
@click.option("--plain", metavar="PATH", type=click.Path(), help="Write plain Python that fails alike; - for stdout")
@click.option("--json", is_flag=True, help="Print the outcome as JSON")
@click.option("-v", "--verbose", is_flag=True, help="Show each step and the traceback")
@click.option("--pdb", is_flag=True, help="Debug where it fails")
def replay(**given: Any) -> int:
    """Run a saved failure again from a fresh machine.

    ID is what a report prints, or the beginning of it; FILE is a trace or a seed. Without either, the last failure that
    was saved runs again.
    """
    return _run("replay", given)


@click.command(
    name="report",
    epilog="Exit code: 0, 1 when the later report has a new finding, 2 for wrong use.",
    **_SETTINGS,
)
@click.argument("what", metavar="FORMAT|diff")
@click.argument("runs", metavar="[RUN|FILE]...", nargs=-1, type=click.Path())
@click.option(
    "-o",
    "--report-dir",
    metavar="PATH",
    type=click.Path(),
    help="Folder of the report [default: .ordeal/report; of html, that of the run]",
)
@click.option("--json", is_flag=True, help="Print the comparison as JSON")
def report(**given: Any) -> int:
    """Make a report of an earlier run, or compare two.

    `ordeal report html` makes a page: findings, coverage over time, and each failure step by step, for which it is
    replayed. The page is one file, and needs neither a network nor JavaScript. `diff` takes the earlier run, then the
    later one.

    RUN is a name in .ordeal/runs or the beginning of it [default: the latest]; FILE is a report as JSON.
    """
    return _run("report", given)


@click.command(
    name="schema",
    epilog="Exit code: 0, 2 for wrong use.",
    **_SETTINGS,
)
@click.argument("name", metavar="config|event|report|status")
def schema(**given: Any) -> int:
    """Print the JSON Schema of the settings, or of a file of a run.

    config is that of ordeal.toml, for editors; event, report and status are those of the files in .ordeal/runs.
    """
    return _run("schema", given)


@click.command(
    name="seeds",
    epilog="Exit code: 1 when a seed fails, as recorded or differently, 0 when none does, 2 for wrong use, "
    "also for a seed whose class cannot be imported.",
    **_SETTINGS,
)
@click.argument("words", nargs=-1, metavar="[pull [URL] [CLASS]...]")
@click.option(
    "--dir",
    metavar="DIR",
    type=click.Path(),
    help=f"Folder of the seeds [default: that of {DEFAULT_PATH}, else {_CORPUS_DIR}]",
)
@click.option("--prune-fixed", is_flag=True, help="Delete seeds that pass now")
@click.option("--json", is_flag=True, help="Print the outcome as JSON")
@click.option("-v", "--verbose", is_flag=True, help="Show programs, tracebacks and output")
@click.option("--watch", is_flag=True, help="Replay again what a saved file concerns, until Ctrl-C")
def seeds(**given: Any) -> int:
    """Replay the saved failures (seeds) of all classes, and say which still fail.

    `pull` takes home what a fleet found: it reads the store at URL, replays each failure of the classes here, and saves
    those that fail. URL is by default what ORDEAL_STORE or `store` in [fleet] says, and the classes those of [[tests]].
    """
    return _run("seeds", given)


@click.command(
    name="view",
    epilog="Exit code: 0, 2 for wrong use, or for a trace that cannot be read or does not fail.",
    **_SETTINGS,
)
@click.argument("trace", metavar="[ID|FILE]", required=False, type=click.Path())
@click.option("--no-browser", is_flag=True, help="Only print the path of the page")
@click.option(
    "-o",
    "--output",
    metavar="PATH",
    type=click.Path(),
    help="File of the page [default: .ordeal/report/failure-ID.html]",
)
def view(**given: Any) -> int:
    """Make the page of a saved failure, and open it.

    Runs the failure again, and shows each step, when it was decided, and what of it matters. ID is what a report
    prints, or the beginning of it; FILE is a trace or a seed. Without either, it is the last failure that was saved.
    """
    return _run("view", given)


_ALL: tuple[click.Command, ...] = (
    *(benchmark, bisect, catalog, chimp, completion, dashboard),
    *(doctor, explore, fleet, init, mutate, replay, report),
    *(schema, seeds, view),
)


def commands() -> Iterator[click.Command]:
    """Yield all commands, in the order of the help."""
    yield from _ALL
