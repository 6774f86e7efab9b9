"""The schema of ``ordeal.toml``: true of the settings that are there, of each default, and of no misspelt key."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from ordeal.config.options import SECTIONS
from ordeal.config.schema import config_schema
from ordeal.config.table import keys_of

EXAMPLES = Path(__file__).parents[3] / "examples"
VALIDATOR = jsonschema.Draft202012Validator(config_schema())


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/ordeal.toml")), ids=lambda path: path.parent.name)
def test_the_settings_of_the_examples_are_as_it_says(path: Path) -> None:
    VALIDATOR.validate(tomllib.loads(path.read_text("utf-8")))


def test_each_key_takes_the_example_of_its_option() -> None:
    for section, declared in SECTIONS.items():
        values = {key: option.check.example for key, option in keys_of(declared).items()}
        VALIDATOR.validate({section: [values] if section == "tests" else values})


@pytest.mark.parametrize(
    "document",
    [
        {"explorer": {"max_tyme": 3}},
        {"explorer": {"max_time": "3"}},
        {"explorer": {"swarm_policy": "odd"}},
        {"tests": [{"steps_per_run": 3}]},
        {"explore": {}},
    ],
    ids=str,
)
def test_what_ordeal_refuses_is_not(document: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(document)
