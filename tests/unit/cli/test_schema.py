"""`ordeal schema`: each schema is printed as it is published, and a wrong name is refused."""

from __future__ import annotations

import json

import pytest

from ordeal._engine.runs.report import schemas

from .conftest import Run


@pytest.mark.parametrize("name", ["config", "event", "report", "status"])
def test_a_schema_is_printed(run: Run, name: str) -> None:
    code, out, err = run("schema", name)
    assert (code, err) == (0, "")
    assert json.loads(out) == schemas()[name]


def test_a_wrong_name_is_refused(run: Run) -> None:
    assert run("schema", "odd") == (
        2,
        "",
        "error: there is no schema of `odd`\n\nhint: name one of config, event, report, status\n",
    )
