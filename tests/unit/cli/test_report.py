"""`ordeal report`: which run it takes, where the report goes, and how two of them differ."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ordeal._engine.runs.writer import RunWriter
from ordeal._report.exploration import json_document
from ordeal.result import Failure

from ..samples.results import make_failure, make_result
from .conftest import Run

CLASS = "tests.test_shop:Shop"


def report_of(*failures: Failure) -> str:
    """The JSON report of a short search."""
    return json.dumps(json_document([make_result(*failures, test_class=CLASS)], {"seed": 42}))


def failure() -> Failure:
    return make_failure(AssertionError("it broke"), "go", trace=None, bucket="b")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a run that found something."""
    monkeypatch.chdir(tmp_path)
    writer = RunWriter()
    writer.begun("2.0.1", [CLASS], {})
    writer.finished(report_of(failure()), 1, interrupted=False)
    assert writer.folder is not None
    return Path(".ordeal/runs") / writer.folder.name


@pytest.fixture
def files(folder: Path) -> None:
    """Two reports as files: the later one has a finding."""
    Path("old.json").write_text(report_of())
    Path("new.json").write_text(report_of(failure()))


def test_the_latest_run_gets_its_page(run: Run, folder: Path) -> None:
    assert run("report", "html") == (0, f"{folder}/report.html\n", "")
    assert "it broke" in (folder / "report.html").read_text("utf-8")


def test_a_run_by_name_and_another_folder(run: Run, folder: Path) -> None:
    assert run("report", "html", folder.name[:15], "-o", "out") == (0, "out/report.html\n", "")
    assert run("report", "md", folder.name[:15]) == (0, ".ordeal/report/ordeal.md\n", "")
    assert "it broke" in Path(".ordeal/report/ordeal.md").read_text("utf-8")


@pytest.mark.parametrize("what", ["html", "junit"])
def test_a_report_replaces_a_report_and_no_other_file(run: Run, folder: Path, what: str) -> None:
    code, out, _ = run("report", what, folder.name[:15], "-o", "out")
    path = Path(out.strip())
    assert run("report", what, folder.name[:15], "-o", "out") == (0, f"{path}\n", "")
    path.write_text("mine")
    code, out, err = run("report", what, folder.name[:15], "-o", "out")
    assert (code, out, err.splitlines()[0]) == (2, "", f"error: `-o` would replace {path}, which ordeal did not write")
    numbered = path.with_stem(f"{path.stem}-2")
    assert run("report", what, folder.name[:15], "-o", "out", "--on-exists", "number")[1] == f"{numbered}\n"
    assert (path.read_text(), numbered.exists()) == ("mine", True)


def test_a_report_as_json(run: Run, folder: Path) -> None:
    Path("mine.json").write_bytes((folder / "result.json").read_bytes())
    assert run("report", "html", "mine.json") == (0, ".ordeal/report/report.html\n", "")


@pytest.mark.usefixtures("files")
def test_an_earlier_report_is_written_in_another_format(run: Run) -> None:
    assert run("report", "md", "new.json") == (0, ".ordeal/report/ordeal.md\n", "")
    assert "## ordeal: 1 finding in 1 class" in Path(".ordeal/report/ordeal.md").read_text()


@pytest.mark.usefixtures("files")
def test_a_new_finding_is_an_exit_code(run: Run) -> None:
    code, out, err = run("report", "diff", "old.json", "new.json")
    assert (code, err) == (1, "")
    assert re.fullmatch(
        "1 finding new\n  [0-9a-f]+  AssertionError: it broke\n0 findings gone\n0 findings in both\n", out
    )
    code, out, _ = run("report", "diff", "new.json", "old.json", "--json")
    assert code == 0
    assert [each["error_type"] for each in json.loads(out)["gone"]] == ["AssertionError"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("html", "nothing"), "no run is named `nothing`"),
        (("html", "nowhere/run"), "no folder of a run: nowhere/run"),
        (("html", "odd.json"), "`odd.json` is not a JSON report of ordeal: "),
        (("html", "text.json"), "`text.json` is not a JSON report of ordeal: "),
        (("html", "-o", "text.json/x"), "cannot write the report into `text.json/x`: Not a directory"),
        (("xml", "old.json"), "`xml` is neither `diff`, `query` nor a format"),
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


def test_the_latest_run_that_explored(run: Run, folder: Path) -> None:
    refused = RunWriter()
    refused.begun("2.0.1", [CLASS], {})
    refused.finished(json.dumps(json_document([], {"seed": 42})), 2, interrupted=False)
    assert run("report", "html") == (0, f"{folder}/report.html\n", "")
