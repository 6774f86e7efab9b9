"""The table of options: what it accepts from flags and arguments, and all that has to repeat something of it."""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

import _ordeal_pytest
from ordeal import Explorer
from ordeal._base.limits import SEED_MAX
from ordeal._engine.execution.settings import Settings
from ordeal._engine.seed_corpus.paths import CORPUS_DIR
from ordeal.buggify import DEFAULT_PROBABILITY
from ordeal.cli.commands import commands
from ordeal.config.flags import _TABLES, BenchmarkConfig, ExploreFlags, flags_of
from ordeal.config.options import (
    FLEET_NAME,
    JOB_OPTIONS,
    ON,
    SECTIONS,
    ExhaustiveOptions,
    ExplorationOptions,
    ExplorerConfig,
    Fleet,
    ReportConfig,
    TestConfig,
    Tuning,
    options_of_entry,
)
from ordeal.config.table import Table, keys_of, values_of
from ordeal.errors import ConfigError

ROOT = Path(__file__).parent.parent.parent.parent
TABLES: list[type[Table]] = [
    *SECTIONS.values(),
    ExhaustiveOptions,
    *(table for tables in _TABLES.values() for table in tables),
]
# What is explored, who hears of it, and the groups of options.
NO_OPTIONS = {"self", "test_class", "progress", "shrink_progress", "tuning"}


class Idle(RuleBasedStateMachine):
    @rule()
    def wait(self) -> None: ...


@pytest.mark.parametrize("table", TABLES)
def test_every_field_is_an_option_with_a_default_that_fits(table: type[Any]) -> None:
    options = table.options
    # A record of a command has words without a flag, too.
    assert list(options) == list(table.names) or table not in SECTIONS.values()
    for option in options.values():
        assert option.check.accept(option.check.example) is not None
        if option.default is None:
            assert option.words or not option.flag
        elif option.default != "":  # no value stands for none
            assert option.check.accept(option.default) == option.default


@pytest.mark.parametrize("function", [Explorer.__init__, Explorer.run, Explorer.exhaustive])
def test_the_explorer_takes_options_of_the_table_with_their_defaults(function: Any) -> None:
    options = (ExhaustiveOptions if function == Explorer.exhaustive else ExplorationOptions).options
    parameters = inspect.signature(function).parameters
    assert len(parameters) <= 22
    for name in parameters.keys() - NO_OPTIONS:
        # None stands for an empty list, and in `run` for what the Explorer was made with.
        assert parameters[name].default in (options[name].default, None)


def test_every_option_of_the_search_is_an_argument() -> None:
    taken = {name for function in (Explorer.__init__, Explorer.run) for name in inspect.signature(function).parameters}
    groups = Fleet.options.keys() | Tuning.options.keys()
    assert ExplorationOptions.options.keys() == (taken - NO_OPTIONS) | groups


def test_each_argument_of_the_explorer_arrives() -> None:
    given: dict[str, Any] = {
        "target_modules": ["json"],
        "seed": 3,
        "max_checkpoints": 4,
        "checkpoint_prob": 1,
        "record_traces": True,
        "checkpoint_strategy": "recent",
        "fault_toggle_prob": 0.5,
        "workers": 2,
        "isolate": True,
        "max_memory": 512,
        "store": "dir://s",
        "share_edges": False,
        "share_checkpoints": False,
        "corpus_dir": "seeds",
        "rule_swarm": True,
        "rule_timeout": 5,
        "buggify_prob": 0.2,
        "known": ["x"],
    }
    tuning: dict[str, Any] = {
        "checkpoint_kind": "copy",
        "value_reuse_prob": 0.3,
        "comparison_tracing": "off",
        "seed_mutation_prob": 0.4,
        "swarm_policy": "classic",
        "coverage": "counts",
    }
    fleet: dict[str, Any] = {
        "on": "slurm",
        "members": 4,
        "image": "app",
        "job_options": ["a=b"],
        "project": "none",
        "fleet_name": "n",
    }
    made = Explorer(Idle, **given, tuning=Tuning(**tuning), on=Fleet(**fleet)).options
    expected = given | tuning | fleet
    expected |= {"target_modules": ("json",), "known": ("x",), "job_options": ("a=b",), "corpus_dir": Path("seeds")}
    changed = {name: value for name, value in values_of(made).items() if value != type(made).options[name].default}
    assert changed == expected
    assert type(made.checkpoint_prob) is float
    assert Explorer(Idle, on="local:4").options.on == "local:4"


