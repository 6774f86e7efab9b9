"""The options of the commands: each is read by something, and what is written onto a file asks what to do there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ordeal.config import flags
from ordeal.config.table import Table, keys_of

#: Where the package lies, even if its folders are links.
PACKAGE = Path(flags.__file__).resolve().parents[1]
SOURCES = "\n".join(
    path.read_text("utf-8") for path in PACKAGE.rglob("*.py") if "config" not in path.relative_to(PACKAGE).parts
)
TABLES = [each for each in vars(flags).values() if isinstance(each, type) and issubclass(each, Table)]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_no_option_is_read_by_nothing(table: type[Table]) -> None:
    unread = [name for name in keys_of(table) if not re.search(rf"[.\"']{name}\b", SOURCES)]
    assert unread == []


@pytest.mark.parametrize("command", ["artifacts", "explore", "init", "mutate", "pack", "replay", "report", "view"])
def test_what_is_written_onto_a_file_is_decided_by_one_option(command: str) -> None:
    assert flags.flags_of(command)["on_exists"][1] is flags.ON_EXISTS


def test_no_other_command_names_a_file_to_write() -> None:
    writing = {
        command
        for command in flags._TABLES
        for name in flags.flags_of(command)
        if name in ("output", "plain", "generate_tests", "folder")
    }
    assert writing <= {"artifacts", "explore", "mutate", "pack", "replay", "report", "view"}
