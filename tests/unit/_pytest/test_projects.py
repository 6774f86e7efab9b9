"""Seeds are replayed wherever the project lies that pytest was started for, not only in what it takes for the root."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .conftest import Project, attributes, section

pytest_plugins = ["pytester"]

SECTION = "Ordeal Seed Corpus"
INNER = "parts/shop"
PATH = f"-opythonpath={INNER}"


@pytest.fixture
def inner(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project moved below a folder with the configuration of pytest; that is where the run starts."""
    _move_project(project, INNER)
    monkeypatch.chdir(project.root / INNER)
    return project


def _move_project(project: Project, folder: str) -> None:
    (project.root / folder).mkdir(parents=True)
    for name in ("bank.py", "tests"):
        (project.root / name).rename(project.root / folder / name)


def _save(project: Project, folder: str, corpus: str = ".ordeal/seeds") -> str:
    return project.save_seed(
        ("withdraw", {"amount": 1}), error="ValueError", message="balance negative", folder=f"{folder}/{corpus}"
    )


def _run_inner(project: Project, *arguments: str) -> pytest.RunResult:
    # Both folders have the modules of the project, which this process may have imported for another test.
    return project.run_apart("-q", PATH, *arguments)


def test_project_below_the_rootdir(inner: Project) -> None:
    name = _save(inner, INNER)
    result = _run_inner(inner)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=1)
    assert section(result, SECTION) == [
        f"  REGRESSION  {name}: tests.test_bank:BankChaos — ValueError: balance negative",
        "  1 regression(s) still reproduce",
        f"  replay: ordeal replay .ordeal/seeds/BankChaos/{name}.json",
    ]
    assert f"FAILED ordeal-seed::BankChaos::{name} - ValueError: balance negative" in result.outlines


def test_header_says_where_they_are(inner: Project) -> None:
    _save(inner, INNER)
    assert f"ordeal: 1 saved seed in {INNER}/.ordeal/seeds" in inner.run(PATH).outlines


@pytest.mark.parametrize(
    ("start", "argument"),
    [
        (f"{INNER}/tests", ""),
        (".", f"{INNER}/tests"),
        (".", f"{INNER}/tests/test_bank.py::test_opens"),
        ("parts", "shop"),
    ],
)
def test_places_to_start_from(inner: Project, monkeypatch: pytest.MonkeyPatch, start: str, argument: str) -> None:
    name = _save(inner, INNER)
    monkeypatch.chdir(inner.root / start)
    result = _run_inner(inner, *filter(None, [argument]))
    result.assert_outcomes(passed=1, failed=1)
    way = os.path.relpath(inner.root / INNER, inner.root / start)
    lines = section(result, SECTION)
    assert lines[-1] == f"  replay: cd {way} && ordeal replay .ordeal/seeds/BankChaos/{name}.json"
    (shown,) = [line.split()[1] for line in result.outlines if line.startswith("FAILED")]
    assert shown == f"{way}/ordeal-seed::BankChaos::{name}"
    _run_inner(inner, shown).assert_outcomes(failed=1)


def test_node_id_does_not_depend_on_where_pytest_starts(inner: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    _save(inner, INNER)
    for start in (INNER, f"{INNER}/tests", "."):
        monkeypatch.chdir(inner.root / start)
        recorder = inner.pytester.inline_run("-p", "_ordeal_pytest", PATH, str(inner.root / INNER))
        ids = [report.nodeid for report in recorder.getreports("pytest_runtest_logreport") if report.failed]
        assert [node_id.partition("::")[0] for node_id in ids] == [f"{INNER}/ordeal-seed"]


def test_rootdir_elsewhere(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    name = project.overdrawn()
    (project.root / "configured").mkdir()
    (project.root / "pytest.ini").rename(project.root / "configured/pytest.ini")
    monkeypatch.syspath_prepend(project.root)
    result = project.run("-q", "-c", "configured/pytest.ini", "tests")
    result.assert_outcomes(passed=1, failed=1)
    assert section(result, SECTION)[-1] == f"  replay: ordeal replay .ordeal/seeds/BankChaos/{name}.json"


def test_of_two_projects_the_nearest_counts(inner: Project) -> None:
    name = _save(inner, INNER)
    inner.write({"bank.py": "", "tests/test_other.py": ""})
    _save(inner, ".")
    result = _run_inner(inner)
    assert section(result, SECTION)[-1] == f"  replay: ordeal replay .ordeal/seeds/BankChaos/{name}.json"
    result.assert_outcomes(passed=1, failed=1)


def test_settings_of_the_nearest_configuration(inner: Project) -> None:
    inner.write(
        {
            "ordeal.toml": '[report]\ncorpus_dir = "elsewhere"\n[explorer]\nrule_timeout = 9\n',
            f"{INNER}/ordeal.toml": '[report]\ncorpus_dir = "kept"\n[explorer]\nrule_timeout = 7\n',
            "conftest.py": """
                def pytest_sessionstart(session):
                    print("LIMIT", session.config.pluginmanager.get_plugin("ordeal_rule_timeouts").timeout_s)
            """,
        }
    )
    _save(inner, INNER, corpus="kept")
    result = _run_inner(inner, "-s")
    result.assert_outcomes(passed=1, failed=1)
    assert any("LIMIT 7" in line for line in result.outlines)


def test_broken_configuration_is_named_by_its_place(inner: Project) -> None:
    inner.write({"ordeal.toml": "[report\n"})
    result = inner.run(PATH)
    assert result.ret == pytest.ExitCode.OK
    assert any(line.startswith("ordeal: ../../ordeal.toml cannot be read: ") for line in result.outlines)


def test_report_files_keep_projects_apart(inner: Project) -> None:
    name = _save(inner, INNER)
    inner.run(PATH, "-q", "--junitxml=report.xml")
    cases = ElementTree.parse(Path("report.xml")).iter("testcase")
    assert ("parts.shop.ordeal-seed.BankChaos", name) in [attributes(case, "classname", "name") for case in cases]


@pytest.mark.parametrize("argument", ["x" * 300, "gone/test_gone.py", "ordeal-seed"])
def test_arguments_that_are_no_places(project: Project, argument: str) -> None:
    result = project.run("-q", argument)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not any("INTERNALERROR" in line for line in (*result.outlines, *result.errlines))