# Values from flags, entries and arguments


def test_flags_replace_what_was_given() -> None:
    given = {"seed": 7, "max_time": 5, "workers": None, "repeat": 7, "no_seeds": True}
    assert ExplorerConfig(seed=1, workers=3).with_flags(given) == ExplorerConfig(seed=7, max_time=5.0, workers=3)


@pytest.mark.parametrize(
    ("config", "given", "message", "hint"),
    [
        (
            ExplorerConfig(),
            {"max_time": -1},
            "`--max-time` is -1, not a number of seconds above 0",
            "write a number of seconds above 0, for example `--max-time 60`",
        ),
        (
            BenchmarkConfig(),
            {"metric": "bugs"},
            '`--metric` is "bugs", not one of runs, steps, edges',
            "write one of runs, steps, edges, for example `--metric runs`",
        ),
        (
            ExplorationOptions(),
            {"store": ""},
            '`--store` is "", not an address',
            "write an address, for example `--store dir:///srv/ordeal`",
        ),
    ],
)
def test_a_flag_that_cannot_be_used_is_named(config: Any, given: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.with_flags(given)
    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_an_entry_takes_the_place_of_the_section() -> None:
    options = ExplorationOptions(steps_per_run=9, rule_swarm=True, rule_timeout=5.0)
    assert options_of_entry(options, TestConfig(class_path="a:B")) == options
    own = TestConfig(class_path="a:B", steps_per_run=7, swarm=False, rule_timeout=0.0)
    assert options_of_entry(options, own) == ExplorationOptions(steps_per_run=7, rule_swarm=False, rule_timeout=0.0)


def test_only_time_may_have_no_end() -> None:
    assert ExplorationOptions().with_arguments(max_time=math.inf).max_time == math.inf
    with pytest.raises(ConfigError):
        ExplorationOptions().with_arguments(buggify_prob=math.inf)


@pytest.mark.parametrize(
    ("table", "name", "value", "message", "example"),
    [
        (ExplorationOptions, "seed", -1, "-1; it must be a whole number from 0 to 2**64 - 1", "seed=42"),
        (ExplorationOptions, "seed", None, "None; it must be a whole number from 0 to 2**64 - 1", "seed=42"),
        (ExplorationOptions, "share_edges", 1, "1; it must be a boolean", "share_edges=True"),
        (ExplorationOptions, "corpus_dir", 3, "3; it must be a path", 'corpus_dir=".ordeal/state"'),
        (
            ExplorationOptions,
            "checkpoint_kind",
            "pickle",
            "'pickle'; it must be one of auto, copy, replay, fork",
            'checkpoint_kind="auto"',
        ),
        (
            ExplorationOptions,
            "max_runs",
            "9" * 199,
            f"'{'9' * 96}...; it must be a whole number, 1 or more",
            "max_runs=1000",
        ),
        (ExplorationOptions, "max_time", 0, "0; it must be a number of seconds above 0", "max_time=60"),
        (ExhaustiveOptions, "depth", True, "True; it must be a whole number from 1 to 10000", "depth=50"),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(
    table: Any, name: str, value: object, message: str, example: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        table().with_arguments(**{name: value})
    assert caught.value.message == f"{name} is {message}"
    assert caught.value.hint is not None
    assert caught.value.hint.endswith(f", for example `{example}`")


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (
            ON,
            ["local", "local:4", "ray://h:1", "dask://h", "slurm", "kubernetes"],
            ["", "local:x", "ssh://h", "slurm:4", 4],
        ),
        (FLEET_NAME, ["night-1"], ["../x", "-x"]),
        (JOB_OPTIONS, [("time=1", "exclusive")], [["a=b\n#SBATCH"]]),
    ],
)
def test_where_members_run_and_what_they_are_called(check: Any, good: list[object], bad: list[object]) -> None:
    assert [check.accept(value) for value in good] == good
    assert [check.accept(value) for value in bad] == [None] * len(bad)


# What repeats something of the table


def test_an_entry_replaces_options_of_the_section() -> None:
    replaced = [option.replaces for option in TestConfig.options.values() if option.replaces]
    assert set(replaced) <= ExplorerConfig.options.keys()
    assert list(keys_of(TestConfig)) == ["class", "target_modules", "steps_per_run", "swarm", "rule_timeout"]


def test_saved_states_hold_what_decides_the_search_in_the_order_that_they_always_had() -> None:
    given = values_of(ExplorationOptions())
    settings = Settings(**given, test_class="a:B", session_seed=1, swarm="off", progress=None, shrink_progress=None)
    assert list(settings.saved_options()) == [
        *("seed", "session_seed", "max_checkpoints", "checkpoint_prob", "checkpoint_strategy", "checkpoint_kind"),
        *("fault_toggle_prob", "seed_mutation_prob", "buggify_prob", "steps_per_run", "rule_swarm", "swarm_policy"),
        *("swarm", "coverage", "value_reuse_prob", "comparison_tracing"),
    ]


COMMANDS = [command.name or "" for command in commands()]


@pytest.mark.parametrize("command", COMMANDS)
def test_flags_of_a_command_differ(command: str) -> None:
    options = [option for _, option in flags_of(command).values()]
    names = [name for option in options for name in (option.long_flag, option.short_flag) if name]
    assert len(set(names)) == len(names) >= len(options)
    assert all(option.flag for option in options)


def test_every_flag_belongs_to_a_command() -> None:
    flagged = {name for table in TABLES for name, option in table.options.items() if option.flag}
    assert flagged == {name for command in COMMANDS for name in flags_of(command)}


def defaults_of_the_core() -> dict[str, object]:
    """The defaults of the core's options, by the names of its session's arguments."""
    (header,) = (ROOT / "cpp/core").rglob("session_options.h")
    found = re.findall(r"^  [\w:<>]+ (\w+) = ([^;]+);", header.read_text("utf-8"), re.MULTILINE)
    names = {"policy": "swarm_policy"}
    return {names.get(name, name): value_of_cpp(text) for name, text in found}


def value_of_cpp(text: str) -> object:
    if "::k" in text:
        return text.partition("::k")[2].lower()
    return None if text == "{}" else float(text) if re.match(r"[\d.]+$", text) else text


def test_the_core_has_the_same_defaults() -> None:
    core, options = defaults_of_the_core(), ExplorationOptions.options
    common = core.keys() & options.keys()
    assert {name: core[name] for name in common} == {name: options[name].default for name in common}
    assert len(common) >= 9


def test_modules_that_may_not_import_the_table_say_the_same() -> None:
    """They are loaded by programs under test and by every run of pytest, which does not wait for ordeal."""
    explorer, report = ExplorerConfig(), ReportConfig()
    assert explorer.buggify_prob == DEFAULT_PROBABILITY == _ordeal_pytest.BUGGIFY_PROBABILITY
    assert SEED_MAX == _ordeal_pytest.CHAOS_SEED_MAX
    assert report.corpus_dir == CORPUS_DIR == _ordeal_pytest.CORPUS_DIR
    assert ExploreFlags().config == _ordeal_pytest.CONFIG_FILE
    for section, key, *_ in _ordeal_pytest._USED_SETTINGS:
        assert key in keys_of(SECTIONS[section])
