"""Every pytest run replays every saved seed, as tests among the others."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.store import FailureReport, Outgoing, open_store
from ordeal.trace import Trace

from .conftest import TEST_CLASS, Project, attributes, section

pytest_plugins = ["pytester"]

SECTION = "Ordeal Seed Corpus"


def test_one_of_two_seeds_is_fixed(project: Project) -> None:
    lost, fixed = project.overdrawn(), project.closed()
    project.fix_close()
    result = project.run("-q")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, failed=1)
    assert section(result, SECTION) == [
        f"  REGRESSION  {lost}: tests.test_bank:BankChaos — ValueError: balance negative",
        f"  fixed       {fixed}: tests.test_bank:BankChaos — no longer reproduces",
        "  1 regression(s) still reproduce",
        f"  replay: ordeal replay .ordeal/seeds/BankChaos/{lost}.json",
    ]


@pytest.mark.parametrize("verbosity", ["-q", "-v"])
def test_a_known_failure_is_expected_and_said(project: Project, verbosity: str) -> None:
    lost = project.overdrawn()
    project.fix_close()
    project.edit("tests/test_bank.py", "def test_opens", "TestBank = BankChaos.TestCase\n\n\ndef test_opens")
    settings = project.root / "ordeal.toml"
    settings.write_text('[explorer]\nknown = ["balance negative"]\n')
    result = project.run(verbosity)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, xfailed=2)
    assert section(result, SECTION) == [
        f"  known       {lost}: tests.test_bank:BankChaos — ValueError: balance negative",
        "  1 seed fails as `known` in ordeal.toml says",
    ]
    settings.write_text('[explorer]\nknown = ["another failure"]\n')
    project.run(verbosity).assert_outcomes(passed=1, failed=2)


def test_a_known_failure_hides_no_other(project: Project) -> None:
    lost = project.overdrawn()
    project.closed()
    (project.root / "ordeal.toml").write_text('[explorer]\nknown = ["balance negative"]\n')
    result = project.run("-q")
    result.assert_outcomes(passed=1, failed=1, xfailed=1)
    assert [line.split()[0] for line in section(result, SECTION)[:2]] == ["REGRESSION", "known"]
    assert lost not in section(result, SECTION)[-2]


def test_failure_shows_where_it_happens_with_steps_output_and_command(project: Project) -> None:
    name = project.overdrawn(7)
    lines = "\n".join(section(project.run("-q"), "FAILURES"))
    for expected in (
        f"ordeal-seed BankChaos/{name}",
        "bank.py:8: in withdraw",
        'raise ValueError("balance negative")',
        "E   ValueError: balance negative",
        "state.withdraw(amount=7)",
        f"ordeal replay .ordeal/seeds/BankChaos/{name}.json",
        "Captured stdout call",
        "withdrawing 7",
    ):
        assert expected in lines
    assert "ordeal/_engine/execution/driver.py" not in lines


@pytest.mark.forks
def test_failure_that_ended_its_process_shows_no_frame_of_the_tests_around(project: Project) -> None:
    project.fix_close()
    project.edit("bank.py", 'raise ValueError("balance negative")', '__import__("os")._exit(3)')
    explored = [
        sys.executable,
        "-m",
        "ordeal",
        "explore",
        TEST_CLASS,
        "--workers",
        "2",
        "--max-runs",
        "20",
        "--no-shrink",
    ]
    subprocess.run(explored, cwd=project.root, check=False)
    lines = [line for line in section(project.run("-q"), "FAILURES") if "ended the process" in line or ".py:" in line]
    assert [line.partition("ProcessExitError: ")[2] for line in lines] == [
        "withdraw ended the process with exit code 3"
    ]


@pytest.mark.parametrize("style", ["long", "short", "line", "native", "no"])
def test_traceback_styles(project: Project, style: str) -> None:
    project.overdrawn()
    result = project.run("-q", f"--tb={style}", "--showlocals")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    shown = section(result, "FAILURES")
    assert any("ValueError: balance negative" in line for line in shown) == (style != "no")
    assert any(line.startswith("state.withdraw") for line in shown) == (style not in ("line", "no"))
    assert any(line.split() == ["amount", "=", "1"] for line in result.outlines) == (style in ("long", "short"))
    assert any("ordeal/_engine/execution/driver.py" in line for line in result.outlines) == (style == "native")


def test_seed_that_fails_differently(project: Project) -> None:
    name = project.overdrawn()
    project.edit("bank.py", 'ValueError("balance negative")', 'TypeError("no number")')
    result = project.run("-q")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    different = "TypeError: no number; recorded: ValueError: balance negative"
    assert section(result, SECTION) == [
        f"  DIFFERENT   {name}: tests.test_bank:BankChaos — {different}",
        "  1 seed fails differently now",
        f"  replay: ordeal replay .ordeal/seeds/BankChaos/{name}.json",
    ]
    assert "ValueError: balance negative" in section(result, "FAILURES")


def test_seed_of_a_renamed_rule_is_skipped_and_told_of(project: Project) -> None:
    name = project.overdrawn()
    project.edit("tests/test_bank.py", "def withdraw", "def take")
    result = project.run("-q", "-rs")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1, skipped=1)
    line, verdict, advice = section(result, SECTION)
    assert line.startswith(f"  outdated    {name}: tests.test_bank:BankChaos — no longer applies: ")
    assert "withdraw" in line
    assert verdict == "  1 seed says nothing about the code"
    file = f".ordeal/seeds/BankChaos/{name}.json"
    assert advice == f"  outdated: bring back what is gone, and keep a seed that passes: {file}"
    assert any(
        line.startswith(f"SKIPPED [1] .ordeal/seeds/BankChaos/{name}.json: ") and "withdraw" in line
        for line in result.outlines
    )


def test_seed_whose_class_cannot_be_imported(project: Project) -> None:
    project.overdrawn()
    project.save_seed(("close", {}), error="KeyError", message="", test_class="gone.module:Gone")
    result = project.run("-q")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=2)
    assert any("NO CLASS" in line and "no module named `gone`" in line for line in section(result, SECTION))


def test_seed_of_a_class_that_was_defined_in_a_script(project: Project) -> None:
    project.save_seed(("close", {}), error="KeyError", message="", test_class="__main__:Bank")
    line = section(project.run("-q"), SECTION)[0]
    reason = "`Bank` was defined in a script that was run, where nothing else can import it"
    assert line.endswith(f" — {reason}: move the class into a module and explore it there")


def test_one_fixed_and_two_that_say_nothing(project: Project) -> None:
    project.closed()
    project.fix_close()
    for name in ("Gone", "Lost"):
        project.save_seed(("close", {}), error="KeyError", message="", test_class=f"gone:{name}")
    *_, verdict, advice = section(project.run("-q"), SECTION)
    assert verdict == "  1 seed fixed, 2 say nothing about the code"
    assert advice.startswith("  no class: bring the class back, or delete the file: .ordeal/seeds/Gone/seed-")
    assert advice.endswith(".json and 1 more")


def test_assert_of_a_test_module_is_told_by_its_own_words(project: Project) -> None:
    """Below them pytest puts the values of an assert into the message."""
    project.edit("tests/test_bank.py", "self.account.close()", 'assert 4 == 3, "4 seats, not 3"')
    name = project.save_seed(("close", {}), error="AssertionError", message="4 seats, not 3")
    result = project.run("-q", "-k", "ordeal-seed")
    assert "E   assert 4 == 3" in result.outlines
    line = section(result, SECTION)[0]
    assert line == f"  REGRESSION  {name}: tests.test_bank:BankChaos — AssertionError: 4 seats, not 3"


def test_junk_among_the_seeds(project: Project) -> None:
    name = project.overdrawn()
    seeds = project.root / ".ordeal/seeds"
    folder = seeds / "BankChaos"
    whole = (folder / f"{name}.json").read_text()
    (folder / "seed-truncated.json").write_text(whole[: len(whole) // 2])
    (folder / "seed-binary.json").write_bytes(bytes(range(256)))
    (folder / "seed-empty.json.gz").write_bytes(b"")
    (folder / "seed-a\x1b[2Jb.json").write_text("{}")
    (folder / "seed-folder.json").mkdir()
    (folder / "notes.txt").write_text("not a seed")
    (seeds / "a_file").write_text("not a folder")
    result = project.run("-q")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=1, skipped=5)
    lines = section(result, SECTION)
    assert [line.split()[0] for line in lines] == ["REGRESSION", *["corrupt"] * 5, "1", "replay:", "corrupt:"]
    assert lines[-1].endswith(r"or delete it: .ordeal/seeds/BankChaos/seed-a\x1b[2Jb.json and 4 more")
    assert not any(str(project.root) in line for line in lines)
    assert all("\x1b[2J" not in line for line in result.outlines)


def test_names_that_no_report_can_hold(project: Project) -> None:
    name = project.overdrawn()
    seeds = project.root / ".ordeal/seeds"
    (seeds / "odd::na[me").mkdir()
    (seeds / "BankChaos" / f"{name}.json").rename(seeds / "odd::na[me" / f"{name}.json")
    (seeds / os.fsdecode(b"\xff")).mkdir()
    (seeds / os.fsdecode(b"\xff/seed-\xfe.json")).write_text("{}")
    for result in (project.run("-v"), project.run_workers("-q")):
        result.assert_outcomes(passed=1, failed=1)
        trouble, line, *_ = section(result, SECTION)
        assert trouble.endswith("its name is not valid UTF-8")
        assert line.startswith(f"  REGRESSION  {name}")


@pytest.mark.parametrize("kind", ["file", "link to itself"])
def test_corpus_that_is_no_folder(project: Project, kind: str) -> None:
    corpus = project.root / ".ordeal/seeds"
    corpus.parent.mkdir()
    if kind == "file":
        corpus.write_text("")
    else:
        corpus.symlink_to(corpus)
    result = project.run("-q")
    assert result.ret == pytest.ExitCode.OK
    (line,) = section(result, SECTION)
    assert "cannot read the seed corpus" in line


def test_file_in_the_place_of_the_folder_above(project: Project) -> None:
    (project.root / ".ordeal").write_text("")
    assert project.run("-q").ret == pytest.ExitCode.OK


def test_packed_seed_beside_a_plain_one(project: Project) -> None:
    name = project.overdrawn()
    folder = project.root / ".ordeal/seeds/BankChaos"
    (folder / f"{name}.json.gz").write_bytes(gzip.compress((folder / f"{name}.json").read_bytes()))
    result = project.run("--collect-only", "-q")
    assert result.outlines[:2] == [f"ordeal-seed::BankChaos::{name}", f"ordeal-seed::BankChaos::{name}.json.gz"]
    project.run("-q").assert_outcomes(passed=1, failed=2)


def test_many_fixed_seeds_take_few_lines(project: Project) -> None:
    project.fix_withdraw()
    for amount in range(13):
        project.overdrawn(amount)
    lines = section(project.run("-q"), SECTION)
    assert len(lines) == 12
    assert lines[10:] == ["  ... and 3 more", "  13 seeds fixed; ordeal seeds --prune-fixed removes them"]
    assert len(section(project.run("-v"), SECTION)) == 14


def test_replays_change_nothing(project: Project) -> None:
    project.overdrawn()
    project.write(
        {
            "tests/test_path.py": """
                import os, sys

                before = (list(sys.path), os.getcwd())

                def test_path():
                    assert (sys.path, os.getcwd()) == before
            """
        }
    )
    project.run("-q").assert_outcomes(passed=2, failed=1)


def test_project_without_seeds_says_nothing(project: Project) -> None:
    result = project.run()
    assert result.ret == pytest.ExitCode.OK
    assert "ordeal" not in result.stdout.str().replace("_ordeal_pytest", "")


@pytest.mark.parametrize("off", ["--no-ordeal-seeds", "-oordeal_seeds=false"])
def test_switched_off(project: Project, off: str) -> None:
    project.overdrawn()
    result = project.run("-q", off)
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=1)
    assert section(result, SECTION) == []


def test_corpus_of_the_configuration(project: Project) -> None:
    project.write({"ordeal.toml": '[report]\ncorpus_dir = "kept/failures"\n'})
    project.fix_close()
    project.save_seed(("close", {}), error="KeyError", message="", folder="kept/failures")
    lines = section(project.run("-q"), SECTION)
    assert lines[-1] == "  1 seed fixed; ordeal seeds --prune-fixed --dir kept/failures removes it"


# How pytest's own options work on them


def test_listed_and_counted(project: Project) -> None:
    name = project.overdrawn()
    result = project.run("--collect-only", "-q")
    assert result.outlines[:2] == [f"ordeal-seed::BankChaos::{name}", "tests/test_bank.py::test_opens"]
    assert "2 tests collected" in result.outlines[-1]


@pytest.mark.parametrize(
    ("options", "seeds", "tests"),
    [
        (["-k", "ordeal-seed"], 2, 0),
        (["-k", "BankChaos"], 2, 0),
        (["-k", "test_opens"], 0, 1),
        (["-m", "not slow"], 2, 1),
        (["-m", "slow"], 0, 0),
        (["--deselect", "ordeal-seed::BankChaos"], 0, 1),
        (["tests/test_bank.py::test_opens"], 2, 1),
        (["tests"], 2, 1),
        (["ordeal-seed"], 2, 0),
        (["ordeal-seed::BankChaos"], 2, 0),
        (["ordeal-seed::BankChaos", "tests"], 2, 1),
        (["--new-first"], 2, 1),
        (["-p", "no:cacheprovider"], 2, 1),
        (["-p", "no:terminal"], 2, 1),
        (["--import-mode=importlib"], 2, 1),
    ],
)
def test_selection(project: Project, options: list[str], seeds: int, tests: int) -> None:
    project.write({"pytest.ini": "[pytest]\npythonpath = .\nmarkers = slow\n"})
    project.overdrawn()
    project.closed()
    recorder = project.pytester.inline_run("-p", "_ordeal_pytest", *options)
    passed, _, failed = recorder.listoutcomes()
    assert [report.nodeid.split("::")[0] for report in failed] == ["ordeal-seed"] * seeds
    assert [report.nodeid for report in passed] == ["tests/test_bank.py::test_opens"] * tests
    expected = pytest.ExitCode.TESTS_FAILED if seeds else pytest.ExitCode.OK
    assert recorder.ret == (expected if seeds or tests else pytest.ExitCode.NO_TESTS_COLLECTED)


def test_single_seed_by_its_node_id(project: Project) -> None:
    name, _ = project.overdrawn(), project.closed()
    result = project.run("-q", f"ordeal-seed::BankChaos::{name}")
    result.assert_outcomes(failed=1)
    assert f"FAILED ordeal-seed::BankChaos::{name} - ValueError: balance negative" in result.outlines


def test_seed_that_is_not_there(project: Project) -> None:
    project.overdrawn()
    result = project.run("ordeal-seed::BankChaos::seed-000000000000")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.errlines[:2] == [
        "ERROR: no saved seed is named ordeal-seed::BankChaos::seed-000000000000",
        "hint: `pytest --collect-only -q -k ordeal-seed` lists them",
    ]


def test_project_that_has_nothing_but_seeds(project: Project) -> None:
    project.overdrawn()
    project.fix_withdraw()
    (project.root / "tests/test_bank.py").rename(project.root / "tests/bank_machine.py")
    project.edit("tests/bank_machine.py", "test_opens", "opens")
    seed = next((project.root / ".ordeal/seeds").rglob("*.json"))
    seed.unlink()
    assert project.run("-q").ret == pytest.ExitCode.NO_TESTS_COLLECTED
    project.save_seed(("close", {}), error="E", message="", test_class="tests.bank_machine:BankChaos")
    project.fix_close()
    assert project.run("-q").ret == pytest.ExitCode.OK


def test_last_failed(project: Project) -> None:
    project.overdrawn()
    project.closed()
    project.fix_close()
    project.run("-q").assert_outcomes(passed=2, failed=1)
    project.run("-q", "--lf").assert_outcomes(failed=1, deselected=2)
    project.fix_withdraw()
    project.run_apart("-q", "--lf").assert_outcomes(passed=1, deselected=2)
    project.run_apart("-q", "--ff").assert_outcomes(passed=3)


def test_stop_at_the_first_failure(project: Project) -> None:
    project.overdrawn()
    project.closed()
    project.run("-q", "-x").assert_outcomes(failed=1)
    project.run("-q", "--stepwise").assert_outcomes(failed=1)
    project.fix_close()
    project.fix_withdraw()
    project.run_apart("-q", "--stepwise").assert_outcomes(passed=3)


def test_junit(project: Project) -> None:
    name = project.overdrawn()
    project.edit("tests/test_bank.py", "def close", "def shut")
    outdated = project.closed()
    project.run("-q", "--junitxml=report.xml", "-ojunit_family=xunit1")
    cases = {case.attrib["name"]: case for case in ElementTree.parse(project.root / "report.xml").iter("testcase")}
    assert attributes(cases[name], "classname", "file") == (
        "ordeal-seed.BankChaos",
        f".ordeal/seeds/BankChaos/{name}.json",
    )
    failure, skipped = cases[name].find("failure"), cases[outdated].find("skipped")
    assert failure is not None
    assert skipped is not None
    assert failure.attrib["message"] == "ValueError: balance negative"
    assert "ordeal replay" in str(failure.text)
    assert "no longer applies" in skipped.attrib["message"]


def test_from_a_folder_below(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    name = project.overdrawn()
    monkeypatch.chdir(project.root / "tests")
    result = project.run("-q")
    result.assert_outcomes(passed=1, failed=1)
    assert section(result, SECTION)[-1] == f"  replay: cd .. && ordeal replay .ordeal/seeds/BankChaos/{name}.json"
    (shown,) = [line for line in result.outlines if line.startswith("FAILED")]
    project.run("-q", shown.split()[1]).assert_outcomes(failed=1)


def test_debugger_stops_where_the_seed_fails(project: Project) -> None:
    project.overdrawn(7)
    project.write({"conftest.py": "import pdb\npdb.Pdb.cmdloop = lambda self: print('at', self.curframe.f_locals)\n"})
    result = project.run_apart("-q", "--pdb", "-s")
    assert any(line.startswith("at {") and "'amount': 7" in line for line in result.outlines)


def test_a_machine_that_fails_as_its_seeds_do_says_so_in_one_line(project: Project) -> None:
    project.edit("tests/test_bank.py", "def test_opens", "TestBank = BankChaos.TestCase\n\n\ndef test_opens")
    project.overdrawn()
    project.closed()
    result = project.run("-q")
    result.assert_outcomes(passed=1, failed=3)
    lines = section(result, "FAILURES")
    assert "2 saved seeds fail here too: `ordeal seeds` names them, and -v shows it all" in lines
    assert sum("E   ValueError: balance negative" in line for line in lines) == 1
    assert sum("Falsifying" in line or "Exception Group" in line for line in lines) == 0
    whole = section(project.run("-q", "-vv"), "FAILURES")
    assert not any("saved seeds fail" in line for line in whole)


def test_a_machine_with_a_new_failure_shows_all(project: Project) -> None:
    project.edit("tests/test_bank.py", "def test_opens", "TestBank = BankChaos.TestCase\n\n\ndef test_opens")
    project.overdrawn()
    lines = section(project.run("-q"), "FAILURES")
    assert not any("saved seed" in line for line in lines)
    assert any("no such account" in line for line in lines)


# In processes of their own


def test_failures_that_an_exploration_finds_fail_the_next_run(project: Project) -> None:
    project.write(
        {
            "ordeal.toml": f"""
                [explorer]
                target_modules = ["bank"]
                max_runs = 50
                workers = 1
                [[tests]]
                class = "{TEST_CLASS}"
            """
        }
    )
    explored = subprocess.run([sys.executable, "-m", "ordeal", "explore"], cwd=project.root, check=False)
    assert explored.returncode == 1
    result = project.run_apart("-q")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=1, failed=2)
    assert sorted(line.partition(" — ")[2] for line in section(result, SECTION)[:2]) == [
        "KeyError: 'no such account'",
        "ValueError: balance negative",
    ]


def test_outcome_of_plain_pytest_and_of_python_m_pytest(project: Project) -> None:
    """The test module is imported as `test_bank` by pytest, and once more as `tests.test_bank` by the replay."""
    project.overdrawn()
    (project.root / "pytest.ini").write_text("[pytest]\n")
    project.edit(
        "tests/test_bank.py", "from bank import Account", "import sys; sys.path.append('.'); from bank import Account"
    )
    project.run_apart("-q").assert_outcomes(passed=1, failed=1)


def test_read_only_folder_is_left_alone(project: Project) -> None:
    project.overdrawn()
    corpus = project.root / ".ordeal"
    before = sorted((path, path.stat().st_mtime_ns) for path in corpus.rglob("*"))
    folders = [corpus, corpus / "seeds", corpus / "seeds/BankChaos"]
    for folder in folders:
        folder.chmod(0o555)
    project.run_apart("-q").assert_outcomes(passed=1, failed=1)
    for folder in folders:
        folder.chmod(0o755)
    assert sorted((path, path.stat().st_mtime_ns) for path in corpus.rglob("*")) == before


def test_no_warnings_of_its_own(project: Project) -> None:
    project.overdrawn()
    project.run_apart("-q", "-W", "error", "--chaos").assert_outcomes(passed=1, failed=1)


def test_conftest_that_asks_every_test(project: Project) -> None:
    project.write(
        {
            "conftest.py": """
                def pytest_collection_modifyitems(items):
                    for item in items:
                        item.fixturenames, item.path, item.location, item.fspath, item.get_closest_marker("db")

                def pytest_runtest_setup(item):
                    assert "db" not in item.fixturenames
                    print("ASKED", item.name)
            """
        }
    )
    name = project.overdrawn()
    assert f"ASKED {name}" in project.run("-q", "-s").outlines
    project.run("-q", "--setup-show", "--durations=3").assert_outcomes(passed=1, failed=1)
    assert project.run("-q", "--fixtures-per-test").ret == pytest.ExitCode.OK


@pytest.mark.parametrize(
    "options",
    [
        (),
        *(pytest.param(("--dist", each), marks=pytest.mark.nightly) for each in ("worksteal", "loadfile", "loadscope")),
    ],
)
def test_workers(project: Project, options: tuple[str, ...]) -> None:
    name = project.overdrawn()
    fixed = project.closed()
    project.fix_close()
    result = project.run_workers("-q", *options)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=2, failed=1)
    assert section(result, SECTION)[:2] == [
        f"  REGRESSION  {name}: tests.test_bank:BankChaos — ValueError: balance negative",
        f"  fixed       {fixed}: tests.test_bank:BankChaos — no longer reproduces",
    ]
    assert f"FAILED ordeal-seed::BankChaos::{name} - ValueError: balance negative" in result.outlines


def test_single_seed_with_workers(project: Project) -> None:
    name, _ = project.overdrawn(), project.closed()
    project.run_workers("-q", f"ordeal-seed::BankChaos::{name}").assert_outcomes(failed=1)


def test_records_are_plain_text(project: Project) -> None:
    """They travel between the processes of xdist and into report files."""
    project.overdrawn()
    recorder = project.pytester.inline_run("-p", "_ordeal_pytest")
    records = [vars(report).get("ordeal_seeds") for report in recorder.getreports("pytest_runtest_logreport")]
    (record,) = [record for record in records if record is not None]
    assert json.loads(json.dumps(record)) == record
    assert record["status"] == "reproduced"


def test_failures_of_a_store_are_replayed_and_kept_while_it_is_away(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordeal._pytest.seeds.LIMIT_SECONDS", 60.0)
    name = project.overdrawn()
    (seed,) = SeedCorpus(project.root / ".ordeal/seeds").paths()
    with open_store(f"dir://{project.root}/shared", "code") as store:
        report = FailureReport("bucket", Trace.load(seed).to_json(), 1, 1)
        store.sync(Outgoing(failures=(report,)))
    shutil.rmtree(project.root / ".ordeal")
    settings = f'[fleet]\nstore = "dir://shared"\n[[tests]]\nclass = "{TEST_CLASS}"\n'
    (project.root / "ordeal.toml").write_text(settings)
    result = project.run("-q")
    result.assert_outcomes(passed=1, failed=1)
    assert section(result, SECTION)[-1] == f"  replay: ordeal replay .ordeal/pulled/BankChaos/{name}.json"

    (project.root / "shared").rename(project.root / "moved")
    result = project.run("-q")
    result.assert_outcomes(passed=1, failed=1)
    said = section(result, SECTION)[0]
    assert said.startswith("  the store cannot be read: shared: ")
    assert said.endswith("replayed instead: 1 seed of an earlier run")
    assert project.run("-q", "--no-ordeal-seeds").ret == pytest.ExitCode.OK
