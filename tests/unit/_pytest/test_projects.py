"""Seeds are replayed wherever the project lies that pytest was started for, not only in what it takes for the root."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ordeal._base.trace_file import ChoiceValue

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


def test_seeds_of_two_projects(inner: Project) -> None:
    """The same class, bug and seed in both: only one of them is repaired."""
    name = _save(inner, INNER)
    inner.write(
        {
            "tests/test_bank.py": (inner.root / INNER / "tests/test_bank.py").read_text(),
            "bank.py": (inner.root / INNER / "bank.py").read_text(),
        }
    )
    inner.fix_withdraw()
    _save(inner, ".")
    for package in (".", INNER):
        (inner.root / package / "tests/__init__.py").touch()
    for options in ((), ("-n", "2")):
        result = inner.run_apart("-q", *options, plugins=("_ordeal_pytest", "xdist.plugin"))
        result.assert_outcomes(passed=2, failed=1)
        assert section(result, SECTION) == [
            f"  REGRESSION  {name}: tests.test_bank:BankChaos in . — ValueError: balance negative",
            f"  fixed       {name}: tests.test_bank:BankChaos in ../.. — no longer reproduces",
            "  1 regression(s) still reproduce",
            f"  replay: ordeal replay .ordeal/seeds/BankChaos/{name}.json",
        ]
    one = inner.run_apart("-q", f"ordeal-seed::BankChaos::{name}", plugins=("_ordeal_pytest",))
    one.assert_outcomes(failed=1)
    other = inner.run_apart("-q", f"../../ordeal-seed::BankChaos::{name}", plugins=("_ordeal_pytest",))
    other.assert_outcomes(passed=1)


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
@pytest.mark.parametrize("layout", ["module", "package", "namespace", "src"])
def test_two_checkouts_are_judged_by_their_own_modules(
    project: Project, layout: str, order: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is repaired; its tests import what the machines of both do."""
    monkeypatch.delenv("PYTHONPATH")
    for name, limit in (("a", 10**9), ("b", 4)):
        folder = project.root / name
        library = {"module": "lib.py", "package": "lib/__init__.py", "namespace": "lib/limits.py", "src": "src/lib.py"}
        imported = "from lib.limits import limit" if layout == "namespace" else "from lib import limit"
        machine = f"""
            from ordeal import ChaosTest, rule
            {imported}

            class Counts(ChaosTest):
                n = 0

                @rule()
                def inc(self):
                    self.n += 1
                    assert self.n < limit()
        """
        test = f"{'' if layout == 'src' else imported}\n\ndef test_{name}(): pass\n"
        project.write({f"{name}/counts.py": machine, f"{name}/test_{name}.py": test})
        project.write({f"{name}/{library[layout]}": f"def limit(): return {limit}\n"})
        (folder / "pyproject.toml").write_text("[project]\nname = 'counts'\n")
        step: tuple[str, dict[str, ChoiceValue]] = ("inc", {})
        project.save_seed(
            *[step] * 4,
            error="AssertionError",
            message="assert 4 < 4",
            test_class="counts:Counts",
            folder=f"{name}/.ordeal/seeds",
        )
    (project.root / "pytest.ini").unlink()
    result = project.run_apart("-q", *order, plugins=("_ordeal_pytest",))
    lines = section(result, SECTION)
    assert [line.split()[0] for line in lines[:2]] == ["REGRESSION", "fixed"]
    assert " in b " in lines[0]
    result.assert_outcomes(failed=1, passed=3)


def test_all_seeds_of_two_projects_are_fixed(inner: Project) -> None:
    (inner.root / INNER / "tests").rename(inner.root / INNER / "inner_tests")
    inner.edit(f"{INNER}/bank.py", 'raise ValueError("balance negative")', "return")
    inner.write({"machines.py": (inner.root / INNER / "inner_tests/test_bank.py").read_text()})
    for folder, module in ((".", "machines"), (INNER, "inner_tests.test_bank")):
        test_class = f"{module}:BankChaos"
        inner.save_seed(
            ("withdraw", {"amount": 1}), error="E", message="", test_class=test_class, folder=f"{folder}/.ordeal/seeds"
        )
    lines = section(_run_inner(inner), SECTION)
    command = "ordeal seeds --prune-fixed"
    assert lines[-1] == f"  2 seeds fixed; {command} and cd ../.. && {command} remove them"


def test_one_folder_by_two_names_is_one(inner: Project) -> None:
    _save(inner, INNER)
    (inner.root / ".ordeal").mkdir()
    (inner.root / ".ordeal/seeds").symlink_to(inner.root / INNER / ".ordeal/seeds")

    def listed() -> list[str]:
        result = inner.run(PATH, "--collect-only", "-q")
        return [line.partition("::")[0] for line in result.outlines if "seed-" in line]

    assert listed() == ["ordeal-seed"]
    inner.write({f"{INNER}/ordeal.toml": "[report]\n"})
    assert listed() == [f"{INNER}/ordeal-seed"]


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
