"""Every option of the settings file and of an exploration, declared once: a field of a table.

Everything reads options here: the settings file, the command line, the Explorer, the reference pages. A new option of
the search is a field of ``SearchConfig`` or of ``Tuning``. Code that acts on an option reads the field of the record.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from ordeal._base.limits import SEED_MAX
from ordeal._base.memory_limit import MEMORY_MIB_MAX
from ordeal._base.outside import OutsideMode
from ordeal.config.checks import (
    CLASS_PATH,
    KNOWN,
    MODULES,
    PATH,
    PERCENT_FROM_0,
    PROBABILITY,
    SWITCH,
    TRACES,
    integer,
    number,
    one_of,
    some_of,
    text,
    texts,
)
from ordeal.config.table import Table, option

DEFAULT_PATH = "ordeal.toml"
#: Where a person's own store is named, perhaps with a password.
STORE_VARIABLE = "ORDEAL_STORE"

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

WORKERS_MAX = 4096
#: Where the figures of `ordeal profile` are kept that the gate compares with, unless its flags say otherwise.
BASELINE = "ordeal-baseline.json"
#: Where the accepted mutants are named, unless the settings say otherwise.
ACCEPTED_FILE = "ordeal-accepted.toml"

STEPS = integer(1, 10_000, example=50)  # a tape holds no more
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


# How to explore


class SearchConfig(Table):
    """How long and what to search. Times are in seconds.

    ``max_runs`` is ``None`` for no limit, ``workers`` 0 for all cores, and ``rule_timeout`` ``None`` for the class's
    own limit. ``checkpoint_prob`` and ``rule_swarm`` are ``None`` to let ``swarm_policy`` decide.
    """

    target_modules: tuple[str, ...] = option(
        (), MODULES, "none", flag="-t, --target MODULE", help="Module to measure coverage of; repeatable"
    )
    max_time: float = option(
        60.0,
        SECONDS_ABOVE_0,
        flag="--max-time SECONDS",
        help="Stop after this long; shrinking takes up to half of it again",
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
        integer(0, SEED_MAX, expected="a whole number from 0 to 2**64 - 1", example=42),
        flag="--seed N",
        help="Random seed",
    )
    max_checkpoints: int = option(256, integer(0, 65_536, example=256))
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


class Tuning(Table):
    """Finer settings of a search. The defaults suit nearly all programs.

    Args:
        checkpoint_kind: how a run gets back to its state: ``copy`` copies it, ``replay`` runs the steps to it again,
            ``fork`` has a process hold it (Linux only). ``auto`` copies while copies behave as the steps that led to
            them; otherwise it runs the steps again, or forks where that takes long.
        value_reuse_prob: share of the numbers of a large range, texts and bytes that repeat a value: one from earlier
            in the run, a constant of the targets, one that they compared, or one that led to new code. The strategy
            always allows it.
        comparison_tracing: ``auto`` watches what the target modules compare, in replays of some runs, and makes runs
            that turn the comparisons. ``off`` never does.
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


class ExplorerConfig(Tuning, SearchConfig):
    """The section ``[explorer]``: how to search."""


