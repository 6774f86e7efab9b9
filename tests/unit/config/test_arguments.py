"""What is given besides the settings file: flags of the command line, entries of a class, arguments of the Explorer."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from ordeal.config import BenchmarkConfig, ExplorerConfig, TestConfig, override
from ordeal.config.arguments import checked_arguments, given_arguments, options_of_entry
from ordeal.config.option import ABSENT, Place
from ordeal.config.options import ExplorationOptions, arguments_of
from ordeal.errors import ConfigError


class TestOverride:
    def test_replaces_what_was_given(self) -> None:
        config = override(ExplorerConfig(seed=1, workers=3), {"seed": 7, "max_time": 5, "workers": None})
        assert config == ExplorerConfig(seed=7, max_time=5.0, workers=3)

    def test_leaves_what_another_table_declares(self) -> None:
        assert override(ExplorerConfig(), {"repeat": 7, "no_seeds": True}) == ExplorerConfig()

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
    def test_names_the_flag(self, config: Any, given: dict[str, object], message: str, hint: str) -> None:
        with pytest.raises(ConfigError) as caught:
            override(config, given)
        assert (caught.value.message, caught.value.hint) == (message, hint)


def test_an_entry_takes_the_place_of_the_section() -> None:
    options = ExplorationOptions(steps_per_run=9, rule_swarm=True, rule_timeout=5.0)
    assert options_of_entry(options, TestConfig(class_path="a:B")) == options
    own = TestConfig(class_path="a:B", steps_per_run=7, swarm=False, rule_timeout=0.0)
    assert options_of_entry(options, own) == ExplorationOptions(steps_per_run=7, rule_swarm=False, rule_timeout=0.0)


def defaults_of(place: Place) -> dict[str, Any]:
    return {name: option.argument_default(place) for name, option in arguments_of(place).items()}


class TestArgumentsOfTheExplorer:
    @pytest.mark.parametrize("place", ["init", "run", "exhaustive"])
    def test_defaults_are_accepted(self, place: Place) -> None:
        assert ABSENT not in checked_arguments(place, defaults_of(place)).values()

    def test_what_something_else_decides_is_left_out(self) -> None:
        assert "record_traces" not in checked_arguments("run", defaults_of("run"))
        assert "target_modules" not in checked_arguments("init", defaults_of("init"))
        assert checked_arguments("run", defaults_of("run"))["max_runs"] is None

    def test_values_come_in_their_final_types(self) -> None:
        given = defaults_of("init") | {"checkpoint_prob": 1, "corpus_dir": "seeds", "target_modules": ["a"]}
        checked = checked_arguments("init", given)
        assert (checked["checkpoint_prob"], type(checked["checkpoint_prob"])) == (1.0, float)
        assert (checked["corpus_dir"], checked["target_modules"]) == (Path("seeds"), ("a",))

    def test_other_names_are_no_options(self) -> None:
        assert "self" not in checked_arguments("run", defaults_of("run") | {"self": 3})

    def test_time_may_have_no_end(self) -> None:
        assert checked_arguments("run", defaults_of("run") | {"max_time": math.inf})["max_time"] == math.inf
        with pytest.raises(ConfigError):
            checked_arguments("init", defaults_of("init") | {"buggify_prob": math.inf})

    @pytest.mark.parametrize(
        ("place", "name", "value", "message", "hint"),
        [
            ("init", "seed", -1, "-1; it must be a whole number from 0 to 2**64 - 1", "seed=42"),
            ("init", "seed", None, "None; it must be a whole number from 0 to 2**64 - 1", "seed=42"),
            ("init", "share_edges", 1, "1; it must be a boolean", "share_edges=True"),
            ("init", "corpus_dir", 3, "3; it must be a path", 'corpus_dir=".ordeal/state"'),
            ("init", "mutation_targets", ["a.b"], "['a.b']; it must be empty: this version makes no mutants", None),
            (
                "init",
                "seed_mutation_respect_strategies",
                False,
                "False; it must be true: no argument ever leaves its strategy",
                "seed_mutation_respect_strategies=True",
            ),
            (
                "init",
                "checkpoint_kind",
                "pickle",
                "'pickle'; it must be one of auto, copy, replay, fork",
                'checkpoint_kind="auto"',
            ),
            ("run", "max_runs", "9" * 99, f"'{'9' * 56}...; it must be a whole number, 1 or more", "max_runs=1000"),
            ("run", "max_time", 0, "0; it must be a number of seconds above 0", "max_time=60"),
            ("exhaustive", "depth", True, "True; it must be a whole number from 1 to 10000", "depth=50"),
        ],
    )
    def test_a_value_that_cannot_be_used(
        self, place: Place, name: str, value: object, message: str, hint: str | None
    ) -> None:
        with pytest.raises(ConfigError) as caught:
            checked_arguments(place, defaults_of(place) | {name: value})
        assert caught.value.message == f"{name} is {message}"
        assert caught.value.hint is not None
        if hint is not None:
            assert caught.value.hint.endswith(f", for example `{hint}`")


def test_given_arguments_are_those_of_the_place() -> None:
    options = ExplorationOptions(seed=3, max_runs=9)
    assert given_arguments("init", options).keys() == arguments_of("init").keys()
    assert given_arguments("run", options)["max_runs"] == 9
