"""Every option, declared once: name, type and default are those of a field, the rest is the field's ``Option``.

Everything reads options here: the settings file, the command line, the arguments of the Explorer, saved states, the
core, the reference pages. A new option of the search is a field of ``ExplorerConfig``, or of ``ExplorationOptions``
when no settings file holds it, and an argument of the Explorer.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from ordeal._base.memory_limit import MEMORY_MIB_MAX
from ordeal.config.checks import (
    ALWAYS,
    CLASS_PATH,
    KNOWN,
    MODULES,
    NO_MUTANTS,
    PATH,
    PROBABILITY,
    SWITCH,
    TRACES,
    integer,
    one_of,
    seconds,
    some_of,
    text,
)
from ordeal.config.fleet_options import FleetConfig
from ordeal.config.mutation_options import MutationsConfig
from ordeal.config.option import ABSENT, METADATA, SAME, Flag, Option, Place

DEFAULT_PATH = "ordeal.toml"

CheckpointStrategy = Literal["energy", "uniform", "recent"]
CheckpointKind = Literal["auto", "copy", "replay", "fork"]
#: The kinds that ``auto`` chooses from.
SnapshotKind = Literal["copy", "replay", "fork"]
TracingOfComparisons = Literal["auto", "off"]
SwarmPolicy = Literal["classic", "adaptive"]
CoverageLevel = Literal["auto", "novelty", "counts"]
ReportFormat = Literal["text", "json", "both"]
Metric = Literal["runs", "steps", "edges"]
Traces = bool | Literal["sample"]
#: What `--report` writes; each is a module of `_report/formats`.
FORMATS = ("coverage", "github", "html", "json", "junit", "md", "ndjson", "observe", "sarif")

#: Who decides what kind of run comes next, by default.
DEFAULT_SWARM_POLICY: Final = "adaptive"

RNG_SEED_MAX = 2**64 - 1
WORKERS_MAX = 4096
STEPS_MAX = 10_000  # a tape holds no more
CHECKPOINTS_MAX = 65_536

SEED = integer(0, RNG_SEED_MAX, expected="a whole number from 0 to 2**64 - 1", example=42)
STEPS = integer(1, STEPS_MAX, example=50)
RUNS = integer(1, example=1000)
SECONDS_ABOVE_0 = seconds("a number of seconds above 0", 60, "seconds above 0", lambda value: value > 0)
SECONDS_FROM_0 = seconds("a number of seconds, 0 or more", 30, "seconds from 0", lambda value: value >= 0)
# A rule timeout of 0 or below switches the timer off, as on ChaosTest itself.
RULE_TIMEOUT = seconds("a number of seconds", 30.0, "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorerConfig:
    """The section ``[explorer]``: how to search. Times are in seconds.

    ``max_runs`` is ``None`` for no limit, ``workers`` 0 for all cores, and ``rule_timeout`` ``None`` for the class's
    own limit. ``checkpoint_prob`` and ``rule_swarm`` are ``None`` to let ``swarm_policy`` decide.
    """

    target_modules: tuple[str, ...] = field(
        default=(),
        metadata=Option(
            MODULES,
            "none",
            init=None,
            flag=Flag(
                "--target", "MODULE", "Module under test, whose coverage steers; repeatable", short="-t", repeats=True
            ),
        ).metadata,
    )
    max_time: float = field(
        default=60.0,
        metadata=Option(
            SECONDS_ABOVE_0,
            run=SAME,
            flag=Flag("--max-time", "SECONDS", "Stop after this long; shrinking comes on top", "60"),
        ).metadata,
    )
    max_runs: int | None = field(
        default=None,
        metadata=Option(RUNS, "no limit", run=SAME, flag=Flag("--max-runs", "N", "Stop after N runs")).metadata,
    )
    patience: int = field(
        default=0,
        metadata=Option(
            integer(0, example=5000),
            run=SAME,
            flag=Flag("--patience", "N", "Stop after N runs in a row that found nothing new", "never"),
        ).metadata,
    )
    seed: int = field(
        default=42,
        metadata=Option(
            SEED,
            init=SAME,
            saved=1,
            flag=Flag("--seed", "N", "Random seed"),
        ).metadata,
    )
    max_checkpoints: int = field(
        default=256,
        metadata=Option(integer(0, CHECKPOINTS_MAX, example=256), init=SAME, saved=3, core="max_checkpoints").metadata,
    )
    checkpoint_prob: float | None = field(
        default=None,
        metadata=Option(PROBABILITY, "by `swarm_policy`", init=SAME, saved=4, core="checkpoint_prob").metadata,
    )
    checkpoint_strategy: CheckpointStrategy = field(
        default="energy",
        metadata=Option(
            one_of(*get_args(CheckpointStrategy), example="energy"), init=SAME, saved=5, core="checkpoint_strategy"
        ).metadata,
    )
    checkpoint_kind: CheckpointKind = field(
        default="auto",
        metadata=Option(one_of(*get_args(CheckpointKind), example="auto"), init=SAME, saved=6).metadata,
    )
    steps_per_run: int = field(default=50, metadata=Option(STEPS, run=SAME, saved=10, core="steps_per_run").metadata)
    fault_toggle_prob: float = field(
        default=0.3, metadata=Option(PROBABILITY, init=SAME, saved=7, core="fault_toggle_prob").metadata
    )
    buggify_prob: float = field(
        default=0.1,
        metadata=Option(
            PROBABILITY,
            init=SAME,
            saved=9,
            flag=Flag("--buggify-prob", "P", "Probability that a buggify point acts"),
        ).metadata,
    )
    value_reuse_prob: float = field(
        default=0.1, metadata=Option(PROBABILITY, init=SAME, saved=15, core="value_reuse_prob").metadata
    )
    comparison_tracing: TracingOfComparisons = field(
        default="auto",
        metadata=Option(one_of(*get_args(TracingOfComparisons), example="auto"), init=SAME, saved=16).metadata,
    )
    workers: int = field(
        default=0,
        metadata=Option(
            integer(0, WORKERS_MAX, expected="a whole number from 0 (all cores) to 4096", example=2),
            init=SAME,
            flag=Flag("--workers", "N", "Worker processes", "one per core", short="-w"),
        ).metadata,
    )
    rule_swarm: bool | None = field(
        default=None, metadata=Option(SWITCH, "by `swarm_policy`", init=SAME, saved=11, core="rule_swarm").metadata
    )
    swarm_policy: SwarmPolicy = field(
        default=DEFAULT_SWARM_POLICY,
        metadata=Option(
            one_of(*get_args(SwarmPolicy), example=DEFAULT_SWARM_POLICY), init=SAME, saved=12, core="swarm_policy"
        ).metadata,
    )
    max_memory: int = field(
        default=0,
        metadata=Option(
            integer(0, MEMORY_MIB_MAX, expected="a whole number of MiB, 0 for no limit", example=2048), init=SAME
        ).metadata,
    )
    share_edges: bool = field(default=True, metadata=Option(SWITCH, init=SAME).metadata)
    share_checkpoints: bool = field(default=True, metadata=Option(SWITCH, init=SAME).metadata)
    rule_timeout: float | None = field(
        default=None, metadata=Option(RULE_TIMEOUT, "the class decides", init=SAME).metadata
    )
    known: tuple[str, ...] = field(
        default=(),
        metadata=Option(
            KNOWN,
            "none",
            init=None,
            flag=Flag("--ignore", "ID", "Do not report a failure; repeatable", repeats=True),
        ).metadata,
    )
    seed_mutation_respect_strategies: bool = field(default=True, metadata=Option(ALWAYS, init=SAME).metadata)
    verbose: bool = field(
        default=False,
        metadata=Option(
            SWITCH, flag=Flag("--verbose", "", "Show live progress; -vv shows all options, too", "off", short="-v")
        ).metadata,
    )


@dataclass(frozen=True, kw_only=True)
class ShrinkOptions:
    """How far failing traces are shrunk."""

    shrink: bool = field(
        default=True,
        metadata=Option(
            SWITCH,
            run=SAME,
            exhaustive=SAME,
            flag=Flag("--no-shrink", "", "Do not shrink failures", "shrink", sets=False),
        ).metadata,
    )
    max_shrink_time: float = field(default=30.0, metadata=Option(SECONDS_FROM_0, run=SAME, exhaustive=SAME).metadata)


@dataclass(frozen=True, kw_only=True)
class ExplorationOptions(ExplorerConfig, ShrinkOptions, FleetConfig):
    """All options of an exploration: those of ``[explorer]``, and those that no settings file holds."""

    seed_mutation_prob: float | None = field(
        default=None, metadata=Option(PROBABILITY, init=SAME, saved=8, core="seed_mutation_prob").metadata
    )
    coverage: CoverageLevel = field(
        default="auto",
        metadata=Option(one_of(*get_args(CoverageLevel), example="auto"), init=SAME, saved=14).metadata,
    )
    record_traces: Traces = field(default=False, metadata=Option(TRACES, init=SAME, run=None).metadata)
    isolate: bool = field(
        default=False,
        metadata=Option(
            SWITCH,
            "in processes",
            init=SAME,
            flag=Flag("--in-process", "", "Explore in this process alone", sets=False),
        ).metadata,
    )
    mutation_targets: tuple[str, ...] = field(default=(), metadata=Option(NO_MUTANTS, init=None).metadata)
    corpus_dir: Path | None = field(default=None, metadata=Option(PATH, init=SAME).metadata)
    confirm_fresh: bool = field(
        default=False,
        metadata=Option(
            SWITCH,
            run=SAME,
            flag=Flag("--no-confirm-fresh", "", "Skip the replay in a fresh process", "replay", sets=False),
        ).metadata,
    )
    save_state_to: Path | None = field(
        default=None,
        metadata=Option(
            PATH, "none", run=SAME, flag=Flag("--save-state", "PATH", "Save progress for --resume")
        ).metadata,
    )
    resume_from: Path | None = field(
        default=None,
        metadata=Option(
            PATH, "none", run=SAME, flag=Flag("--resume", "PATH", "Continue from a file written by --save-state")
        ).metadata,
    )


@dataclass(frozen=True, kw_only=True)
class ExhaustiveOptions(ShrinkOptions):
    """The options of a bounded exhaustive search: ``values`` is ``None`` for all values of each argument."""

    depth: int = field(default=3, metadata=Option(STEPS, exhaustive=SAME).metadata)
    limit: int = field(default=1_000_000, metadata=Option(RUNS, exhaustive=SAME).metadata)
    faults: bool = field(default=False, metadata=Option(SWITCH, exhaustive=SAME).metadata)
    values: int | None = field(default=None, metadata=Option(integer(1, example=10), exhaustive=SAME).metadata)


# The other sections


@dataclass(frozen=True, slots=True, kw_only=True)
class TestConfig:
    """One ``[[tests]]`` entry: a class to explore. ``None`` means that the ``[explorer]`` section or the class decides.

    ``class_path`` is the key ``class``, as ``module.path:ClassName``. ``swarm`` overrides ``rule_swarm`` in this entry.
    """

    __test__ = False  # The name makes pytest think that this is a test.

    class_path: str = field(metadata=Option(CLASS_PATH, "required", "class").metadata)
    steps_per_run: int | None = field(
        default=None, metadata=Option(STEPS, "from `[explorer]`", replaces="steps_per_run").metadata
    )
    swarm: bool | None = field(
        default=None, metadata=Option(SWITCH, "from `[explorer]`", replaces="rule_swarm").metadata
    )
    rule_timeout: float | None = field(
        default=None, metadata=Option(RULE_TIMEOUT, "from `[explorer]`", replaces="rule_timeout").metadata
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportConfig:
    """The section ``[report]``: what to write where. ``output`` is the JSON report, written for "json" and "both".

    Traces of failures are always saved in ``traces_dir``; ``traces`` adds those of runs that reached something new.
    ``formats`` are the reports for other programs, which are written into ``report_dir``.
    ``keep_runs`` is how many sessions keep their events and their result in ``.ordeal/runs``, 0 for none.
    """

    format: ReportFormat = field(
        default="text", metadata=Option(one_of(*get_args(ReportFormat), example="text")).metadata
    )
    output: str = field(
        default="ordeal-report.json", metadata=Option(text("a file path", "ordeal-report.json")).metadata
    )
    traces: bool = field(default=False, metadata=Option(SWITCH).metadata)
    traces_dir: str = field(default=".ordeal/traces", metadata=Option(text("a folder path", ".ordeal/traces")).metadata)
    verbose: bool = field(default=False, metadata=Option(SWITCH).metadata)
    corpus_dir: str = field(default=".ordeal/seeds", metadata=Option(text("a folder path", ".ordeal/seeds")).metadata)
    formats: tuple[str, ...] = field(
        default=(),
        metadata=Option(
            some_of(*FORMATS, example="junit"),
            "none",
            flag=Flag("--report", "FORMATS", f"Write reports: {', '.join(FORMATS)}; repeatable", repeats=True),
        ).metadata,
    )
    report_dir: str = field(
        default=".ordeal/report",
        metadata=Option(
            text("a folder path", ".ordeal/report"), flag=Flag("--report-dir", "PATH", "Folder of these reports")
        ).metadata,
    )
    keep_runs: int = field(default=20, metadata=Option(integer(0, 10_000, example=20)).metadata)


#: What `ordeal doctor` calls its checks of a machine. A search itself sees the first five.
HEALTH = (
    "target modules",
    "rules",
    "faults",
    "properties",
    "stability",
    "swallowed exceptions",
    "invariants",
    "copies",
    "speed",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthConfig:
    """The section ``[health]``: the warnings of ``ordeal doctor`` at which it, and a search, ends with 1."""

    fail_on: tuple[str, ...] = field(
        default=(),
        metadata=Option(
            some_of(*HEALTH, "all", example="rules"),
            "none",
            flag=Flag("--fail-on", "CHECKS", f"End with 1 at a warning: all, {', '.join(HEALTH)}", repeats=True),
        ).metadata,
    )


SECTIONS: dict[str, type] = {
    "explorer": ExplorerConfig,
    "tests": TestConfig,
    "report": ReportConfig,
    "health": HealthConfig,
    "fleet": FleetConfig,
    "mutations": MutationsConfig,
}


# Options of the command line alone


CONFIG = Option(
    text("a file path", DEFAULT_PATH), flag=Flag("--config", "PATH", "Settings file", DEFAULT_PATH, short="-c")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreFlags:
    """The options of ``ordeal explore`` itself: which files it reads and writes, and what it prints."""

    config: str = field(default=DEFAULT_PATH, metadata=CONFIG.metadata)
    no_seeds: bool = field(
        default=False,
        metadata=Option(SWITCH, "use", flag=Flag("--no-seeds", "", "Do not replay saved failures (seeds)")).metadata,
    )
    prune_fixed_seeds: bool = field(
        default=False,
        metadata=Option(
            SWITCH, "keep", flag=Flag("--prune-fixed-seeds", "", "Delete saved failures (seeds) that pass now")
        ).metadata,
    )
    watch: bool = field(
        default=False,
        metadata=Option(
            SWITCH, "once", flag=Flag("--watch", "", "After each save replay the seeds and explore again, until Ctrl-C")
        ).metadata,
    )
    dashboard: bool = field(
        default=False,
        metadata=Option(
            SWITCH, "serve none", flag=Flag("--dashboard", "", "Serve pages of the runs meanwhile, and print where")
        ).metadata,
    )
    generate_tests: str | None = field(
        default=None,
        metadata=Option(
            text("a file path", "test_found.py"),
            "none",
            flag=Flag("--generate-tests", "PATH", "Write pytest functions"),
        ).metadata,
    )
    dry_run: bool = field(
        default=False,
        metadata=Option(
            SWITCH,
            "start it",
            flag=Flag("--dry-run", "", "Print the job that --on slurm or kubernetes would start; start nothing"),
        ).metadata,
    )
    all: bool = field(
        default=False,
        metadata=Option(
            SWITCH, "ten", flag=Flag("--all", "", "Show all failures, not only ten of each class")
        ).metadata,
    )
    json: bool = field(
        default=False,
        metadata=Option(SWITCH, "as text", flag=Flag("--json", "", "Print the report as JSON")).metadata,
    )
    progress: str = field(
        default="auto",
        metadata=Option(
            one_of("auto", "live", "plain", "none", example="auto"),
            flag=Flag("--progress", "KIND", "Show it live, as plain lines, or none: auto is live on a terminal"),
        ).metadata,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFlags:
    """The options of ``ordeal benchmark`` itself: the file that it reads, and what it prints."""

    config: str = field(default=DEFAULT_PATH, metadata=CONFIG.metadata)
    json: bool = field(
        default=False,
        metadata=Option(SWITCH, "as text", flag=Flag("--json", "", "Print the result as JSON")).metadata,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkConfig:
    """What ``ordeal benchmark`` measures, which no section of the file holds. ``time`` is in seconds for each trial.

    ``max_workers`` is ``None`` for as many as there are CPUs; ``csv`` and ``simulate`` are ``None`` for none.
    """

    max_workers: int | None = field(
        default=None,
        metadata=Option(
            integer(1, WORKERS_MAX, example=4),
            "one for each CPU",
            flag=Flag("--max-workers", "N", "Most workers to measure"),
        ).metadata,
    )
    time: float = field(
        default=10.0,
        metadata=Option(
            seconds("a number of seconds above 0", 10, "seconds above 0", lambda value: value > 0),
            flag=Flag("--time", "SECONDS", "Length of each trial"),
        ).metadata,
    )
    metric: Metric = field(
        default="runs",
        metadata=Option(
            one_of(*get_args(Metric), example="runs", quoted=False),
            flag=Flag("--metric", "NAME", "What to count: runs, steps or edges"),
        ).metadata,
    )
    repeat: int = field(
        default=3,
        metadata=Option(
            integer(1, 100, example=3), flag=Flag("--repeat", "N", "Trials of each number of workers")
        ).metadata,
    )
    csv: str | None = field(
        default=None,
        metadata=Option(
            text("a file path that ends in .csv", "scaling.csv", ending=".csv"),
            "do not",
            flag=Flag("--csv", "PATH", "Write the measurements as a CSV file"),
        ).metadata,
    )
    simulate: int | None = field(
        default=None,
        metadata=Option(
            integer(10, 100_000, example=1000), "do not", flag=Flag("--simulate", "N", "Extrapolate to N workers")
        ).metadata,
    )


#: The tables that declare the flags of each command.
_TABLES: dict[str, tuple[type, ...]] = {
    "explore": (ReportConfig, HealthConfig, ExplorationOptions, ExploreFlags),
    "benchmark": (ExplorationOptions, BenchmarkConfig, BenchmarkFlags),
}
#: The flags of each command, in the groups and in the order of its help.
_FLAGS = {
    "explore": {
        "Search": "config target_modules seed max_time max_runs patience workers isolate buggify_prob shrink "
        "confirm_fresh",
        "Seeds": "known no_seeds prune_fixed_seeds watch",
        "State": "save_state_to resume_from store",
        "Fleet": "on members image job_options on_interrupt project fleet_name dry_run",
        "Output": "verbose progress dashboard all generate_tests formats report_dir json fail_on",
    },
    "benchmark": {"Trials": "config max_workers time metric repeat seed", "Output": "simulate csv json"},
}


# Reading the table


def options_of(table: type) -> Mapping[str, Option]:
    """Return the options of a table by the names of their fields, in the order of declaration."""
    if table not in _READ:
        _READ[table] = MappingProxyType(
            {
                each.name: dataclasses.replace(option, name=each.name, default=each.default)
                for each, option in _declared(table)
            }
        )
    return _READ[table]


def _declared(table: type) -> Iterator[tuple[dataclasses.Field[Any], Option]]:
    """Yield each field of a table that is an option, with what was declared of it: without its name and default."""
    for each in dataclasses.fields(table):
        if METADATA in each.metadata:
            yield each, each.metadata[METADATA]


# By the table: each exploration reads some, and no table changes.
_READ: dict[type, Mapping[str, Option]] = {}


def keys_of(section: type) -> dict[str, Option]:
    """Return the options of a section by their keys in the settings file."""
    return {option.key or name: option for name, option in options_of(section).items()}


@cache
def arguments_of(place: Place) -> dict[str, Option]:
    """Return the options that are arguments at ``place``."""
    table = ExhaustiveOptions if place == "exhaustive" else ExplorationOptions
    return {name: each for name, each in options_of(table).items() if each.argument_default(place) is not ABSENT}


@cache
def flags_of(command: str) -> dict[str, Option]:
    """Return the options that a command of ``ordeal`` has, in the order of its help."""
    declared = {name: option for table in _TABLES[command] for name, option in options_of(table).items()}
    return {name: declared[name] for names in _FLAGS[command].values() for name in names.split()}


def group_of_flag(command: str, name: str) -> str:
    """Return the group in which the help of a command shows an option; empty for one that is not in the table."""
    groups = _FLAGS.get(command, {})
    return next((group for group, names in groups.items() if name in names.split()), "")


def saved_in_states(table: type) -> tuple[str, ...]:
    """Return the names of the options that decide the search, in the order in which saved states hold them."""
    saved = sorted((option.saved, each.name) for each, option in _declared(table) if option.saved)
    return tuple(name for _, name in saved)


def core_options_of(options: Any) -> dict[str, Any]:
    """Return the values in a filled-in table that the core takes, by their names there."""
    return {option.core: getattr(options, each.name) for each, option in _declared(type(options)) if option.core}


def values_of(options: Any) -> dict[str, Any]:
    """Return the values of a filled-in table by name."""
    return {each.name: getattr(options, each.name) for each in dataclasses.fields(options)}