class Fleet(Table):
    """Where the members of a fleet run, how many there are, and how the project gets there.

    Args:
        on: ``local:N``, ``ray://HOST:PORT``, ``dask://HOST:PORT``, ``slurm`` or ``kubernetes``. None explores here.
        members: number of members; 0 for one, or N of ``local:N``.
        image: container image of the members on Kubernetes.
        job_options: options of the job of Slurm or Kubernetes, each ``NAME=VALUE``.
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
    members: int = option(
        0,
        integer(0, 100_000, expected="a whole number from 0 (by `--on`) to 100000", example=8),
        "1, or N of local:N",
        flag="--members N",
        help="Number of members",
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
    project: str = option(
        "auto",
        text('"auto", "none" or a folder', "auto", '`"auto"`, `"none"` or a folder'),
        flag="--project WHAT",
        help="Project to send to members on Ray and Dask: auto (this folder), none, or a folder",
    )
    fleet_name: str | None = option(
        None, FLEET_NAME, "by the time", flag="--fleet-name NAME", help="Name for `ordeal fleet status`"
    )

    def __init__(self, on: str | None = None, **more: Any) -> None:
        """Fill in the table."""
        super().__init__(on=on, **more)

    @property
    def member_count(self) -> int:
        """How many members these options ask for; 0 for ``local:0``, which has none."""
        kind, _, rest = (self.on or "").partition(":")
        return self.members or (int(rest) if kind == "local" and rest else 1)


class FleetConfig(Fleet):
    """The section ``[fleet]``: members, and the store where they meet, which also serves searches without a fleet."""

    store: str | None = option(
        None,
        text("an address", "dir:///srv/ordeal", "address"),
        "none",
        flag="--store URL",
        help="Share discoveries with other hosts (dir://PATH, redis://HOST/DB)",
    )


class ShrinkOptions(Table):
    """How far failing traces are shrunk."""

    shrink: bool = option(True, SWITCH, "shrink", flag="--no-shrink", help="Do not shrink failures", sets=False)
    max_shrink_time: float = option(30.0, SECONDS_FROM_0)


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


class ExhaustiveOptions(ShrinkOptions):
    """The options of a bounded exhaustive search: ``values`` is ``None`` for all values of each argument."""

    depth: int = option(3, STEPS)
    limit: int = option(1_000_000, RUNS)
    faults: bool = option(False, SWITCH)
    values: int | None = option(None, integer(1, example=10))


# The other sections


class TestConfig(Table):
    """One ``[[tests]]`` entry: a class to explore. ``None`` means that the ``[explorer]`` section or the class decides.

    ``class_path`` is the key ``class``, as ``module.path:ClassName``. ``swarm`` overrides ``rule_swarm`` in this entry.
    """

    __test__ = False  # The name makes pytest think that this is a test.

    class_path: str = option(None, CLASS_PATH, "required", key="class")
    target_modules: tuple[str, ...] | None = option(None, MODULES, "from `[explorer]`", replaces="target_modules")
    steps_per_run: int | None = option(None, STEPS, "from `[explorer]`", replaces="steps_per_run")
    swarm: bool | None = option(None, SWITCH, "from `[explorer]`", replaces="rule_swarm")
    rule_timeout: float | None = option(None, RULE_TIMEOUT, "from `[explorer]`", replaces="rule_timeout")


class ReportConfig(Table):
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


#: What `ordeal doctor` calls its checks of a machine. A search itself makes the first of them, and warns of no others.
SEARCHED = 6
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


class HealthConfig(Table):
    """The section ``[health]``: the warnings of ``ordeal doctor`` at which it, and a search, ends with 1."""

    fail_on: tuple[str, ...] = option(
        (),
        some_of(*HEALTH, "all", example="rules"),
        "none",
        flag="--fail-on CHECKS",
        help=f"Exit with 1 at a warning: all, {', '.join(HEALTH)}",
    )


class ProfileConfig(Table):
    """The section ``[profile]``: what figures of ``ordeal profile`` may be, and those that the gate compares."""

    budget: float = option(
        0.0, PERCENT_FROM_0, flag="--budget PERCENT", help="By how much a figure may exceed the baseline"
    )
    growth: str = option(
        "n log n",
        one_of("linear", "n log n", "quadratic", "cubic"),
        flag="--growth NAME",
        help="Fastest growth that passes: linear, n log n, quadratic or cubic",
    )
    leaks: int = option(
        0, integer(0, example=2), flag="--leaks N", help="How many lines may leave objects behind, with --memory"
    )


class MutationsConfig(Table):
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
        help="Argument for pytest, for example tests/unit; repeatable",
    )
    passed: tuple[str, ...] = option(
        (),
        texts("a list of paths", "HOME/.aws"),
        "none",
        key="pass",
        flag="--pass PATH",
        help="Path that tests read in the home folder, such as HOME/.aws, or that needs no copy; repeatable",
    )
    preset: str = option(
        "standard",
        one_of("extreme", "essential", "standard", "thorough", "chimp", example="essential"),
        flag="-p, --preset NAME",
        help="Set of changes: extreme, essential, standard, thorough or chimp",
    )
    operators: tuple[str, ...] = option(
        (),
        texts("a list of operators", "comparison"),
        "those of the preset",
        flag="--operators NAMES",
        help="Changes to make, by name, instead of a preset",
    )
    judges: str | None = option(
        None,
        one_of("tests", "machines", example="machines"),
        "tests, or machines where no other tests exist",
        key="with",
        flag="--with WHAT",
        help="Judge by the tests of pytest, or by the machines of ordeal.toml",
    )
    threshold: float | None = option(
        None, PERCENT, "none", flag="-t, --threshold PERCENT", help="Exit with 1 for a lower score"
    )
    assertion_threshold: float | None = option(
        None,
        PERCENT,
        "none",
        flag="--assertion-threshold PERCENT",
        help="Exit with 1 if assertions kill a smaller share",
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
        20.0, CLOCKED_FROM_0, flag="--kill-budget SECONDS", help="With kill: time of the whole search"
    )


SECTIONS: dict[str, type[Table]] = {
    "explorer": ExplorerConfig,
    "tests": TestConfig,
    "report": ReportConfig,
    "health": HealthConfig,
    "fleet": FleetConfig,
    "mutations": MutationsConfig,
    "profile": ProfileConfig,
}


def options_of_entry(options: ExplorationOptions, test: TestConfig) -> ExplorationOptions:
    """Return ``options`` with the values of an entry of ``[[tests]]`` in place of the section ``[explorer]``."""
    own = {each.replaces: getattr(test, name) for name, each in test.options.items() if each.replaces}
    return options.replaced(**{name: value for name, value in own.items() if value is not None})
