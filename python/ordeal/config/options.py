"""Every option, declared once: name, type and default are those of a field, the rest is the field's ``Option``.

Everything reads options here: the settings file, the command line, the Explorer, the reference pages. A new option of
the search is a field of ``SearchConfig`` or of ``Tuning``. Code that acts on an option reads the field of the record.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ordeal._base.formatting import one_line
from ordeal._base.memory_limit import MEMORY_MIB_MAX
from ordeal._base.outside import OutsideMode
from ordeal.config.checks import (
    CLASS_PATH,
    KNOWN,
    MODULES,
    PATH,
    PROBABILITY,
    SWITCH,
    TRACES,
    VALUE_CHARS_MAX,
    Check,
    accepted,
    as_python,
    as_word,
    integer,
    number,
    one_of,
    refusal,
    shown,
    some_of,
    text,
    texts,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
OnInterrupt = Literal["stop", "leave"]
Traces = bool | Literal["sample"]
#: What `--report` writes; each is a module of `_report/formats`.
FORMATS = ("coverage", "github", "html", "json", "junit", "md", "ndjson", "observe", "sarif")

RNG_SEED_MAX = 2**64 - 1
WORKERS_MAX = 4096
STEPS_MAX = 10_000  # a tape holds no more
CHECKPOINTS_MAX = 65_536
MEMBERS_MAX = 100_000  # more need relays
#: Where the accepted mutants are named, unless the settings say otherwise.
ACCEPTED_FILE = "ordeal-accepted.toml"

STEPS = integer(1, STEPS_MAX, example=50)
RUNS = integer(1, example=1000)
SECONDS_ABOVE_0 = number("a number of seconds above 0", 60, "seconds above 0", lambda value: value > 0, endless=True)
# No clock waits longer than this.
CLOCKED_ABOVE_0 = number("a number of seconds above 0", 60, "seconds above 0", lambda value: 0 < value <= 1e9)
SECONDS_FROM_0 = number("a number of seconds, 0 or more", 30, "seconds from 0", lambda value: value >= 0, endless=True)
CLOCKED_FROM_0 = number("a number of seconds, 0 or more", 30, "seconds from 0", lambda value: 0 <= value <= 1e9)
# A rule timeout of 0 or below switches the timer off, as on ChaosTest itself.
RULE_TIMEOUT = number("a number of seconds", 30.0, "seconds", endless=True)
PERCENT = number("a number from 0 to 100", 80, "0 to 100", lambda value: 0 <= value <= 100)
ON = text(
    "`local:N`, `ray://HOST:PORT`, `dask://HOST:PORT`, `slurm` or `kubernetes`",
    "local:4",
    "where members run",
    r"local(:[0-9]{1,4})?|(ray|dask)://[^\s]+|slurm|kubernetes",
)
FLEET_NAME = text(
    "a name of at most 40 lower-case letters, digits and hyphens",
    "nightly",
    "lower-case letters, digits, `-`",
    r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?",
)
JOB_OPTIONS = texts('a list of "NAME=VALUE"', "time=02:00:00", r"[\w.-]+(=[^\n\0]*)?", 'list of `"NAME=VALUE"`')


@dataclass(frozen=True, slots=True)
class Option:
    """What there is to say about an option besides its type, which is the field's.

    - ``words``: the default in words for the reference and the help, where the value does not say it.
    - ``key``: its name in the settings file, if no field can have that name.
    - ``flag``: how a command line writes it, such as ``-w, --workers N``; without a last word it takes no value.
    - ``sets``: the value that a flag without a value sets.
    - ``replaces``: in an entry of ``[[tests]]``, the option that it overrides.
    """

    check: Check
    words: str = ""
    key: str = ""
    flag: str = ""
    help: str = ""
    sets: bool = True
    replaces: str = ""
    name: str = ""
    default: Any = None

    @property
    def short_flag(self) -> str:
        """Return the flag of one letter, or an empty text."""
        return self.flag.partition(", ")[0] if ", " in self.flag else ""

    @property
    def long_flag(self) -> str:
        """Return the long flag; one that no command has is named as it would be."""
        return self.flag.rpartition(", ")[2].partition(" ")[0] or f"--{self.name.replace('_', '-')}"

    @property
    def metavar(self) -> str:
        """Return the word for the value of the flag, empty for a flag without a value."""
        return self.flag.rpartition(", ")[2].partition(" ")[2]

    @property
    def repeats(self) -> bool:
        """Return True if each use of the flag adds a value."""
        return isinstance(self.default, tuple)

    def help_text(self) -> str:
        """Return what the help of a command says of the option: what it does, and a default worth showing."""
        is_value = not isinstance(self.default, bool | tuple | None)
        default = self.words or (as_word(self.default) if is_value else "")
        is_shown = self.metavar and default not in ("", "none", "do not")
        return f"{self.help} [default: {default}]" if is_shown else self.help


def option(default: Any, check: Check, words: str = "", **more: Any) -> Any:
    """Declare the field of a record that is an option; see ``Option`` for what else there is to say."""
    return field(default=default, metadata={"option": Option(check, words, default=default, **more)})


def switch(flag: str, what: str) -> Any:
    """Declare a switch of a command line, which is off until it is given."""
    return option(False, SWITCH, "off", flag=flag, help=what)


def place(flag: str, what: str, words: str = "none") -> Any:
    """Declare the path of a file or folder that a command line names; None unless it is given."""
    return option(None, text("a path", "out"), words, flag=flag, help=what)


# How to explore


@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """How long and what to search. Times are in seconds.

    ``max_runs`` is ``None`` for no limit, ``workers`` 0 for all cores, and ``rule_timeout`` ``None`` for the class's
    own limit. ``checkpoint_prob`` and ``rule_swarm`` are ``None`` to let ``swarm_policy`` decide.
    """

    target_modules: tuple[str, ...] = option(
        (), MODULES, "none", flag="-t, --target MODULE", help="Module under test, whose coverage steers; repeatable"
    )
    max_time: float = option(
        60.0, SECONDS_ABOVE_0, flag="--max-time SECONDS", help="Stop after this long; shrinking comes on top"
    )
    max_runs: int | None = option(None, RUNS, "no limit", flag="--max-runs N", help="Stop after N runs")
    patience: int = option(
        0,
        integer(0, example=5000),
        "never",
        flag="--patience N",
        help="Stop after N runs in a row that found nothing new",
    )
    seed: int = option(
        42,
        integer(0, RNG_SEED_MAX, expected="a whole number from 0 to 2**64 - 1", example=42),
        flag="--seed N",
        help="Random seed",
    )
    max_checkpoints: int = option(256, integer(0, CHECKPOINTS_MAX, example=256))
    checkpoint_prob: float | None = option(None, PROBABILITY, "by `swarm_policy`")
    checkpoint_strategy: CheckpointStrategy = option("energy", one_of(*get_args(CheckpointStrategy)))
    steps_per_run: int = option(50, STEPS)
    fault_toggle_prob: float = option(0.3, PROBABILITY)
    buggify_prob: float = option(
        0.1, PROBABILITY, flag="--buggify-prob P", help="Probability that a buggify point acts"
    )
    workers: int = option(
        0,
        integer(0, WORKERS_MAX, expected="a whole number from 0 (all cores) to 4096", example=2),
        "one per core",
        flag="-w, --workers N",
        help="Worker processes",
    )
    rule_swarm: bool | None = option(None, SWITCH, "by `swarm_policy`")
    max_memory: int = option(
        0, integer(0, MEMORY_MIB_MAX, expected="a whole number of MiB, 0 for no limit", example=2048)
    )
    share_edges: bool = option(True, SWITCH)
    share_checkpoints: bool = option(True, SWITCH)
    rule_timeout: float | None = option(None, RULE_TIMEOUT, "the class decides")
    known: tuple[str, ...] = option((), KNOWN, "none", flag="--ignore ID", help="Do not report a failure; repeatable")


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """How a search goes about it. The defaults suit nearly all programs.

    Args:
        checkpoint_kind: how a run gets back to its state: ``copy`` copies it, ``replay`` runs the steps to it again,
            ``fork`` has a process hold it (Linux only). ``auto`` copies while copies behave as the steps that led to
            them; otherwise it runs the steps again, or forks where that takes long.
        value_reuse_prob: share of the numbers of a large range, texts and bytes that repeat a value: one from earlier
            in the run, a constant of the targets, one that they compared, or one that led to new code. The strategy
            always allows it.
        comparison_tracing: ``auto`` watches what the targets compare, in replays of some runs when no new code was
            reached for a while, and makes runs that turn the comparisons. ``off`` never does.
        seed_mutation_prob: share of the rule calls, in runs that branch, whose arguments are a small change of those
            with which the rule was last called on the way to the checkpoint. None means never, or what the adaptive
            policy finds best.
        swarm_policy: who decides what kind of run comes next: whether it branches, repeats or changes what led
            somewhere, how its swarm configuration is drawn, how long it is. ``classic`` has fixed shares; ``adaptive``
            gives more runs to the kinds that bring more that is new for the steps they take. What another argument
            fixes stays as it says.
        coverage: ``counts`` sees how often code ran, ``novelty`` sees at hardly any cost whether it ran, ``auto`` looks
            at the first runs and chooses.
        outside: what an exception means that ends a thread, a callback of an event loop or a task that nothing awaits:
            ``fail`` makes it a failure of the step, ``warn`` a note of the report, ``ignore`` nothing.
    """

    checkpoint_kind: CheckpointKind = option("auto", one_of(*get_args(CheckpointKind)))
    value_reuse_prob: float = option(0.1, PROBABILITY)
    comparison_tracing: TracingOfComparisons = option("auto", one_of(*get_args(TracingOfComparisons)))
    seed_mutation_prob: float | None = option(None, PROBABILITY, "by `swarm_policy`")
    swarm_policy: SwarmPolicy = option("adaptive", one_of(*get_args(SwarmPolicy), example="adaptive"))
    coverage: CoverageLevel = option("auto", one_of(*get_args(CoverageLevel)))
    outside: OutsideMode = option("fail", one_of(*get_args(OutsideMode), example="warn"))


@dataclass(frozen=True, kw_only=True)
class ExplorerConfig(Tuning, SearchConfig):
    """The section ``[explorer]``: how to search."""


@dataclass(frozen=True)
class Fleet:
    """Where the members of a fleet run, how many there are, and how the project gets there.

    Args:
        on: ``local:N``, ``ray://HOST:PORT``, ``dask://HOST:PORT``, ``slurm`` or ``kubernetes``. None explores here.
        members: number of members; 0 for one, or N of ``local:N``.
        image: container image of the members on Kubernetes.
        job_options: options of the job of Slurm or Kubernetes, each ``NAME=VALUE``.
        on_interrupt: what Ctrl-C does to the members: ``stop`` or ``leave``.
        project: what members on Ray and Dask are sent: ``auto`` for the current folder, ``none``, or a folder.
        fleet_name: its name for ``ordeal fleet status``; None makes one from the time.
    """

    on: str | None = option(
        None,
        ON,
        "here",
        flag="--on WHERE",
        help="Start members: local:N, ray://HOST:PORT, dask://HOST:PORT, slurm, kubernetes",
    )
    _: KW_ONLY
    members: int = option(
        0,
        integer(0, MEMBERS_MAX, expected="a whole number from 0 (by `--on`) to 100000", example=8),
        "1, or N of local:N",
        flag="--members N",
        help="How many members",
    )
    image: str | None = option(
        None,
        text("the name of an image", "registry.example.org/myapp-tests:latest", "text"),
        "none",
        flag="--image NAME",
        help="Container image of the members on Kubernetes",
    )
    job_options: tuple[str, ...] = option(
        (),
        JOB_OPTIONS,
        "none",
        flag="--job-option NAME=VALUE",
        help="Option of the job of Slurm or Kubernetes; repeatable",
    )
    on_interrupt: OnInterrupt = option(
        "stop",
        one_of(*get_args(OnInterrupt)),
        flag="--on-interrupt WHAT",
        help="What Ctrl-C does to the members: stop or leave",
    )
    project: str = option(
        "auto",
        text('"auto", "none" or a folder', "auto", '`"auto"`, `"none"` or a folder'),
        flag="--project WHAT",
        help="What is sent to members on Ray and Dask: auto (this folder), none, or a folder",
    )
    fleet_name: str | None = option(
        None, FLEET_NAME, "by the time", flag="--fleet-name NAME", help="Name for `ordeal fleet status`"
    )

    @property
    def member_count(self) -> int:
        """How many members these options ask for; 0 for ``local:0``, which has none."""
        kind, _, rest = (self.on or "").partition(":")
        return self.members or (int(rest) if kind == "local" and rest else 1)


@dataclass(frozen=True, kw_only=True)
class FleetConfig(Fleet):
    """The section ``[fleet]``: members, and the store where they meet, which also serves searches without a fleet."""

    store: str | None = option(
        None,
        text("an address", "dir:///srv/ordeal", "address"),
        "none",
        flag="--store URL",
        help="Share discoveries with other machines (dir://PATH, redis://HOST/DB)",
    )


@dataclass(frozen=True, kw_only=True)
class ShrinkOptions:
    """How far failing traces are shrunk."""

    shrink: bool = option(True, SWITCH, "shrink", flag="--no-shrink", help="Do not shrink failures", sets=False)
    max_shrink_time: float = option(30.0, SECONDS_FROM_0)


@dataclass(frozen=True, kw_only=True)
class ExplorationOptions(ExplorerConfig, ShrinkOptions, FleetConfig):
    """All options of an exploration: those of ``[explorer]`` and ``[fleet]``, and those that no settings file holds."""

    record_traces: Traces = option(False, TRACES)
    isolate: bool = option(
        False, SWITCH, "in processes", flag="--in-process", help="Explore in this process alone", sets=False
    )
    corpus_dir: Path | None = option(None, PATH)
    confirm_fresh: bool = option(
        False, SWITCH, "replay", flag="--no-confirm-fresh", help="Skip the replay in a fresh process", sets=False
    )
    save_state_to: Path | None = option(None, PATH, "none", flag="--save-state PATH", help="Save progress for --resume")
    resume_from: Path | None = option(
        None, PATH, "none", flag="--resume PATH", help="Continue from a file written by --save-state"
    )


@dataclass(frozen=True, kw_only=True)
class ExhaustiveOptions(ShrinkOptions):
    """The options of a bounded exhaustive search: ``values`` is ``None`` for all values of each argument."""

    depth: int = option(3, STEPS)
    limit: int = option(1_000_000, RUNS)
    faults: bool = option(False, SWITCH)
    values: int | None = option(None, integer(1, example=10))


# The other sections


@dataclass(frozen=True, kw_only=True)
class TestConfig:
    """One ``[[tests]]`` entry: a class to explore. ``None`` means that the ``[explorer]`` section or the class decides.

    ``class_path`` is the key ``class``, as ``module.path:ClassName``. ``swarm`` overrides ``rule_swarm`` in this entry.
    """

    __test__ = False  # The name makes pytest think that this is a test.

    class_path: str = field(metadata={"option": Option(CLASS_PATH, "required", "class")})
    steps_per_run: int | None = option(None, STEPS, "from `[explorer]`", replaces="steps_per_run")
    swarm: bool | None = option(None, SWITCH, "from `[explorer]`", replaces="rule_swarm")
    rule_timeout: float | None = option(None, RULE_TIMEOUT, "from `[explorer]`", replaces="rule_timeout")


@dataclass(frozen=True, kw_only=True)
class ReportConfig:
    """The section ``[report]``: what to write where. ``output`` is the JSON report, written for "json" and "both".

    Traces of failures are always saved in ``traces_dir``; ``traces`` adds those of runs that reached something new.
    ``formats`` are the reports for other programs, which are written into ``report_dir``.
    ``keep_runs`` is how many sessions keep their events and their result in ``.ordeal/runs``, 0 for none.
    """

    format: ReportFormat = option("text", one_of(*get_args(ReportFormat)))
    output: str = option("ordeal-report.json", text("a file path", "ordeal-report.json"))
    traces: bool = option(False, SWITCH)
    traces_dir: str = option(".ordeal/traces", text("a folder path", ".ordeal/traces"))
    verbose: bool = option(
        False, SWITCH, "off", flag="-v, --verbose", help="Show live progress; -vv shows all options, too"
    )
    corpus_dir: str = option(".ordeal/seeds", text("a folder path", ".ordeal/seeds"))
    formats: tuple[str, ...] = option(
        (),
        some_of(*FORMATS, example="junit"),
        "none",
        flag="--report FORMATS",
        help=f"Write reports: {', '.join(FORMATS)}; repeatable",
    )
    report_dir: str = option(
        ".ordeal/report",
        text("a folder path", ".ordeal/report"),
        flag="--report-dir PATH",
        help="Folder of these reports",
    )
    keep_runs: int = option(20, integer(0, 10_000, example=20))


#: What `ordeal doctor` calls its checks of a machine. A search itself sees the first six.
HEALTH = (
    "target modules",
    "rules",
    "faults",
    "properties",
    "stability",
    "outside",
    "swallowed exceptions",
    "invariants",
    "copies",
    "speed",
)


@dataclass(frozen=True, kw_only=True)
class HealthConfig:
    """The section ``[health]``: the warnings of ``ordeal doctor`` at which it, and a search, ends with 1."""

    fail_on: tuple[str, ...] = option(
        (),
        some_of(*HEALTH, "all", example="rules"),
        "none",
        flag="--fail-on CHECKS",
        help=f"End with 1 at a warning: all, {', '.join(HEALTH)}",
    )


@dataclass(frozen=True, kw_only=True)
class MutationsConfig:
    """The section ``[mutations]``: what ``ordeal mutate`` does where the command line gives no option.

    The files to mutate are ``targets``, where the command names none.
    """

    targets: tuple[str, ...] = option((), texts("a list of files and folders", "src/shop"), "the packages here")
    exclude: tuple[str, ...] = option(
        (),
        texts("a list of patterns of paths", "src/shop/vendor"),
        "none",
        flag="--exclude PATTERN",
        help="Files or folders not to mutate, such as src/shop/vendor or *_pb2.py; repeatable",
    )
    tests: tuple[str, ...] = option(
        (),
        texts("a list of arguments of pytest", "tests/unit"),
        "none",
        flag="--tests ARGUMENTS",
        help="What pytest is given, for example tests/unit; repeatable",
    )
    passed: tuple[str, ...] = option(
        (),
        texts("a list of paths", "HOME/.aws"),
        "none",
        key="pass",
        flag="--pass PATH",
        help="What judges may see of the home folder, such as HOME/.aws, or need no copy of; repeatable",
    )
    preset: str = option(
        "standard",
        one_of("extreme", "essential", "standard", "thorough", "chimp", example="essential"),
        flag="-p, --preset NAME",
        help="Which changes are made: extreme, essential, standard, thorough or chimp",
    )
    operators: tuple[str, ...] = option(
        (),
        texts("a list of operators", "comparison"),
        "those of the preset",
        flag="--operators NAMES",
        help="Which changes are made, by name, in place of a preset",
    )
    judges: str = option(
        "tests",
        one_of("tests", "machines", example="machines"),
        key="with",
        flag="--with WHAT",
        help="Who judges: the tests of pytest, or the machines of ordeal.toml",
    )
    threshold: float | None = option(
        None, PERCENT, "none", flag="-t, --threshold PERCENT", help="Exit with 1 for a lower score"
    )
    assertion_threshold: float | None = option(
        None,
        PERCENT,
        "none",
        flag="--assertion-threshold PERCENT",
        help="Exit with 1 where assertions notice less: an error that breaks a test does not count",
    )
    accept_file: str = option(ACCEPTED_FILE, text("the path of a file", "accepted.toml"))
    budget: float | None = option(
        None,
        CLOCKED_ABOVE_0,
        "none",
        flag="--budget SECONDS",
        help="Stop after SECONDS; try one mutant of each line first",
    )
    kill_budget: float = option(
        20.0, CLOCKED_FROM_0, flag="--kill-budget SECONDS", help="With kill: how long to search, in all"
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


@dataclass(frozen=True, kw_only=True)
class CommandFlags:
    """The options that ``ordeal explore`` and ``ordeal benchmark`` share: the file that they read."""

    config: str = option(
        DEFAULT_PATH, text("a file path", DEFAULT_PATH), flag="-c, --config PATH", help="Settings file"
    )
    json: bool = option(False, SWITCH, "as text", flag="--json", help="Print the report as JSON")


@dataclass(frozen=True, kw_only=True)
class ExploreFlags(CommandFlags):
    """The options of ``ordeal explore`` itself: which files it reads and writes, and what it prints."""

    no_seeds: bool = option(False, SWITCH, "use", flag="--no-seeds", help="Do not replay saved failures (seeds)")
    prune_fixed_seeds: bool = option(
        False, SWITCH, "keep", flag="--prune-fixed-seeds", help="Delete saved failures (seeds) that pass now"
    )
    watch: bool = option(
        False, SWITCH, "once", flag="--watch", help="After each save replay the seeds and explore again, until Ctrl-C"
    )
    dashboard: bool = option(
        False, SWITCH, "serve none", flag="--dashboard", help="Serve pages of the runs meanwhile, and print where"
    )
    generate_tests: str | None = option(
        None, text("a file path", "test_found.py"), "none", flag="--generate-tests PATH", help="Write pytest functions"
    )
    dry_run: bool = option(
        False,
        SWITCH,
        "start it",
        flag="--dry-run",
        help="Print the job, or the files that a cluster would be sent; start nothing",
    )
    force: bool = switch("--force", "Replace files that ordeal did not write")
    all: bool = option(False, SWITCH, "ten", flag="--all", help="Show all failures, not only ten of each class")
    progress: str = option(
        "auto",
        one_of("auto", "live", "plain", "none"),
        flag="--progress KIND",
        help="Show it live, as plain lines, or none: auto is live on a terminal",
    )


@dataclass(frozen=True, kw_only=True)
class BenchmarkConfig(CommandFlags):
    """What ``ordeal benchmark`` measures and prints. ``time`` is in seconds for each trial.

    ``max_workers`` is ``None`` for as many as there are CPUs; ``csv`` and ``simulate`` are ``None`` for none.
    """

    max_workers: int | None = option(
        None,
        integer(1, WORKERS_MAX, example=4),
        "one for each CPU",
        flag="--max-workers N",
        help="Most workers to measure",
    )
    time: float = option(10.0, SECONDS_ABOVE_0, flag="--time SECONDS", help="Length of each trial")
    metric: Metric = option(
        "runs",
        one_of(*get_args(Metric), quoted=False),
        flag="--metric NAME",
        help="What to count: runs, steps or edges",
    )
    repeat: int = option(3, integer(1, 100, example=3), flag="--repeat N", help="Trials of each number of workers")
    csv: str | None = option(
        None,
        text("a file path that ends in .csv", "scaling.csv", pattern=r"[^\0]*\.csv"),
        "do not",
        flag="--csv PATH",
        help="Write the measurements as a CSV file",
    )
    simulate: int | None = option(
        None, integer(10, 100_000, example=1000), "do not", flag="--simulate N", help="Extrapolate to N workers"
    )


@dataclass(frozen=True, kw_only=True)
class MutateFlags(CommandFlags):
    """The options of ``ordeal mutate`` itself: which mutants, how each is judged, what is written."""

    test_filter: str | None = option(
        None,
        text("an expression", "cart and not slow", "expression"),
        "all",
        flag="-k, --test-filter EXPRESSION",
        help="Only tests that match, as -k of pytest takes it",
    )
    runs: int = option(1500, RUNS, flag="--runs N", help="Runs of each machine, whose traces judge")
    traces: tuple[str, ...] = option(
        (),
        texts("a list of folders", "traces"),
        "none",
        flag="--traces DIR",
        help="Traces that judge besides saved failures and guards; repeatable",
    )
    since: str | None = option(
        None,
        text("a commit", "main", "commit"),
        "all lines",
        flag="--since COMMIT",
        help="Only mutants of lines that differ from a commit",
    )
    diff: str | None = option(
        None,
        text("a file path", "changes.diff"),
        "all lines",
        flag="--diff PATH",
        help="Only mutants of lines that a diff has added",
    )
    sample: int | None = option(None, RUNS, "all", flag="--sample N", help="Only N mutants, drawn by --seed")
    seed: int = option(0, integer(0, example=1), flag="--seed N", help="Seed of the sample")
    mutant: str | None = option(
        None,
        text("the beginning of an id", "3f1c", "id"),
        "all",
        flag="--mutant ID",
        help="Only the mutants whose id begins so",
    )
    shard: str | None = option(
        None,
        text("a part such as 1/4", "1/4", "K/N"),
        "all",
        flag="--shard K/N",
        help="Only the K-th of N parts, to share the work between machines",
    )
    rerun: bool = option(False, SWITCH, "off", flag="--rerun", help="Only mutants that nothing noticed in the last run")
    workers: int | None = option(
        None, integer(1, WORKERS_MAX, example=4), "all cores", flag="-w, --workers N", help="Mutants at a time"
    )
    isolation: str = option(
        "batch",
        one_of("batch", "fork", "spawn", quoted=False),
        flag="--isolation KIND",
        help="batch: 50 mutants to a process; fork: one; spawn: one that imports the program again, as --route import",
    )
    route: str = option(
        "auto",
        one_of("auto", "swap", "import", quoted=False),
        flag="--route KIND",
        help="How a mutant comes into the program: swap in memory, import, or auto for what its place needs",
    )
    memory: int = option(
        1024, integer(16, 1 << 20, example=1024), flag="--memory MIB", help="What a mutant may take beyond the original"
    )
    mutant_timeout: float | None = option(
        None,
        CLOCKED_ABOVE_0,
        "ten to twenty times that",
        flag="--mutant-timeout SECONDS",
        help="What tests may take of a mutant, at least twice what they take on the original",
    )
    deselect_failing: bool = option(
        False,
        SWITCH,
        "off",
        flag="--deselect-failing",
        help="Go on without tests that fail on the original; they judge nothing",
    )
    resume: bool = option(False, SWITCH, "off", flag="--resume", help="Resume an interrupted run")
    no_cache: bool = option(
        False, SWITCH, "off", flag="--no-cache", help="Judge again although nothing has changed since the last run"
    )
    new_only: bool = option(
        False, SWITCH, "off", flag="--new-only", help="Exit with 1 if any unaccepted mutant survives"
    )
    every: bool = option(False, SWITCH, "off", flag="--all", help="Show each survivor, not only the first of each line")
    lists: bool = option(False, SWITCH, "off", flag="--list", help="Print the mutants, and judge none")
    rates: bool = option(
        False, SWITCH, "off", flag="--rates", help="Print how much was noticed by operator and by function"
    )
    report_json: str | None = option(
        None,
        text("a file path", "mutation.json"),
        "none",
        flag="--report-json PATH",
        help="Write a report for the tools of Stryker",
    )
    generate_stubs: str | None = option(
        None,
        text("a file path", "test_open.py"),
        "none",
        flag="--generate-stubs PATH",
        help="Write the beginning of a test for each line where nothing noticed, into a new file",
    )
    pin: bool = option(
        False,
        SWITCH,
        "off",
        flag="--pin",
        help="With kill: where nothing fails, write a test of the value that differs",
    )
    output: str | None = option(
        None,
        text("a file path", "test_killed.py"),
        "stdout",
        flag="-o, --output PATH",
        help="With kill: where the test goes",
    )
    reason: str | None = option(
        None,
        text("a reason", "logging only", "text", pattern=r"(?s).*"),
        "none",
        flag="--reason TEXT",
        help="With accept: why no test needs to notice it",
    )


# The commands that have one record each: its fields are the flags, and the words that stand without one.


@dataclass(frozen=True, kw_only=True)
class BisectFlags:
    """What ``ordeal bisect`` replays, and between which commits."""

    trace: str
    good: str = option("", text("a commit", "v1.0"), flag="--good COMMIT", help="Commit without the failure")
    bad: str = option("HEAD", text("a commit", "HEAD"), flag="--bad COMMIT", help="Commit with the failure")


@dataclass(frozen=True, kw_only=True)
class CatalogFlags:
    """Which files and folders ``ordeal catalog`` lists; none for the target modules."""

    paths: tuple[str, ...] = ()
    json: bool = switch("--json", "Print the catalog as JSON")


@dataclass(frozen=True, kw_only=True)
class ChimpFlags:
    """What ``ordeal chimp`` breaks; ``words`` are the commands of tests and the patterns to leave alone."""

    words: tuple[str, ...] = ()
    code: str = option("", text("a folder", "src"), flag="--code DIR", help="Folder of the program")
    timeout: float = option(
        20.0,
        number("a number of seconds from 0.1", 20, "seconds from 0.1", lambda value: 0.1 <= value <= 1e9),
        flag="--timeout SECONDS",
        help="How long the tests may take",
    )
    fail_on: str | None = option(
        None,
        text("dead, uncovered, or both with a comma between them", "dead"),
        "none",
        flag="--fail-on WORDS",
        help="End with 1 for any of these: dead, uncovered",
    )
    logs: bool = switch("--logs", "Append what no test notices to FILE.py.log beside each file")


@dataclass(frozen=True, kw_only=True)
class DashboardFlags:
    """What ``ordeal dashboard`` serves. ``beside`` is True where it ends with its input."""

    port: int = option(
        0, integer(0, 65535, example=8080), "one that is free", flag="--port N", help="Port to listen on"
    )
    open: bool = switch("--open", "Open the page in a browser")
    runs: str | None = place("--runs PATH", "Folder of the runs", ".ordeal/runs")
    store: str | None = option(
        None,
        text("an address", "dir:///srv/ordeal"),
        "$ORDEAL_STORE",
        flag="--store URL",
        help="Show the fleets in a store too",
    )
    beside: bool = False


@dataclass(frozen=True, kw_only=True)
class DoctorFlags(HealthConfig):
    """Which classes ``ordeal doctor`` examines; none for those of the settings file."""

    classes: tuple[str, ...] = ()
    config: str | None = place("-c, --config PATH", "Settings file", DEFAULT_PATH)
    strict: bool = switch("--strict", "End with 1 for a warning, too")
    json: bool = switch("--json", "Print all checks as JSON")
    verbose: bool = switch("-v, --verbose", "Show the checks that passed")


@dataclass(frozen=True, kw_only=True)
class FleetFlags:
    """What ``ordeal fleet`` does with the fleet in the store ``url``; None for that of the environment."""

    action: str
    url: str | None = None
    name: str | None = option(
        None, FLEET_NAME, "the one that was started last", flag="--name NAME", help="Name of the fleet"
    )
    follow: bool = switch("-f, --follow", "Show it again each second until it has ended; Ctrl-C leaves")
    json: bool = switch("--json", "Print the records as JSON; with --follow, a line each second")


@dataclass(frozen=True, kw_only=True)
class InitFlags:
    """For what ``ordeal init`` writes a machine; None for the package of the current folder."""

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
    yes: bool = switch("-y, --yes", "Take the most promising class without asking")
    ci: str | None = option(
        None,
        one_of("github", quoted=False),
        "none",
        flag="--ci SERVICE",
        help="Write a workflow that explores on each push and each night: github",
    )
    dry_run: bool = switch("--dry-run", "Print what would be written, as a diff; write nothing")
    json: bool = switch("--json", "Print the outcome as JSON")


@dataclass(frozen=True, kw_only=True)
class ReplayFlags:
    """What ``ordeal replay`` does with a trace; None for the last failure that was saved."""

    trace: str | None = None
    shrink: bool = switch("--shrink", "Make the trace shorter")
    ablate: bool = switch("--ablate", "Find the faults that it needs")
    output: str | None = place("-o, --output PATH", "Save the shrunk trace")
    plain: str | None = place("--plain PATH", "Write plain Python that fails the same way; - for stdout")
    force: bool = switch("--force", "Replace files that ordeal did not write")
    json: bool = switch("--json", "Print the outcome as JSON")
    verbose: bool = switch("-v, --verbose", "Show each step and the traceback")
    pdb: bool = switch("--pdb", "Debug where it fails")


@dataclass(frozen=True, kw_only=True)
class ReportFlags:
    """Which report ``ordeal report`` makes, and of which runs; none for the latest."""

    what: str
    runs: tuple[str, ...] = ()
    folder: str | None = place(
        "-o, --report-dir PATH", "Folder of the report", ".ordeal/report; of html, that of the run"
    )
    json: bool = switch("--json", "Print the comparison as JSON")


@dataclass(frozen=True, kw_only=True)
class SchemaFlags:
    """Which schema ``ordeal schema`` prints."""

    name: str


@dataclass(frozen=True, kw_only=True)
class SeedsFlags:
    """What ``ordeal seeds`` replays; ``words`` are none, or `pull`, the address of a store, and classes."""

    words: tuple[str, ...] = ()
    dir: str | None = place("--dir DIR", "Folder of the seeds", f"that of {DEFAULT_PATH}, else .ordeal/seeds")
    prune_fixed: bool = switch("--prune-fixed", "Delete seeds that pass now")
    json: bool = switch("--json", "Print the outcome as JSON")
    verbose: bool = switch("-v, --verbose", "Show programs, tracebacks and output")
    watch: bool = switch("--watch", "Replay again what a saved file concerns, until Ctrl-C")


@dataclass(frozen=True, kw_only=True)
class ViewFlags:
    """Of which trace ``ordeal view`` makes a page; None for the last failure that was saved."""

    trace: str | None = None
    no_browser: bool = switch("--no-browser", "Only print the path of the page")
    output: str | None = place("-o, --output PATH", "File of the page", ".ordeal/report/failure-ID.html")


#: The tables that declare the flags of each command.
_TABLES: dict[str, tuple[type, ...]] = {
    "bisect": (BisectFlags,),
    "catalog": (CatalogFlags,),
    "chimp": (ChimpFlags,),
    "dashboard": (DashboardFlags,),
    "doctor": (DoctorFlags,),
    "fleet": (FleetFlags,),
    "init": (InitFlags,),
    "replay": (ReplayFlags,),
    "report": (ReportFlags,),
    "schema": (SchemaFlags,),
    "seeds": (SeedsFlags,),
    "view": (ViewFlags,),
    "explore": (ReportConfig, HealthConfig, ExplorationOptions, ExploreFlags),
    "benchmark": (ExplorationOptions, BenchmarkConfig),
    "mutate": (MutationsConfig, MutateFlags),
}
#: The flags of each command, in the groups and in the order of its help.
_FLAGS = {
    "explore": {
        "Search": "config target_modules seed max_time max_runs patience workers isolate buggify_prob shrink "
        "confirm_fresh",
        "Seeds": "known no_seeds prune_fixed_seeds watch",
        "State": "save_state_to resume_from store",
        "Fleet": "on members image job_options on_interrupt project fleet_name dry_run",
        "Output": "verbose progress dashboard all generate_tests force formats report_dir json fail_on",
    },
    "benchmark": {"Trials": "config max_workers time metric repeat seed", "Output": "simulate csv json"},
    "mutate": {
        "Mutants": "config exclude preset operators since diff sample seed shard mutant rerun",
        "Judges": "tests test_filter judges runs traces deselect_failing",
        "How they judge": "workers passed budget isolation route memory mutant_timeout resume no_cache",
        "Exit code": "threshold assertion_threshold new_only",
        "Kill and accept": "pin kill_budget output reason",
        "Output": "every lists rates report_json generate_stubs json",
    },
}


# Reading the table


def options_of(table: type) -> Mapping[str, Option]:
    """Return the options of a table by the names of their fields, in the order of declaration."""
    if table not in _READ:
        fields = [each for each in dataclasses.fields(table) if "option" in each.metadata]
        _READ[table] = {each.name: dataclasses.replace(each.metadata["option"], name=each.name) for each in fields}
    return _READ[table]


# Each exploration reads some tables, which never change.
_READ: dict[type, Mapping[str, Option]] = {}


def keys_of(section: type) -> dict[str, Option]:
    """Return the options of a section by their keys in the settings file."""
    return {each.key or name: each for name, each in options_of(section).items()}


@cache
def flags_of(command: str) -> dict[str, tuple[str, Option]]:
    """Return each option of a command of ``ordeal`` with its group in the help, in the order of the help."""
    declared = {name: each for table in _TABLES.get(command, ()) for name, each in options_of(table).items()}
    groups = _FLAGS.get(command, {"Options": " ".join(declared)})
    return {name: (group, declared[name]) for group, names in groups.items() for name in names.split()}


def record_of(command: str, given: Mapping[str, Any]) -> Any:
    """Return the record of a command that has one, filled with its command line; ``None`` means not given."""
    table = _TABLES[command][0]
    words = {each.name for each in dataclasses.fields(table) if "option" not in each.metadata}
    return override(table(**{name: given[name] for name in words & given.keys()}), given)


def values_of(options: Any) -> dict[str, Any]:
    """Return the values of a filled-in table by name."""
    return {each.name: getattr(options, each.name) for each in dataclasses.fields(options)}


def options_of_entry(options: ExplorationOptions, test: TestConfig) -> ExplorationOptions:
    """Return ``options`` with the values of an entry of ``[[tests]]`` in place of the section ``[explorer]``."""
    own = {each.replaces: getattr(test, name) for name, each in options_of(TestConfig).items() if each.replaces}
    return dataclasses.replace(options, **{name: value for name, value in own.items() if value is not None})


# Values from outside the settings file


def override[Table: DataclassInstance](config: Table, given: Mapping[str, object]) -> Table:
    """Return ``config`` with the values of command line options, by name; ``None`` means not given.

    Names of options of other tables are ignored. Raises ``ConfigError`` naming the option for a value that would be
    invalid in the settings file too.
    """
    values = {}
    for name, each in options_of(type(config)).items():
        value = given.get(name)
        if value is not None:
            # Several values of one flag are quoted as one text.
            problem = f"`{each.long_flag}` is {shown(as_word(value) if isinstance(value, tuple) else value)}"
            example = f"`{each.long_flag} {as_word(each.check.example)}`"
            values[name] = accepted(each.check, value, problem, example)
    return dataclasses.replace(config, **values)


def checked[Table: DataclassInstance](config: Table, **given: object) -> Table:
    """Return ``config`` with the arguments of a call, in their final types.

    Raises ``ConfigError`` naming the argument for a value that cannot be used.
    """
    options = options_of(type(config))
    values = {name: _checked_argument(options[name], value) for name, value in given.items()}
    return dataclasses.replace(config, **values)


def _checked_argument(option: Option, value: object) -> Any:
    check = option.check
    if (value is None and option.default is None) or (check.endless and value == math.inf):
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
