"""``ordeal env``: what there is here, as text and as JSON."""

from __future__ import annotations

import json
import sys

import hypothesis
import pytest
from click.testing import CliRunner

from ordeal import __version__, cli
from ordeal._base.monitoring_tools import ORDER


def said(*arguments: str) -> str:
    done = CliRunner().invoke(cli._ordeal, ["env", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_it_says_versions_and_switches_and_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDEAL_STORE", "redis://:secret@example.org")
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.delenv("ORDEAL_SEED", raising=False)
    found = json.loads(said("--json"))
    assert (found["versions"]["ordeal"], found["versions"]["hypothesis"]) == (__version__, hypothesis.__version__)
    assert found["switches"]["ORDEAL_STORE"] == "set"
    assert found["switches"]["PYTHONHASHSEED"] == "7"
    assert "ORDEAL_SEED" not in found["switches"]
    assert found["works"]["coverage"] == "yes"
    assert "threads" in found["refused_in_simulations"]
    text = said()
    assert "secret" not in text
    assert text.startswith("versions\n  ordeal      ")


def test_a_variable_that_is_no_text_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDEAL_SEED", "\udcff\x1b[31m")
    assert json.loads(said("--json"))["switches"]["ORDEAL_SEED"] == "\udcff\x1b[31m"
    assert r"\udcff\x1b[31m" in said()


def test_a_tool_that_is_taken_is_named() -> None:
    free = [each for each in ORDER if sys.monitoring.get_tool(each) is None]
    for each in free:
        sys.monitoring.use_tool_id(each, "another profiler")
    try:
        assert "another profiler" in json.loads(said("--json"))["works"]["coverage"]
    finally:
        for each in free:
            sys.monitoring.free_tool_id(each)
