"""`ordeal report html`: which run it takes, where the page goes, and what it says where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordeal._engine.runs.writer import RunWriter

from .._report.html.test_page import CLASS, document, failure, result
from .conftest import Run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run that found something."""
    monkeypatch.chdir(tmp_path)
    writer = RunWriter()
    writer.begun("2.0.1", [CLASS], {})
    writer.finished(json.dumps(document(result(failure("it broke")))), 1, interrupted=False)
    assert writer.folder is not None
    return Path(".ordeal/runs") / writer.folder.name


def test_the_latest_run_gets_its_page(run: Run, folder: Path) -> None:
    assert run("report", "html") == (0, f"{folder}/report.html\n", "")
    assert "it broke" in (folder / "report.html").read_text("utf-8")


def test_a_run_by_name_and_another_folder(run: Run, folder: Path) -> None:
    assert run("report", "html", folder.name[:15], "-o", "out") == (0, "out/report.html\n", "")


def test_a_report_as_json(run: Run, folder: Path) -> None:
    Path("mine.json").write_bytes((folder / "result.json").read_bytes())
    assert run("report", "html", "mine.json") == (0, "report.html\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no run is named `nothing`"),
        (["nowhere/run"], "no folder of a run: nowhere/run"),
        (["odd.json"], "`odd.json` holds no report of this version"),
        (["text.json"], "`text.json` holds no report"),
        (["-o", "text.json/x"], "cannot write the page into `text.json/x`: Not a directory"),
    ],
)
def test_wrong_use(run: Run, folder: Path, arguments: list[str], message: str) -> None:
    Path("odd.json").write_text('{"results": [{}]}')
    Path("text.json").write_text("no JSON")
    code, out, err = run("report", "html", *arguments)
    assert (code, out) == (2, "")
    assert f"error: {message}\n\nhint: " in err


def test_a_run_without_result(run: Run, folder: Path) -> None:
    (folder / "result.json").unlink()
    code, _, err = run("report", "html")
    assert code == 2
    assert "has no result" in err


def test_without_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run("report", "html")
    assert code == 2
    assert "no run is kept in .ordeal/runs" in err


def test_help(run: Run) -> None:
    assert "html" in run("report", "--help")[1]
    assert "[RUN|FILE]" in run("report", "html", "--help")[1]
