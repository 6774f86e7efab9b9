"""The commands with their options and arguments. What carries them out is imported only when one runs."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any, override

import click
from click.shell_completion import get_completion_class

from ordeal.cli import terminal
from ordeal.config.flags import flags_of, record_of
from ordeal.config.table import Option

_SHELLS = ("bash", "zsh", "fish")
_SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
#: Where a command is carried out if its module does not have its name.
_MODULES = {
    "pack": "artifacts",
    "chimp": "mutation.chimp",
    "env": "doctor",
    "fleet": "fleet.show",
    "mutate": "mutation.mutate",
}
#: The commands whose flags override settings: they are passed on as they were given.
_OVERRIDING = ("benchmark", "explore", "mutate", "profile")


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    @override
    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups = {name: group for name, (group, _) in flags_of(str(self.name)).items()}
        # The option --help comes last.
        last = next(reversed(groups.values()), "Options")
        options = (each for each in self.get_params(ctx) if isinstance(each, click.Option))
        records = [(groups.get(str(each.name), last), each.get_help_record(ctx)) for each in options]
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
            if option.name == "on_exists":
                more: dict[str, Any] = {"is_eager": True, "expose_value": False, "callback": _as_policy}
                function = click.option("--force", is_flag=True, help="The same as --on-exists replace", **more)(
                    function
                )
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
        given = lambda _context, _parameter, values: values or None  # noqa: E731
        return click.option(*names, metavar=option.metavar, help=text, multiple=True, callback=given)
    kind = click.Path() if option.metavar in ("PATH", "DIR") else None  # a shell then completes paths
    callback = _as_number if option.check.of_number else None
    # No value stands for none.
    required = option.default == ""
    return click.option(*names, metavar=option.metavar, type=kind, help=text, callback=callback, required=required)


def _as_verbosity(context: click.Context, _parameter: click.Parameter, count: int) -> bool | None:
    """Note that a second ``-v`` asks for all options to be shown."""
    context.meta[ALL_OPTIONS] = count > 1
    return True if count else None


def _as_policy(context: click.Context, _parameter: click.Parameter, is_forced: bool) -> None:
    """Have ``--force`` stand for a policy that is not given otherwise."""
    if is_forced:
        context.default_map = {**(context.default_map or {}), "on_exists": "replace"}


def _as_number(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | str | None:
    """Return the number that an option's text spells, else the text itself."""
    for kind in (int, float):
        try:
            return None if text is None else kind(text)
        except ValueError:
            continue
    return text


def _command(
    epilog: str, *arguments: click.Argument, callback: Callable[..., int] | None = None, **more: Any
) -> Callable[[Callable[[], None]], click.Command]:
    """Return a decorator that makes a function a command with the flags of the table; its docstring is the help."""

    def decorate(described: Callable[[], None]) -> click.Command:
        name = described.__name__

        def carry_out(**given: Any) -> int:
            return _run(name, given)

        made = callback or carry_out
        made.__doc__ = described.__doc__
        made = command_flags(name)(made)
        options: list[click.Parameter] = getattr(made, "__click_params__", [])
        settings = {"context_settings": _SETTINGS, **more}
        parameters = [*arguments, *reversed(options)]
        return GroupedCommand(name, params=parameters, callback=made, help=made.__doc__, epilog=epilog, **settings)

    return decorate


def _argument(name: str, metavar: str, *, path: bool = False, many: bool = False) -> click.Argument:
    """Return an argument, which may be left out if its ``metavar`` begins with a bracket."""
    kind = click.Path() if path else None  # a shell then completes paths
    return click.Argument([name], metavar=metavar, type=kind, nargs=-1 if many else 1, required=metavar[0] != "[")


