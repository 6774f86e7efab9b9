"""Holds the page of all settings against the settings themselves: same keys, same order, same defaults."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from ordeal.config import ExplorerConfig, ReportConfig, TestConfig

PAGE = Path(__file__).parent.parent.parent / "docs/reference/configuration.md"
KEY_OF_FIELD = {"class_path": "class"}
# What the page says where a default is no value.
NO_VALUE = {"by `swarm_policy`", "no limit", "the class decides", "from `[explorer]`"}


def table_of(section: str) -> dict[str, str]:
    """The keys of one section of the page with the text of their defaults."""
    body = PAGE.read_text("utf-8").split(f"## `{section}`\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|", body, re.MULTILINE)
    return {key: default for key, _, default in rows}


def as_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(list(value)) if isinstance(value, tuple) else f"{value:g}"


@pytest.mark.parametrize(
    ("section", "config"), [("[explorer]", ExplorerConfig), ("[[tests]]", TestConfig), ("[report]", ReportConfig)]
)
def test_page_lists_each_key_with_its_default(section: str, config: type[Any]) -> None:
    documented = table_of(section)
    fields = dataclasses.fields(config)
    assert list(documented) == [KEY_OF_FIELD.get(field.name, field.name) for field in fields]
    for field, default in zip(fields, documented.values(), strict=True):
        if field.default is dataclasses.MISSING:
            assert default == "required"
        elif field.default is None:
            assert default in NO_VALUE
        else:
            assert default == f"`{as_toml(field.default)}`"
