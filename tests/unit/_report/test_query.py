"""Values of a report by their path."""

from __future__ import annotations

from typing import Any

import pytest

from ordeal._report.query import query
from ordeal.errors import ConfigError

REPORT: dict[str, Any] = {
    "results": [{"failures": [{"id": "a", "step": 1}, {"id": "b", "step": 2}]}, {"failures": []}],
    "options": {"seed": 42},
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".options.seed", [42]),
        ("options.seed", [42]),
        ("$.options", [{"seed": 42}]),
        (".results[].failures[].id", ["a", "b"]),
        (".results[0].failures[-1].step", [2]),
        (".results[1].failures[].id", []),
        (".", [REPORT]),
        ("", [REPORT]),
    ],
)
def test_a_path_leads_to_its_values(path: str, expected: list[Any]) -> None:
    assert query(REPORT, path) == expected


@pytest.mark.parametrize(
    ("path", "said", "hint"),
    [
        (".results[", "`.results[` is not a path", "write it like"),
        ("a b", "is not a path", "write it like"),
        (".results[-]", "is not a path", "write it like"),
        (f".results[{'9' * 5000}]", "is not a path", "write it like"),
        (".result", "`.result` is not in the report", "there are: options, results"),
        (".results.failures", "`.results.failures` is not in the report", "a list: write `[]`"),
        (".options[0]", "`.options[0]` is not in the report", "an object: name one of its fields"),
        (".options.seed.x", "is not in the report", "a single value"),
        (".results[7]", "`.results[7]` is not in the report", "the list has 2 items"),
    ],
)
def test_a_path_that_leads_nowhere_says_what_is_there(path: str, said: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=r"path|report") as raised:
        query(REPORT, path)
    assert said in raised.value.message
    assert hint in str(raised.value.hint)