def _run(command: str, given: dict[str, Any]) -> int:
    module = _MODULES.get(command, command)
    if command == "mutate" and given["paths"][:1] == ("kill",):
        module = "mutation.kill"
    # The collector of garbage would look through all modules again and again while they come: a seventh of a start.
    collects = gc.isenabled()
    gc.disable()
    try:
        run = importlib.import_module(f"ordeal.cli.{module}").run
    finally:
        gc.freeze()
        if collects:
            gc.enable()
    code: int = run(given if command in _OVERRIDING else record_of(command, given))
    return code


def _print_completion(shell: str) -> int:
    complete = get_completion_class(shell)
    assert complete is not None
    root = click.get_current_context().find_root().command
    terminal.write(f"{complete(root, {}, 'ordeal', '_ORDEAL_COMPLETE').source().rstrip()}\n")
    return 0


@_command(
    "Exit code: 0, 2 for wrong use, or for a trace that cannot be read.",
    click.Argument(["action"], type=click.Choice(("list", "export"))),
    _argument("trace", "[ID|FILE]", path=True),
)
def artifacts() -> None:
    """List the saved failures, or export all that belongs to one.

    `export ID` writes a folder with the trace, its text, its program, its decisions, the versions of all installed
    packages, and the report and events of the run that found it. Without ID, exports the last one that was saved.
    """


@_command(
    "Exit code: 0 when it was measured, 2 for wrong use, 130 when interrupted.",
)
def benchmark() -> None:
    """Measure how exploring scales with the number of workers.

    Explores the first class of the settings file with 1, 2, 4, ... workers and fits the Universal Scaling Law. Nothing
    that is found is saved.
    """


@_command(
    "Exit code: 0 when the commit was found, 2 otherwise.",
    _argument("trace", "ID|FILE", path=True),
)
def bisect() -> None:
    """Find the commit that introduced a failure.

    Replays the failure at commits between the two, in a separate worktree.
    """


@_command(
    "Exit code: 0 when runs have reached all sites, 1 when they have not or a name is used with two types, "
    "2 for wrong use.",
    _argument("paths", "[PATHS]...", path=True, many=True),
)
def catalog() -> None:
    """List the assertions of the source that no run has reached.

    PATHS are files and folders [default: the target modules of ordeal.toml, else the current folder]. What `ordeal
    explore` and `pytest --chaos` have reached is in .ordeal/properties.json. With --risk, ranks functions by the lines
    that the last exploration missed, mutants that survived the last `ordeal mutate`, and waits that no fault struck.
    """


@_command(
    "Exit code: 0 when all was tried, 1 for what --fail-on names, 2 for wrong use, 3 when the tests fail on the "
    "unchanged program.",
    click.Argument(["words"], nargs=-1, type=click.UNPROCESSED, metavar=""),
    options_metavar="--code DIR --tests COMMAND... [--exclude PATTERN...] [--timeout SECONDS]",
    context_settings={**_SETTINGS, "ignore_unknown_options": True},
)
def chimp() -> None:
    """Break each node of a program, and run any command of tests on it.

    --tests takes the command, which may have several words, and --exclude patterns of files to leave alone. No file of
    the program changes: if the command is pytest of the same Python, nodes are broken in memory, which is many times
    faster; otherwise in a copy of the current folder.
    """


@_command(
    "Exit code: 0 when nothing differs, 1 when something does, 2 for wrong use.",
    _argument("words", "OLD [NEW] [CLASS]...", many=True),
)
def compare() -> None:
    """Show what a program does differently from an earlier version.

    OLD and NEW are commits, or releases of a dependency such as httpx==0.27.0 [default of NEW: the files here]. Makes
    the same runs of each class on both versions, in separate processes: saved ones and new ones. Shows each step whose
    result, error or state differs, with the shortest run that leads there.
    """


@_command(
    'bash: eval "$(ordeal completion bash)"    fish: ordeal completion fish | source',
    click.Argument(["shell"], type=click.Choice(_SHELLS)),
    callback=_print_completion,
)
def completion() -> None:
    """Print the script that completes commands and options in a shell."""


