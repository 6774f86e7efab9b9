"""The schemas of the files of a run: published as they are, and true of each report."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from ordeal._engine.runs.report import ReportDocument, schemas

from ...samples.documents import make_document

REFERENCE = Path(__file__).parents[4] / "docs/reference/schemas"


@pytest.mark.parametrize("name", schemas())
def test_the_published_schema_is_that_of_the_type(name: str) -> None:
    published = json.loads((REFERENCE / f"{name}.schema.json").read_text("utf-8"))
    assert published == schemas()[name], "run python tools/schemas.py"


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 1000), marks=pytest.mark.nightly)], ids=str)
def test_reports_are_as_the_schema_says(seeds: range) -> None:
    validator = jsonschema.Draft202012Validator(schemas()["report"])
    for seed in seeds:
        document = json.loads(json.dumps(make_document(seed)))
        validator.validate(document)
        converted = msgspec.to_builtins(msgspec.convert(document, ReportDocument))
        # Each field of a result is in the schema, but for the runs that only one format asks for.
        for result, again in zip(document["results"], converted["results"], strict=True):
            result.pop("kept_runs", None)
            assert set(result) == set(again)
