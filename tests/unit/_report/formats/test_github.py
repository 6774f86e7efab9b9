"""Annotations, as GitHub reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from .test_formats import written


def test_annotations_are_ten_with_the_rest_counted(tmp_path: Path) -> None:
    place = {"kind": "rule", "name": "go", "at": {"file": "a,b:c.py", "line": 3, "function": "f", "code": ""}}
    finding = {"error_type": "E", "error_message": "100%\nof it", "id": "1f", "place": place}
    document = {"results": [{"test_class": "a:B", "failures": [finding] * 12}]}
    lines = written("github", document, tmp_path).split("\n")
    start = "::error file=a%2Cb%3Ac.py,line=3,title=ordeal 1f::E: 100%25%0AAt: a,b:c.py:3 in f (rule)"
    assert lines[0].startswith(start)
    assert lines[9:] == ["::error title=ordeal::and 3 more findings: see the report", ""]


def test_annotations_name_files_from_the_root_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "service").mkdir()
    monkeypatch.chdir(tmp_path / "service")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    place = {"kind": "rule", "name": "go", "at": {"file": "t.py", "line": 3, "function": "f", "code": ""}}
    document = {"results": [{"test_class": "a:B", "failures": [{"error_type": "E", "place": place}]}]}
    assert "file=service/t.py,line=3" in written("github", document, tmp_path)
