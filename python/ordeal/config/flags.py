"""The options of the command line alone, and which flags each command has.

``ordeal explore``, ``benchmark`` and ``mutate`` have those of the settings file as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, get_args

from ordeal._base.limits import SEED_MAX
from ordeal.config.checks import PERCENT_FROM_0, integer, number, one_of, text
from ordeal.config.options import (
    BASELINE,
    DEFAULT_PATH,
    FLEET_NAME,
    RUNS,
    SECONDS_ABOVE_0,
    WORKERS_MAX,
    ExplorationOptions,
    HealthConfig,
    Metric,
    MutationsConfig,
    ProfileConfig,
    ReportConfig,
)
from ordeal.config.table import Option, Table, option, place, switch

ON_EXISTS: Any = option(
    None,
    one_of("fail", "replace", "number"),
    "replace own files",
    flag="--on-exists POLICY",
    help="If it exists: fail, replace (--force) or number",
)


class CommandFlags(Table):
    """The options that ``ordeal explore`` and ``ordeal benchmark`` share: the file that they read."""

    config: str = option(
        DEFAULT_PATH, text("a file path", DEFAULT_PATH), flag="-c, --config PATH", help="Settings file"
    )
    json: bool = switch("--json", "Print the report as JSON")


class ExploreFlags(CommandFlags):
    """The options of ``ordeal explore`` itself: which files it reads and writes, and what it prints."""

    no_seeds: bool = switch("--no-seeds", "Do not replay saved failures (seeds)")
    prune_fixed_seeds: bool = switch("--prune-fixed-seeds", "Delete saved failures (seeds) that pass now")
    generate_tests: str | None = place("--generate-tests PATH", "Write pytest functions")
    dry_run: bool = switch("--dry-run", "Print the job, or the files that a cluster would be sent; start nothing")
    on_exists: str | None = ON_EXISTS
    all: bool = switch("--all", "Show all failures, not only ten of each class")
    progress: str = option(
        "auto",
        one_of("auto", "live", "plain", "none"),
        flag="--progress KIND",
        help="Progress: live, plain lines or none; auto is live on a terminal",
    )


class BenchmarkConfig(CommandFlags):
    """What ``ordeal benchmark`` measures and prints. ``time`` is in seconds for each trial.

    ``max_workers`` is ``None`` for as many as there are CPUs.
    """

    max_workers: int | None = option(
        None,
        integer(1, WORKERS_MAX, example=4),
        "one for each CPU",
        flag="--max-workers N",
        help="Largest number of workers",
    )
    time: float = option(10.0, SECONDS_ABOVE_0, flag="--time SECONDS", help="Length of each trial")
    metric: Metric = option(
        "runs",
        one_of(*get_args(Metric), quoted=False),
        flag="--metric NAME",
        help="What to count: runs, steps or edges",
    )
    repeat: int = option(3, integer(1, 100, example=3), flag="--repeat N", help="Trials of each number of workers")


class MutateFlags(CommandFlags):
    """The options of ``ordeal mutate`` itself: which mutants, how each is judged, what is written."""

    runs: int = option(1500, RUNS, flag="--runs N", help="Runs of each machine to draw traces from")
    since: str | None = option(
        None,
        text("a commit", "main", "commit"),
        "all lines",
        flag="--since COMMIT",
        help="Only mutants of lines that differ from a commit",
    )
    sample: int | None = option(None, RUNS, "all", flag="--sample N", help="Only N mutants, drawn by --seed")
    seed: int = option(0, integer(0, example=1), flag="--seed N", help="Seed of the sample")
    mutant: str | None = option(
        None,
        text("the beginning of an id", "3f1c", "id"),
        "all",
        flag="--mutant ID",
        help="Only mutants whose id begins with ID",
    )
    workers: int | None = option(
        None, integer(1, WORKERS_MAX, example=4), "all cores", flag="-w, --workers N", help="Mutants judged at a time"
    )
    memory: int = option(
        1024,
        integer(16, 1 << 20, example=1024),
        flag="--memory MIB",
        help="Memory that a mutant may use beyond the original",
    )
    deselect_failing: bool = switch(
        "--deselect-failing", "Go on without tests that fail on the original; they judge nothing"
    )
    no_cache: bool = switch("--no-cache", "Judge all again although nothing has changed since the last run")
    new_only: bool = switch("--new-only", "Exit with 1 if any unaccepted mutant survives")
    every: bool = switch("--all", "Show each survivor, not only the first of a line, and all tables")
    lists: bool = switch("--list", "Print the mutants, and judge none")
    output: str | None = place("-o, --output PATH", "With kill: where the test goes", "stdout")
    on_exists: str | None = ON_EXISTS
    reason: str | None = option(
        None,
        text("a reason", "logging only", "text", pattern=r"(?s).*"),
        "none",
        flag="--reason TEXT",
        help="With accept: why no test needs to notice it",
    )


class MutateOptions(MutateFlags, MutationsConfig):
    """All options of ``ordeal mutate``; ``rerun`` means only the survivors of the last run."""

    paths: tuple[str, ...] = ()
    rerun: bool = False

    @property
    def operator_words(self) -> str:
        """Return the operators as they were written, with commas between them."""
        return ",".join(self.operators)


# The commands that have one record each: its fields are the flags, and the words that stand without one.


class ArtifactsFlags(Table):
    """What ``ordeal artifacts`` does: lists what is saved, or exports all that belongs to a failure."""

    action: str
    trace: str | None = None
    output: str | None = place("-o, --output PATH", "Folder of what is exported", "ID")
    on_exists: str | None = ON_EXISTS
    json: bool = switch("--json", "Print the list as JSON")


class BisectFlags(Table):
    """What ``ordeal bisect`` replays, and between which commits."""

    trace: str
    good: str = option("", text("a commit", "v1.0"), flag="--good COMMIT", help="Commit without the failure")
    bad: str = option("HEAD", text("a commit", "HEAD"), flag="--bad COMMIT", help="Commit with the failure")


class CatalogFlags(Table):
    """Which files and folders ``ordeal catalog`` lists; none for the target modules."""

    paths: tuple[str, ...] = ()
    risk: bool = switch("--risk", "Rank functions by what no run, mutant or fault has tested in them")
    json: bool = switch("--json", "Print the catalog as JSON")


class ChimpFlags(Table):
    """What ``ordeal chimp`` breaks; ``words`` are the commands of tests and the patterns to leave alone."""

    words: tuple[str, ...] = ()
    code: str = option("", text("a folder", "src"), flag="--code DIR", help="Folder of the program")
    timeout: float = option(
        20.0,
        number("a number of seconds from 0.1", 20, "seconds from 0.1", lambda value: 0.1 <= value <= 1e9),
        flag="--timeout SECONDS",
        help="Time limit of the tests",
    )
    fail_on: str | None = option(
        None,
        text("dead, uncovered, or both with a comma between them", "dead"),
        "none",
        flag="--fail-on WORDS",
        help="Exit with 1 for any of these: dead, uncovered",
    )
    logs: bool = switch("--logs", "Append what no test notices to FILE.py.log next to each file")


class CompareFlags(CommandFlags):
    """The versions that ``ordeal compare`` compares, and the classes; none for those of the settings file."""

    words: tuple[str, ...] = ()
    seed: int = option(42, integer(0, example=42), flag="--seed N", help="Random seed")
    max_time: float = option(
        10.0, SECONDS_ABOVE_0, flag="--max-time SECONDS", help="Time of the search for each class and version"
    )


class DashboardFlags(Table):
    """What ``ordeal dashboard`` serves."""

    port: int = option(
        0, integer(0, 65535, example=8080), "one that is free", flag="--port N", help="Port to listen on"
    )
    open: bool = switch("--open", "Open the page in a browser")
    runs: str | None = place("--runs PATH", "Folder of the runs", ".ordeal/runs")


class DiffFlags(Table):
    """The two saved runs that ``ordeal diff`` compares."""

    first: str = ""
    second: str = ""
    json: bool = switch("--json", "Print what differs as JSON")


class DoctorFlags(HealthConfig):
    """Which classes ``ordeal doctor`` examines; none for those of the settings file."""

    classes: tuple[str, ...] = ()
    config: str | None = place("-c, --config PATH", "Settings file", DEFAULT_PATH)
    strict: bool = switch("--strict", "Exit with 1 for a warning, too")
    json: bool = switch("--json", "Print all checks as JSON")
    verbose: bool = switch("-v, --verbose", "Show the checks that passed")


class EnvFlags(Table):
    """The output format of ``ordeal env``."""

    json: bool = switch("--json", "Print it as JSON")


class FleetFlags(Table):
    """What ``ordeal fleet`` does with the fleet in the store ``url``; None for that of the environment."""

    action: str
    url: str | None = None
    name: str | None = option(
        None, FLEET_NAME, "the one that was started last", flag="--name NAME", help="Name of the fleet"
    )
    json: bool = switch("--json", "Print the records as JSON")


class GateFlags(CommandFlags):
    """What ``ordeal gate`` checks; ``traces`` alone where there are any."""

    traces: tuple[str, ...] = ()
    changed: str | None = option(
        None,
        text("a commit", "main", "commit"),
        "all classes",
        flag="--changed COMMIT",
        help="Only classes whose program differs from a commit",
    )
    max_time: float = option(60.0, SECONDS_ABOVE_0, flag="--max-time SECONDS", help="Time of all checks together")
    mutate: bool = switch("--mutate", "Judge mutants of the changed lines, too")
    baseline: str | None = place("--baseline FILE", "Figures of `ordeal profile --json`", f"{BASELINE}, if it is there")
    budget: float | None = option(
        None, PERCENT_FROM_0, "as `[profile]` says", flag="--budget PERCENT", help="By how much a figure may exceed it"
    )
    flakes: int = option(0, integer(0, example=1), flag="--flakes N", help="Number of failures that may be flaky")
    strict: bool = switch("--strict", "Exit with 1 if a check is partial, too")


class InitFlags(Table):
    """The package or class that ``ordeal init`` writes a machine for; None for the package of the current folder."""

    target: str | None = None
    seconds: float = option(
        3.0,
        number("a number of seconds from 0.1 to 3600", 3, "0.1 to 3600", lambda value: 0.1 <= value <= 3600),
        flag="--seconds SECONDS",
        help="Time of the first run",
    )
    cls: str | None = option(
        None,
        text("the name of a class", "Cart"),
        "the most promising",
        flag="--class CLASS",
        help="Take this class of the package",
    )
    ci: str | None = option(
        None,
        one_of("github", quoted=False),
        "none",
        flag="--ci SERVICE",
        help="Write a workflow that explores on each push and each night: github",
    )
    on_exists: str | None = ON_EXISTS
    dry_run: bool = switch("--dry-run", "Print what would be written, as a diff; write nothing")
    json: bool = switch("--json", "Print the outcome as JSON")


class PackFlags(Table):
    """The failure that ``ordeal pack`` packs; None for the last one that was saved."""

    trace: str | None = None
    output: str | None = place("-o, --output PATH", "File of the archive", "ID.zip")
    on_exists: str | None = ON_EXISTS


class ProfileFlags(ProfileConfig, CommandFlags):
    """What ``ordeal profile`` counts: ``tests`` are classes, simulated tests and traces; none for the settings file."""

    tests: tuple[str, ...] = ()
    baseline: str | None = place("--baseline FILE", "An earlier report as JSON, which no figure may exceed", "none")
    memory: bool = switch("--memory", "Look for objects that runs leave behind, in place of counting")
    runs: int | None = option(
        None, integer(1, 10_000, example=60), "60, with --memory 20", flag="--runs N", help="Random runs of each test"
    )
    seed: int = option(42, integer(0, SEED_MAX, example=42), flag="--seed N", help="Seed of the runs")
    max_time: float = option(60.0, SECONDS_ABOVE_0, flag="--max-time SECONDS", help="Time of each test")


class ReplayFlags(Table):
    """What ``ordeal replay`` does with a trace; None for the last failure that was saved."""

    trace: str | None = None
    check: bool = switch("--check", "Only read it, and say what has changed since; run nothing")
    shrink: bool = switch("--shrink", "Make the trace shorter")
    ablate: bool = switch("--ablate", "Find the faults that it needs")
    output: str | None = place("-o, --output PATH", "Save the shrunk trace")
    plain: str | None = place("--plain PATH", "Write plain Python that fails the same way; - for stdout")
    on_exists: str | None = ON_EXISTS
    json: bool = switch("--json", "Print the outcome as JSON")
    verbose: bool = switch("-v, --verbose", "Show each step and the traceback")
    pdb: bool = switch("--pdb", "Debug where it fails")


class ReportFlags(Table):
    """Which report ``ordeal report`` makes, from which runs; none for the latest."""

    what: str
    runs: tuple[str, ...] = ()
    folder: str | None = place(
        "-o, --report-dir PATH", "Folder of the report", ".ordeal/report; of html, that of the run"
    )
    on_exists: str | None = ON_EXISTS
    json: bool = switch("--json", "Print the comparison as JSON")


class SchemaFlags(Table):
    """Which schema ``ordeal schema`` prints."""

    name: str


class SeedsFlags(Table):
    """What ``ordeal seeds`` replays; ``words`` are none, or `pull`, the address of a store, and classes."""

    words: tuple[str, ...] = ()
    dir: str | None = place("--dir DIR", "Folder of the seeds", f"that of {DEFAULT_PATH}, else .ordeal/seeds")
    prune_fixed: bool = switch("--prune-fixed", "Delete seeds that pass now")
    json: bool = switch("--json", "Print the outcome as JSON")
    verbose: bool = switch("-v, --verbose", "Show programs, tracebacks and output")


class ViewFlags(Table):
    """The trace that ``ordeal view`` makes a page of; None for the last failure that was saved."""

    trace: str | None = None
    no_browser: bool = switch("--no-browser", "Only print the path of the page")
    output: str | None = place("-o, --output PATH", "File of the page", ".ordeal/report/failure-ID.html")
    on_exists: str | None = ON_EXISTS


#: The tables that declare the flags of each command.
_TABLES: dict[str, tuple[type[Table], ...]] = {
    "artifacts": (ArtifactsFlags,),
    "bisect": (BisectFlags,),
    "catalog": (CatalogFlags,),
    "chimp": (ChimpFlags,),
    "compare": (CompareFlags,),
    "dashboard": (DashboardFlags,),
    "diff": (DiffFlags,),
    "doctor": (DoctorFlags,),
    "env": (EnvFlags,),
    "fleet": (FleetFlags,),
    "gate": (GateFlags,),
    "init": (InitFlags,),
    "pack": (PackFlags,),
    "profile": (ProfileFlags,),
    "replay": (ReplayFlags,),
    "report": (ReportFlags,),
    "schema": (SchemaFlags,),
    "seeds": (SeedsFlags,),
    "view": (ViewFlags,),
    "explore": (ReportConfig, HealthConfig, ExplorationOptions, ExploreFlags),
    "benchmark": (ExplorationOptions, BenchmarkConfig),
    "mutate": (MutateOptions,),
}
#: The flags of each command, in the groups and in the order of its help.
_FLAGS = {
    "explore": {
        "Search": "config target_modules seed max_time max_runs patience workers isolate buggify_prob shrink "
        "confirm_fresh",
        "Seeds": "known no_seeds prune_fixed_seeds",
        "State": "save_state_to resume_from store",
        "Fleet": "on members image job_options project fleet_name dry_run",
        "Output": "verbose progress all generate_tests on_exists formats report_dir json fail_on",
    },
    "benchmark": {"Trials": "config max_workers time metric repeat seed", "Output": "json"},
    "mutate": {
        "Mutants": "config exclude preset operators since sample seed mutant",
        "Judges": "tests judges runs deselect_failing",
        "How they judge": "workers passed budget memory no_cache",
        "Exit code": "threshold assertion_threshold new_only",
        "Kill and accept": "kill_budget output on_exists reason",
        "Output": "every lists json",
    },
}


@cache
def flags_of(command: str) -> dict[str, tuple[str, Option]]:
    """Return each option of a command of ``ordeal`` with its group in the help, in the order of the help."""
    declared = {name: each for table in _TABLES.get(command, ()) for name, each in table.options.items()}
    groups = _FLAGS.get(command, {"Options": " ".join(declared)})
    return {name: (group, declared[name]) for group, names in groups.items() for name in names.split()}


def record_of(command: str, given: Mapping[str, Any]) -> Table:
    """Return the record of a command that has one, filled with its command line; ``None`` means not given."""
    table = _TABLES[command][0]
    words = {*table.names} - table.options.keys()
    return table(**{name: given[name] for name in words & given.keys()}).with_flags(given)
