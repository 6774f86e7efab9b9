"""Flags made from the table of options."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner

from ordeal._engine.runs.report import schemas
from ordeal.cli.commands import command_flags
from ordeal.config.flags import flags_of

from .conftest import Run


def parsed(command: str, *arguments: str) -> dict[str, Any]:
    @click.command()
    @command_flags(command)
    @click.pass_context
    def call(context: click.Context, /, **given: Any) -> None:
        context.obj.update(given)

    seen: dict[str, Any] = {}
    result = CliRunner().invoke(call, arguments, obj=seen)
    assert result.exit_code == 0, result.output
    return seen


@pytest.mark.parametrize("command", ["explore", "benchmark", "mutate"])
def test_what_is_not_given_is_none(command: str) -> None:
    assert parsed(command) == dict.fromkeys(flags_of(command))


def test_flags_fill_the_option_that_they_name() -> None:
    given = parsed("explore", "--no-shrink", "-v", "--save-state", "s", "-w", "2")
    assert {name: value for name, value in given.items() if value is not None} == {
        "shrink": False,
        "verbose": True,
        "save_state_to": "s",
        "workers": 2,
    }


@pytest.mark.parametrize(("text", "value"), [("3", 3), ("2.5", 2.5), ("nan", float), ("abc", "abc"), ("", "")])
def test_numbers_come_as_such_where_the_text_spells_one(text: str, value: object) -> None:
    given = parsed("explore", "--max-time", text)["max_time"]
    assert isinstance(given, float) if value is float else given == value


def test_words_stay_words() -> None:
    assert parsed("benchmark", "--metric", "3")["metric"] == "3"


@pytest.mark.parametrize("name", ["config", "event", "report", "status"])
def test_a_schema_is_printed(run: Run, name: str) -> None:
    code, out, err = run("schema", name)
    assert (code, err) == (0, "")
    assert json.loads(out) == schemas()[name]


def test_a_wrong_name_is_refused(run: Run) -> None:
    assert run("schema", "odd") == (
        2,
        "",
        "error: `odd` has no schema\n\nhint: name one of config, event, report, status\n",
    )