@_command(
    "Exit code: 0, 2 for wrong use.",
)
def dashboard() -> None:
    """Serve pages of all runs to a browser on this computer.

    Follows a running search. Prints an address with a secret token. Reads the files of the runs, and changes nothing.
    """


@_command(
    "Exit code: 0 when they do the same, 1 when they do not, 2 for wrong use.",
    _argument("first", "ID|FILE", path=True),
    _argument("second", "ID|FILE", path=True),
)
def diff() -> None:
    """Show where two saved failures diverge.

    Runs both again. Shows the steps, or the decisions of a simulation, that they share, the first that differs, and
    both stacks if they fail in different ways.
    """


@_command(
    "Exit code: 0, 1 for a warning with --strict or --fail-on, 2 for an error or wrong use.",
    _argument("classes", "[CLASS]...", many=True),
)
def doctor() -> None:
    """Explain why a machine finds nothing.

    Runs each class for some seconds in a separate process, and names rules that never run, always raise or are
    rejected, faults whose target is never called, invariants that see one state, and what is not deterministic.
    """


@_command(
    "Exit code: 0, 2 for wrong use.",
)
def env() -> None:
    """Describe this environment for a bug report.

    Prints versions, what works here, and the switches that are set. Leaves out the value of ORDEAL_STORE, which may
    hold a password.
    """


@_command(
    "Exit code: 0 without findings, 1 with a finding, 2 for wrong use or when an entry could not be explored, "
    "130 when interrupted before anything was found.",
    _argument("classes", "[CLASS]...", many=True),
)
def explore() -> None:
    """Search classes for failures.

    CLASS is module.path:ClassName, and needs no settings file [default: the classes in the [[tests]] of ordeal.toml].
    Options override ordeal.toml.
    """


@_command(
    "",
    click.Argument(["action"], type=click.Choice(("status", "logs", "stop"))),
    _argument("url", "[URL]"),
)
def fleet() -> None:
    """Show the members of a fleet, what failed there, or stop it.

    URL is the store of the fleet [default: the environment variable ORDEAL_STORE, which keeps the password off the
    command line].
    """


@_command(
    "Exit code: 0 when nothing stops the merge, 1 when a check fails or could not be made, 2 for wrong use.",
    _argument("traces", "[ID|FILE]...", path=True, many=True),
)
def gate() -> None:
    """Check all that must hold before a merge.

    Replays the saved failures. Then examines each class of the settings file, for rules, faults and properties that
    are never reached and for what is not deterministic, and explores it. With --changed, leaves out classes whose
    machine and imported files do not differ from a commit. Given IDs or FILEs of traces, replays each of them three
    times instead.
    """


@_command(
    "Exit code: 0 when the machine was written and ran, 2 when there is none, or it did not run.",
    _argument("target", "[PACKAGE|MODULE:CLASS]"),
)
def init() -> None:
    """Write a first machine for a package, and run it.

    Reads the package, tries the methods of its classes in a separate process, writes tests/test_ordeal_CLASS.py and
    an entry in ordeal.toml, and explores it. Overwrites no file. Without PACKAGE, takes that of the current folder.
    """


@_command(
    "Exit code: 0, 1 when the score is below the threshold, 2 for wrong use, 3 when no verdict is possible: the "
    "tests fail without a mutant, or there are none. 130 when interrupted.",
    _argument("paths", "[kill ID] [PATH]...", path=True, many=True),
)
def mutate() -> None:
    """Break a program in many places, and report which changes no test notices.

    PATH is a file or folder of the program [default: the packages in src or the current folder], or a part of it:
    shop.py:12-40, shop.cart or shop.cart.Cart.add. The tests are those
    that pytest finds; with `--with machines`, recorded runs of the machines in ordeal.toml judge instead. The broken
    code is only in memory: no file of the program changes.

    These commands work with the last run, which .ordeal/mutate keeps. `ordeal mutate show ID` prints a mutant,
    `apply ID` writes it into the program, and `accept ID` notes that no test needs to notice it. `rerun` judges the
    survivors again. `report FORMAT` writes a report: html, md, junit, sarif, github, badge or json. `kill ID` searches
    for a run in which a machine of ordeal.toml notices a survivor, and writes it as a test; `kill` does so for all
    survivors.
    """


