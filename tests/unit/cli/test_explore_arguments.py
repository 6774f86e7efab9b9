"""``ordeal explore CLASS`` and ``--report``: what is explored without a file, and which files are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import ScriptedExplorer
from .test_explore import ACCOUNT, CLEAN_REPORT, CLOSING, HEADER, LEDGER, _project, make_result, settings

__all__ = ["_project"]

Run = Callable[..., tuple[int, str, str]]
FOLDER = Path(".ordeal/report")
NAME_A_CLASS = "run `ordeal init` to create one, or name a class after the command: `tests.test_chaos:MyServiceChaos`"


@pytest.fixture
def _without_file() -> None:
    Path("ordeal.toml").unlink(missing_ok=True)


def test_reports_are_written_beside_the_text(run: Run, explorer: ScriptedExplorer) -> None:
    explorer.outcomes = [make_result()]
    code, out, err = run("explore", "--report", "json,sarif", "--report", "md")
    assert (code, out) == (0, CLEAN_REPORT)
    files = [FOLDER / name for name in ("ordeal.json", "ordeal.sarif", "ordeal.md")]
    assert err == f"{HEADER}Reports saved: {', '.join(map(str, files))}\n{CLOSING}"
    assert all(file.is_file() for file in files)


def test_formats_of_the_settings_are_written_too(run: Run, explorer: ScriptedExplorer) -> None:
    settings(f'{ACCOUNT}[report]\nformats = ["ndjson", "json"]\nreport_dir = "out"\n')
    explorer.outcomes = [make_result(7)]
    assert run("explore", "--report", "json,junit")[0] == 1
    assert sorted(path.name for path in Path("out").iterdir()) == ["junit.xml", "ordeal.json", "ordeal.ndjson"]
    # A flag alone moves the folder.
    explorer.outcomes = [make_result()]
    run("explore", "--report-dir", "elsewhere")
    assert len(list(Path("elsewhere").iterdir())) == 2


def test_the_json_report_is_the_one_that_is_printed(run: Run, explorer: ScriptedExplorer) -> None:
    explorer.outcomes = [make_result(7)]
    _, out, _ = run("explore", "--report", "json", "--json")
    assert json.loads((FOLDER / "ordeal.json").read_text()) == json.loads(out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--report", "xml"), 'error: `--report` is "xml", not a list of coverage, github, html, json, junit, md, '),
        (("--report", "junit,,md"), 'error: `--report` is "junit,,md", not a list of '),
        (("--report-dir", ""), 'error: `--report-dir` is "", not a folder path'),
    ],
)
def test_unknown_formats_are_refused(
    run: Run, explorer: ScriptedExplorer, arguments: tuple[str, ...], message: str
) -> None:
    code, _, err = run("explore", *arguments)
    assert code == 2
    assert err.startswith(message)
    assert explorer.given == []


def test_a_report_that_cannot_be_written_costs_no_other(run: Run, explorer: ScriptedExplorer) -> None:
    Path("file").write_text("")
    explorer.outcomes = [make_result()]
    code, out, err = run("explore", "--report", "json,md", "--report-dir", "file/below")
    assert (code, out) == (2, CLEAN_REPORT)
    assert err.count("error: cannot write the report") == 2


def test_github_is_recognised(run: Run, explorer: ScriptedExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    Path("summary.md").write_text("before\n")
    explorer.outcomes = [make_result(7)]
    code, out, err = run("explore")
    assert code == 1
    assert "::" not in out
    assert "\n::error title=ordeal e3b0c44298fc::ValueError: bad%0ASteps: go\n" in err
    assert Path("summary.md").read_text().startswith("before\n## ordeal: 1 finding in 1 class\n")
    assert not FOLDER.exists()


def test_a_summary_that_cannot_be_written_costs_nothing(
    run: Run, explorer: ScriptedExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "no/folder.md")
    explorer.outcomes = [make_result()]
    code, out, err = run("explore")
    assert (code, out) == (0, CLEAN_REPORT)
    assert "note: the summary of the job was not written" in err


@pytest.mark.usefixtures("_without_file")
def test_classes_are_explored_without_a_file(run: Run, explorer: ScriptedExplorer) -> None:
    explorer.outcomes = [make_result(), make_result()]
    code, _, err = run("explore", "machines:Ledger", "machines:Account", "-t", "shop", "--target", "bank")
    assert code == 0
    assert [cls.__name__ for cls in explorer.made] == ["Ledger", "Account"]
    assert [options.target_modules for options in explorer.given] == [("shop", "bank")] * 2
    assert "2 classes" in err
    assert "options: target_modules=shop,bank\n" in err


def test_a_class_that_the_file_lists_has_the_options_of_its_entry(run: Run, explorer: ScriptedExplorer) -> None:
    settings(f"[explorer]\nseed = 7\n{ACCOUNT}steps_per_run = 9\n{LEDGER}")
    explorer.outcomes = [make_result()]
    run("explore", "machines:Account")
    ((cls,), (options,)) = explorer.made, explorer.given
    assert (cls.__name__, options.seed, options.steps_per_run) == ("Account", 7, 9)


@pytest.mark.usefixtures("_without_file")
@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ([], "config file not found: ordeal.toml", NAME_A_CLASS),
        (
            ["machines.Account"],
            '`CLASS` is "machines.Account", not a class path "module.path:ClassName"',
            'write a class path "module.path:ClassName", for example `tests.test_chaos:MyServiceChaos`',
        ),
        (["machines:Acount"], "`machines` has no `Acount`", "did you mean `machines:Account`?"),
    ],
)
def test_a_class_that_is_not_there(run: Run, arguments: list[str], message: str, hint: str) -> None:
    assert run("explore", *arguments) == (2, "", f"error: {message}\n\nhint: {hint}\n")


@pytest.mark.parametrize(
    ("on", "option", "value", "kinds"),
    [
        ("local:2", "--image", "app:1", "kubernetes"),
        ("slurm", "--image", "app:1", "kubernetes"),
        ("ray://h:1", "--job-option", "time=1", "slurm or kubernetes"),
    ],
)
def test_options_of_a_scheduler_are_refused_elsewhere(
    run: Run, explorer: ScriptedExplorer, on: str, option: str, value: str, kinds: str
) -> None:
    message = f"`{option}` says nothing to members on `{on.partition(':')[0]}`"
    hint = f"drop it, or use it with `--on {kinds}`"
    assert run("explore", "--on", on, option, value) == (2, "", f"error: {message}\n\nhint: {hint}\n")
    assert explorer.given == []


@pytest.mark.parametrize(("option", "value"), [("--members", "4"), ("--image", "app:1"), ("--job-option", "time=1")])
def test_options_of_a_fleet_need_a_fleet(run: Run, explorer: ScriptedExplorer, option: str, value: str) -> None:
    message = f"`{option}` is for a fleet, and nothing says where its members run"
    hint = "add `--on`, for example `--on local:4`, or drop it"
    assert run("explore", option, value) == (2, "", f"error: {message}\n\nhint: {hint}\n")
    assert explorer.given == []
