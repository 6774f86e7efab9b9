"""Two reports compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordeal._report.comparing import compare, comparison_text, read_document
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
        ("", "is not a JSON report of ordeal: Expecting value"),
        ("[]", "is not a JSON report of ordeal: Expected `object`, got `array`"),
        ('{"schema_version": 1}', "missing required field `results`"),
        ('{"schema_version": 9, "results": []}', "has schema version 9"),
        ('{"schema_version": 1, "results": [{"test_class": 3}]}', r"Expected `str`, got `int` - at `\$.results"),
        ("[" * 100_000, "is not a JSON report"),
    ],
)
def test_what_is_no_report_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_document(tmp_path / "report.json")


def document(*buckets: str, lines: str = "1-4") -> dict[str, Any]:
    failures = [{"error_type": "ValueError", "error_message": each, "bucket": each, "id": each} for each in buckets]
    behavior = {"covered_lines": {"shop.py": lines}}
    return {"results": [{"test_class": "t:A", "failures": failures, "telemetry": {"behavior": behavior}}]}


def test_findings_are_the_same_by_their_bucket() -> None:
    found = compare(document("a", "b"), document("b", "c", lines="1,3-6"))
    assert [each["id"] for each in found.new] == ["c"]
    assert [each["id"] for each in found.gone] == ["a"]
    assert [each["id"] for each in found.both] == ["b"]
    assert comparison_text(found) == (
        "1 finding new\n  c  ValueError: c\n1 finding gone\n  a  ValueError: a\n1 finding in both\n  b  ValueError: b\n"
        "1 line no longer run\n  shop.py:2\n2 lines run now\n  shop.py:5-6\n"
    )


def test_a_finding_of_another_class_is_another() -> None:
    other = document("a")
    other["results"][0]["test_class"] = "t:B"
    found = compare(document("a"), other)
    assert (len(found.new), len(found.gone)) == (1, 1)


def test_lines_of_a_file_that_was_edited_are_not_compared() -> None:
    before, after = document(lines="1-4"), document(lines="1-5")
    for each, missed in ((before, [6]), (after, [7])):
        each["results"][0]["telemetry"]["behavior"]["missed_lines"] = {"shop.py": missed}
    found = compare(before, after)
    assert (found.lost_lines, found.gained_lines, found.edited_files) == ({}, {}, ["shop.py"])
    assert comparison_text(found).endswith("in both\nLines not compared, as it was edited:\n  shop.py\n")
