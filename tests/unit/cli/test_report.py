"""`ordeal report`: which run it takes, where the report goes, and how two of them differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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


@pytest.fixture
def files(folder: Path) -> None:
    """Two reports as files: the later one has a finding."""
    empty: dict[str, Any] = {"schema_version": 1, "results": [{"test_class": "t:A", "failures": []}]}
    Path("old.json").write_text(json.dumps(empty))
    empty["results"][0]["failures"] = [{"error_type": "ValueError", "bucket": "b", "id": "1f"}]
    Path("new.json").write_text(json.dumps(empty))


def test_the_latest_run_gets_its_page(run: Run, folder: Path) -> None:
    assert run("report", "html") == (0, f"{folder}/report.html\n", "")
    assert "it broke" in (folder / "report.html").read_text("utf-8")


def test_a_run_by_name_and_another_folder(run: Run, folder: Path) -> None:
    assert run("report", "html", folder.name[:15], "-o", "out") == (0, "out/report.html\n", "")
    assert run("report", "md", folder.name[:15]) == (0, ".ordeal/report/ordeal.md\n", "")
    assert "it broke" in Path(".ordeal/report/ordeal.md").read_text("utf-8")


def test_a_report_as_json(run: Run, folder: Path) -> None:
    Path("mine.json").write_bytes((folder / "result.json").read_bytes())
    assert run("report", "html", "mine.json") == (0, ".ordeal/report/report.html\n", "")


@pytest.mark.usefixtures("files")
def test_an_earlier_report_is_written_in_another_format(run: Run) -> None:
    assert run("report", "md", "new.json") == (0, ".ordeal/report/ordeal.md\n", "")
    assert "## ordeal: 1 finding in 1 class" in Path(".ordeal/report/ordeal.md").read_text()


@pytest.mark.usefixtures("files")
def test_a_new_finding_is_an_exit_code(run: Run) -> None:
    text = "1 finding new\n  1f  ValueError\n0 findings gone\n0 findings in both\n"
    assert run("report", "diff", "old.json", "new.json") == (1, text, "")
    code, out, _ = run("report", "diff", "new.json", "old.json", "--json")
    assert code == 0
    assert [each["id"] for each in json.loads(out)["gone"]] == ["1f"]


def test_a_run_is_compared_with_itself(run: Run, folder: Path) -> None:
    code, out, _ = run("report", "diff", folder.name, "latest")
    assert code == 0
    assert out.startswith("0 findings new\n0 findings gone\n1 finding in both\n")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("html", "nothing"), "no run is named `nothing`"),
        (("html", "nowhere/run"), "no folder of a run: nowhere/run"),
        (("html", "odd.json"), "`odd.json` is no JSON report of ordeal: "),
        (("html", "text.json"), "`text.json` is no JSON report of ordeal: "),
        (("html", "-o", "text.json/x"), "cannot write the report into `text.json/x`: Not a directory"),
        (("xml", "old.json"), "`xml` is neither `diff` nor a format"),
        (("md", "old.json", "new.json"), "`ordeal report md` takes one run, got 2"),
        (("diff", "old.json"), "`ordeal report diff` takes two runs, got 1"),
        (("md", "none.json"), "cannot read the report `none.json`: No such file or directory"),
    ],
)
def test_wrong_use_is_said(run: Run, arguments: tuple[str, ...], message: str) -> None:
    Path("odd.json").write_text('{"results": [{}]}')
    Path("text.json").write_text("no JSON")
    code, out, err = run("report", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {message}")
    assert "\n\nhint: " in err


def test_a_run_without_result(run: Run, folder: Path) -> None:
    (folder / "result.json").unlink()
    code, _, err = run("report", "html")
    assert code == 2
    assert "has no result" in err


def test_the_latest_run_that_came_to_its_end(run: Run, folder: Path) -> None:
    killed = RunWriter()
    killed.begun("2.0.1", [CLASS], {})
    killed.close()
    assert run("report", "html") == (0, f"{folder}/report.html\n", "")


def test_without_runs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run("report", "html")
    assert code == 2
    assert "no run is kept in .ordeal/runs" in err
