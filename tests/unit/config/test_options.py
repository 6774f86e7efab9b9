"""The table of options against all that has to repeat something of it."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import _ordeal_pytest
from ordeal import Explorer, _native
from ordeal._engine.execution.settings import Settings
from ordeal._engine.seed_corpus.paths import CORPUS_DIR
from ordeal._pytest import session_seed
from ordeal.buggify import DEFAULT_PROBABILITY, SEED_MAX
from ordeal.config import RNG_SEED_MAX, ExplorerConfig, ReportConfig, TestConfig
from ordeal.config.option import ABSENT, Place
from ordeal.config.options import (
    SECTIONS,
    BenchmarkConfig,
    BenchmarkFlags,
    ExhaustiveOptions,
    ExplorationOptions,
    ExploreFlags,
    arguments_of,
    flags_of,
    keys_of,
    options_of,
    saved_in_states,
)

ROOT = Path(__file__).parent.parent.parent.parent
TABLES = [*SECTIONS.values(), ExplorationOptions, ExhaustiveOptions, ExploreFlags, BenchmarkFlags, BenchmarkConfig]
# What is told of a run, and what is explored.
NO_OPTIONS = {"self", "test_class", "progress", "shrink_progress"}


@pytest.mark.parametrize("table", TABLES)
def test_every_field_is_an_option_with_a_default_that_fits(table: type[Any]) -> None:
    options = options_of(table)
    assert list(options) == list(table.__dataclass_fields__)
    for option in options.values():
        assert option.check.accept(option.check.example) is not None
        if option.default is None:
            assert option.words or not option.flag
        elif option.words != "required":
            assert option.check.accept(option.default) == option.default


@pytest.mark.parametrize(
    ("function", "place"), [(Explorer.__init__, "init"), (Explorer.run, "run"), (Explorer.exhaustive, "exhaustive")]
)
def test_the_explorer_takes_the_arguments_of_the_table(function: Any, place: Place) -> None:
    signature = inspect.signature(function).parameters
    taken = {name: argument.default for name, argument in signature.items() if name not in NO_OPTIONS}
    assert taken == {name: option.argument_default(place) for name, option in arguments_of(place).items()}


def test_every_option_of_the_search_is_an_argument() -> None:
    places: list[Place] = ["init", "run"]
    for name, option in options_of(ExplorationOptions).items():
        stands = [place for place in places if option.argument_default(place) is not ABSENT]
        assert stands or name == "verbose"


def test_an_entry_replaces_options_of_the_section() -> None:
    replaced = [option.replaces for option in options_of(TestConfig).values() if option.replaces]
    assert set(replaced) <= options_of(ExplorerConfig).keys()
    assert list(keys_of(TestConfig)) == ["class", "steps_per_run", "swarm", "rule_timeout"]


def test_saved_states_hold_what_decides_the_search_in_the_order_that_they_always_had() -> None:
    assert saved_in_states(Settings) == (
        "seed",
        "session_seed",
        "max_checkpoints",
        "checkpoint_prob",
        "checkpoint_strategy",
        "checkpoint_kind",
        "fault_toggle_prob",
        "seed_mutation_prob",
        "buggify_prob",
        "steps_per_run",
        "rule_swarm",
        "swarm_policy",
        "swarm",
        "coverage",
        "value_reuse_prob",
        "comparison_tracing",
    )
    places = [option.saved for option in options_of(Settings).values() if option.saved]
    assert sorted(places) == list(range(1, len(places) + 1))


@pytest.mark.parametrize("command", ["explore", "benchmark"])
def test_flags_of_a_command_differ(command: str) -> None:
    names = [
        name for option in flags_of(command).values() if option.flag for name in (option.flag.name, option.flag.short)
    ]
    assert len(names) == 2 * len(flags_of(command))
    assert all(names.count(name) == 1 for name in names if name)


def test_every_flag_belongs_to_a_command() -> None:
    flagged = {name for table in TABLES for name, option in options_of(table).items() if option.flag is not None}
    assert flagged == {*flags_of("explore"), *flags_of("benchmark")}


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
    core = defaults_of_the_core()
    told = {option.core: option.default for option in options_of(ExplorationOptions).values() if option.core}
    assert {name: core[name] for name in told} == told
    assert core["seed"] == ExplorerConfig().seed


def test_the_session_of_the_core_requires_every_option() -> None:
    """So that no default of the core, or of its binding, comes to act."""
    tree = ast.parse((ROOT / "python/ordeal/_native.pyi").read_text("utf-8"))
    (session,) = (each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == "Session")
    (init,) = (each for each in session.body if isinstance(each, ast.FunctionDef) and each.name == "__init__")
    given = zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True)
    required = {argument.arg for argument, default in given if default is None}
    told = {option.core for option in options_of(Settings).values() if option.core}
    assert required == told | {"operations", "pair_features"}
    with pytest.raises(TypeError):
        _native.Session((1, 0, 0), _native.CoverageMap())  # type: ignore[call-arg]


def test_modules_that_may_not_import_the_table_say_the_same() -> None:
    """They are loaded by programs under test and by every run of pytest, which does not wait for ordeal."""
    explorer, report = ExplorerConfig(), ReportConfig()
    assert explorer.buggify_prob == DEFAULT_PROBABILITY == _ordeal_pytest.BUGGIFY_PROBABILITY
    assert explorer.buggify_prob == session_seed._BUGGIFY_PROBABILITY
    assert RNG_SEED_MAX == SEED_MAX == _ordeal_pytest.CHAOS_SEED_MAX
    assert report.corpus_dir == CORPUS_DIR == _ordeal_pytest.CORPUS_DIR
    assert ExploreFlags().config == _ordeal_pytest.CONFIG_FILE
    for section, key, *_ in _ordeal_pytest._USED_SETTINGS:
        assert key in keys_of(SECTIONS[section])
