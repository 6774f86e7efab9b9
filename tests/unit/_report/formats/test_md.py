"""Markdown, as jobs and pull requests show it."""

from __future__ import annotations

import re
from pathlib import Path

from .test_formats import written


def test_markdown_of_many_findings_stays_below_the_limit_and_counts_the_rest(tmp_path: Path) -> None:
    finding = {"error_type": "E", "error_message": "x", "id": "1", "program": "ü" * 8000}
    document = {"results": [{"test_class": "a:B", "failures": [finding] * 300}]}
    text = written("md", document, tmp_path)
    assert 900_000 < len(text.encode()) <= 1_000_000
    assert re.search(r"\n\d+ more findings are in the other reports\.\n$", text)


def test_markdown_shows_texts_as_code(tmp_path: Path) -> None:
    finding = {"error_type": "E", "error_message": "@you | `a` <img>", "id": "1", "program": "```\n# no heading"}
    text = written("md", {"results": [{"test_class": "a:B", "failures": [finding]}]}, tmp_path)
    assert "| new | ``E: @you \\| `a` <img>`` | `1` |" in text
    assert "\n````python\n```\n# no heading\n````\n" in text