@_command(
    "Exit code: 0, 2 for wrong use, or for a trace that cannot be read.",
    _argument("trace", "[ID|FILE]", path=True),
)
def pack() -> None:
    """Pack a saved failure into one file, to share it.

    The archive holds the trace, its text, and the versions of all installed packages; the same failure gives the same
    bytes. `ordeal replay FILE.zip` runs it. ID is what a report prints, or the beginning of it. Without one, packs the
    last failure that was saved.
    """


@_command(
    "Exit code: 0, 1 when a figure exceeds the baseline, a step grows too fast, or runs leave objects behind; "
    "2 for wrong use, or for a test that cannot run.",
    _argument("tests", "[CLASS|ID|FILE]...", path=True, many=True),
)
def profile() -> None:
    """Count what steps cost, in figures that are equal in every run.

    Makes random runs of each class, or of a simulated test, in a separate process. Counts instructions of Python code,
    allocations, events, messages and simulated time, and names how the cost of a step grows with its input. Given the
    ID or FILE of a trace, makes its run. The figures do not depend on the speed of the computer.
    """


@_command(
    "Exit code: 1 when the trace fails, as recorded or differently, 0 when it does not, "
    "2 for wrong use, an unreadable trace, or one that no longer applies.",
    _argument("trace", "[ID|FILE]", path=True),
)
def replay() -> None:
    """Run a saved failure again from a fresh machine.

    ID is what a report prints, or the beginning of it; FILE is a trace or a seed. Without either, the last failure that
    was saved runs again.
    """


@_command(
    "Exit code: 0, 1 when the later report has a new finding, 2 for wrong use.",
    _argument("what", "FORMAT|diff|query"),
    _argument("runs", "[RUN|FILE]...", path=True, many=True),
)
def report() -> None:
    """Make a report of an earlier run, or compare two.

    `ordeal report html` makes a page: findings, coverage over time, and each failure step by step, for which it is
    replayed. The page is one file, and needs neither a network nor JavaScript. `diff` takes the earlier run, then the
    later one. `query` takes a path such as .results[].failures[].id, and prints a line of JSON for each value there.

    RUN is a name in .ordeal/runs or the beginning of it [default: the latest]; FILE is a report as JSON.
    """


@_command(
    "Exit code: 0, 2 for wrong use.",
    _argument("name", "config|event|report|status"),
)
def schema() -> None:
    """Print the JSON Schema of the settings, or of a file of a run.

    config is that of ordeal.toml, for editors; event, report and status are those of the files in .ordeal/runs.
    """


@_command(
    "Exit code: 1 when a seed fails, as recorded or differently, 0 when none does, 2 for wrong use, "
    "also for a seed whose class cannot be imported.",
    _argument("words", "[pull [URL] [CLASS]...]", many=True),
)
def seeds() -> None:
    """Replay the saved failures (seeds) of all classes, and report which still fail.

    `pull` fetches what a fleet found: it reads the store at URL, replays each failure of the classes here, and saves
    those that fail [default of URL: ORDEAL_STORE, then `store` in [fleet]; of CLASS: those of [[tests]]].
    """


@_command(
    "Exit code: 0, 2 for wrong use, or for a trace that cannot be read or does not fail.",
    _argument("trace", "[ID|FILE]", path=True),
)
def view() -> None:
    """Make the page of a saved failure, and open it.

    Runs the failure again, and shows each step, which step decided the failure, and which arguments matter. ID is what
    a report prints, or the beginning of it; FILE is a trace or a seed. Without either, shows the last failure that was
    saved.
    """


def commands() -> Iterator[click.Command]:
    """Yield all commands, in the order of the help."""
    yield from (each for each in globals().values() if isinstance(each, click.Command))
