"""The schemas of the files of a run: published as they are, and true of what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from ordeal._engine.runs.events import Event, Found, Health, NewEdges, Progress, RunStatus, plain, short
from ordeal._engine.runs.report import schemas


@pytest.mark.parametrize(
    "event",
    [
        Health(elapsed=0.5, message=""),
        NewEdges(elapsed=0, runs=1, edges=2),
        Found(elapsed=1, id="5ad946", bucket="b", error="E: m", run_id=0, steps=1),
        Progress(elapsed=1, runs=1, steps=1, edges=1, checkpoints=0, findings=0, runs_per_second=0.5),
    ],
)
def test_an_event_is_as_the_schema_says(event: Event) -> None:
    jsonschema.validate(msgspec.to_builtins(event), schemas()["event"])


def test_the_schema_refuses_what_is_no_event() -> None:
    for wrong in (
        {"type": "finding"},
        {"type": "nope", "elapsed": 1},
        {"type": "health", "elapsed": -1, "message": ""},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schemas()["event"])


def test_a_status_is_as_the_schema_says() -> None:
    values: dict[str, Any] = dict.fromkeys(RunStatus.__struct_fields__, 1)
    texts = {"run_id": "a", "started": "b", "test_class": "c", "state": "running", "next_run_max": None}
    status = msgspec.convert({**values, **texts, "classes": [], "findings": [], "workers": []}, RunStatus)
    jsonschema.validate(msgspec.to_builtins(status), schemas()["status"])


def test_texts_are_bounded() -> None:
    assert len(short("x" * 10_000)) == 500
    assert short("\ud800") == "\\ud800"
    assert plain((1, None, "a", Path("b"))) == [1, None, "a", "b"]
