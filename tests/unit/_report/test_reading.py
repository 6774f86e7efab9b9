"""Reports of earlier explorations, from files that may hold anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordeal._report.comparing import read_document
from ordeal.errors import ConfigError

from ..samples.documents import make_document


def test_every_document_that_is_written_is_read(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    for seed in range(40):
        document = json.loads(json.dumps(make_document(seed)))
        file.write_text(json.dumps(document))
        assert read_document(file) == document


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no JSON report of ordeal: Expecting value"),
        ("[]", "is no JSON report of ordeal: Expected `object`, got `array`"),
        ('{"schema_version": 1}', "missing required field `results`"),
        ('{"schema_version": 9, "results": []}', "has schema version 9"),
        ('{"schema_version": 1, "results": [{"test_class": 3}]}', r"Expected `str`, got `int` - at `\$.results"),
        ("[" * 100_000, "is no JSON report"),
    ],
)
def test_what_is_no_report_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_document(tmp_path / "report.json")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read the report `.*none`: No such file or directory"):
        read_document(tmp_path / "none")
