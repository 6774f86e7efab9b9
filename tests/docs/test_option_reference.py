"""The tables of the reference are those that the table of options makes."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def tool() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("option_reference", ROOT / "tools/option_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its dataclasses look their module up by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_the_pages_are_as_the_options_say(tool: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(["--check"]) == 0, capsys.readouterr().out


def test_a_row_that_is_gone_or_stale_comes_back(tool: ModuleType) -> None:
    path = tool.REFERENCE / "configuration.md"
    page = path.read_text("utf-8")
    table = next(iter(tool.tables()))
    spoilt = page.replace("| `max_time` | seconds above 0 | `60` |", "| `max_time` | seconds | `90` |")
    assert spoilt != page
    assert tool.written(spoilt, table) == page
    (row,) = [line for line in page.splitlines() if line.startswith("| `max_checkpoints` |")]
    (renewed,) = [
        line
        for line in tool.written(page.replace(f"{row}\n", ""), table).splitlines()
        if line.startswith("| `max_checkpoints` |")
    ]
    assert renewed == (
        "| `max_checkpoints` | integer, 0 to 65536 | `256` "
        "| How many checkpoints all workers keep together; 0 for none. |"
    )
