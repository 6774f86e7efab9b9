"""``ordeal mutate``: the report, the exit code, and that nothing is written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.unit._tools.mutation.machines import till

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.saved import load
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.cli.mutation.mutate import MutationProgress

from ..conftest import Run


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.py").write_text("def allowed(age):\n    return age >= 18\n")
    Path("test_shop.py").write_text("from shop import allowed\n\ndef test_it():\n    assert allowed(20)\n")


@pytest.mark.slow
def test_a_survivor_is_shown_with_its_diff(run: Run) -> None:
    code, out, err = run("mutate", "shop.py", "--preset", "essential", "--threshold", "100")
    assert code == 1
    assert run("mutate", "shop.py", "-p", "essential", "--assertion-threshold", "66")[0] == 0
    assert run("mutate", "shop.py", "-p", "essential", "--assertion-threshold", "67")[0] == 1
    assert "shop.py:2  allowed  survived  comparison  " in out
    assert "  -     return age >= 18\n  +     return age > 18\n  1 test ran this and passed; nearest: " in out
    assert "; nearest: test_shop.py::test_it\n" in out
    assert "score 2/3 (66.6 %)\n" in out
    assert err.startswith("3 mutants of preset essential, ")
    assert re.search(r"\n1 test passes without a mutant in \d+\.\d s\n", err)
    assert sorted(each.name for each in Path().iterdir()) == [".ordeal", "shop.py", "test_shop.py"]
    again, same, err = run("mutate", "shop.py", "--preset", "essential", "--new-only")
    assert (again, same.splitlines()[:4]) == (code, out.splitlines()[:4])
    assert "nothing has changed since the last run" in err
    path = Path(".ordeal/mutate/last.json")
    kept = json.loads(path.read_text())
    path.write_text(json.dumps({**kept, "kept": kept["kept"][1:]}))
    _, same, err = run("mutate", "shop.py", "--preset", "essential", "--all")
    assert "nothing has changed since the last run: 2 verdicts stand" in err
    assert "  1/1  killed 1\n" in err
    assert "score 2/3 (66.6 %)\n" in same
    _, out, err = run("mutate", "rerun")
    assert err.startswith("1 mutant of operators comparison, ")
    assert "score 0/1 (0.0 %)\n" in out


@pytest.mark.slow
def test_json_has_every_verdict(run: Run) -> None:
    Path("test_shop.py").write_text(
        "from shop import allowed\n\ndef test_it():\n    assert allowed(20)\n\ndef test_old():\n    assert 0\n"
    )
    assert run("mutate", "shop.py")[0] == 3
    code, out, _ = run("mutate", "shop.allowed", "-p", "essential", "--tests=-k it", "--json")
    document = json.loads(out)
    assert code == 0
    assert [each["verdict"] for each in document["mutants"]] == ["killed", "survived", "killed"]
    assert document["mutants"][0]["killer"] == "test_shop.py::test_it"


def test_wrong_use_and_nothing_to_mutate(run: Run) -> None:
    assert run("mutate", "gone.py")[0] == 2
    Path("shop.py").write_text('"""Nothing."""\n')
    assert run("mutate", "shop.py")[0] == 3


def test_the_list_judges_nothing(run: Run) -> None:
    whole = run("mutate", "shop.py", "--list", "--operators", "comparison,boundary")[1].splitlines()
    assert len(whole) == 4
    assert whole[0].endswith("  shop.py:2  allowed  comparison")
    standard = run("mutate", "shop.py", "--list", "-p", "standard")[1].splitlines()
    listed = json.loads(run("mutate", "shop.py", "--list", "--json", "-p", "standard")[1])
    assert [each["id"] for each in listed] == [line.partition(" ")[0] for line in standard]
    text = Path("shop.py").read_text().splitlines()
    for each in listed:
        assert text[each["line"] - 1][each["column"] - 1 : each["end_column"] - 1] == each["original"]
        assert each["diff"]


@pytest.mark.parametrize("option", [("--tests", "'a"), ("--operators", "comparisn"), ("--operators", ",")])
def test_a_wrong_option_is_named(run: Run, option: tuple[str, str]) -> None:
    code, _, err = run("mutate", "shop.py", *option)
    assert code == 2
    assert option[1] in err
    assert "hint: " in err


def test_a_project_without_machines_is_wrong_use(run: Run) -> None:
    Path("drawer.py").write_text(Path(till.__file__).read_text())
    code, _, err = run("mutate", "drawer.py", "--with", "machines")
    assert code == 2
    assert "ordeal.toml" in err


@pytest.mark.slow
def test_machines_judge_where_their_test_cases_are_the_only_tests(run: Run) -> None:
    Path("drawer.py").write_text(Path(till.__file__).read_text())
    Path("ordeal.toml").write_text('[explorer]\ntarget_modules = ["drawer"]\n[[tests]]\nclass = "drawer:Till"\n')
    Path("test_till.py").write_text("from drawer import Till\n\nTestTill = Till.TestCase\n")
    only = ["mutate", "drawer.py", "-p", "essential", "--runs", "20"]
    assert "so the machines judge" not in run(*only, "--budget", "1")[2]
    Path("test_shop.py").unlink()
    code, out, err = run(*only)
    assert code == 0
    assert "the tests here are TestCases of machines, so the machines judge" in err
    assert "machine drawer:Till: " in out
    assert "so the machines judge" not in run(*only, "--with", "tests", "--budget", "1")[2]


@pytest.mark.nightly
def test_a_survivor_is_named_with_the_state_that_differs(run: Run) -> None:
    Path("drawer.py").write_text(Path(till.__file__).read_text())
    Path("ordeal.toml").write_text('[explorer]\ntarget_modules = ["drawer"]\n[[tests]]\nclass = "drawer:Till"\n')
    code, out, _ = run("mutate", "drawer.py", "--with", "machines", "--runs", "60", "-p", "essential", "--json")
    document = json.loads(out)
    assert code == 0
    gap = next(
        each for each in document["mutants"] if each["name"] == "Drawer.give_back" and each["replacement"] == "-="
    )
    assert (gap["verdict"], gap["difference"]["path"]) == ("survived", "drawer.given_back")
    assert document["machines"][0]["unread"] == ["drawer.given_back"]
    assert "no invariant" not in run("mutate", "show", gap["id"])[1]
    assert run("mutate", "report", "html")[0] == 0
    assert "no invariant reads drawer.given_back" in Path(".ordeal/mutate/mutation.html").read_text()


PROGRAM = "def price(a, b, c):\n    return a + b * 3 + c * 5 + a * 7 + b * 9 - (c + a) * 11\n"
PATIENT = """
import time
from shop import price

def test_it():
    time.sleep(0.1)
    assert price(1, 2, 3) == 3
"""


@pytest.mark.parametrize("kills", [1, pytest.param(50, marks=pytest.mark.nightly)])
def test_a_run_that_is_killed_leaves_its_results_and_nothing_else(tmp_path: Path, run: Run, kills: int) -> None:
    Path("shop.py").write_text(PROGRAM)
    Path("test_shop.py").write_text(PATIENT)
    line = [sys.executable, "-m", "ordeal", "mutate", "shop.py", "-p", "thorough", "-w", "1", "--no-cache"]
    known: set[str] = set()
    began = time.monotonic()
    if kills > 1:
        subprocess.run(line, check=True, capture_output=True)
    whole = time.monotonic() - began
    for number in range(kills):
        Path(".ordeal/mutate/last.json").unlink(missing_ok=True)
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if kills == 1:
            while load(tmp_path) is None and process.poll() is None:
                time.sleep(0.01)
        else:
            time.sleep(whole * number / kills)
        process.kill()
        process.wait()
        assert sorted({each.name for each in Path().iterdir()} - {".ordeal"}) == ["shop.py", "test_shop.py"]
        assert (Path("shop.py").read_text(), Path("test_shop.py").read_text()) == (PROGRAM, PATIENT)
        kept = load(tmp_path)
        known |= {each.mutant.id for each in kept.verdicts()} if kept is not None else set()
    assert known
    kept = load(tmp_path)
    if kept is not None:
        assert run("mutate", "show", kept.verdicts()[0].mutant.id)[0] == 0


def test_a_termination_reports_as_ctrl_c_does_and_leaves_nothing(tmp_path: Path) -> None:
    Path("shop.py").write_text(PROGRAM)
    Path("test_shop.py").write_text(PATIENT)
    Path("temporary").mkdir()
    line = [sys.executable, "-m", "ordeal", "mutate", "shop.py", "-p", "thorough", "-w", "1", "--no-cache", "--json"]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path / "temporary")})
    while load(tmp_path) is None and process.poll() is None:
        time.sleep(0.01)
    process.terminate()
    said, _ = process.communicate()
    assert process.returncode == 130
    assert json.loads(said)["mutants"]
    assert not [*Path("temporary").iterdir()]


@pytest.mark.parametrize("option", ["--budget", "--threshold", "--kill-budget"])
@pytest.mark.parametrize(("value", "shown"), [("nan", "nan"), ("inf", "inf"), ("1e300", "1e+300")])
def test_what_no_clock_counts_is_refused(run: Run, option: str, value: str, shown: str) -> None:
    verb = ["kill"] if option == "--kill-budget" else []
    code, _, err = run("mutate", *verb, "shop.py", option, value)
    assert code == 2
    assert f"`{option}` is {shown}, not a number" in err


def test_an_id_that_no_mutant_has_is_named(run: Run) -> None:
    code, _, err = run("mutate", "shop.py", "--mutant", "zz")
    assert code == 3
    assert "no mutant here has an id that begins with `zz`" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "report.txt"], "`--output` goes with `kill`"),
        (["--reason", "none"], "`--reason` goes with `accept`"),
    ],
)
def test_an_option_of_a_verb_is_refused_where_mutants_are_judged(run: Run, words: list[str], said: str) -> None:
    code, _, err = run("mutate", "shop.py", *words)
    assert code == 2
    assert said in err
    code, _, err = run("mutate", "kill", "--reason", "none")
    assert code == 2
    assert "`--reason` goes with `accept`" in err


@pytest.mark.forks
def test_a_run_that_cannot_be_kept_says_so(run: Run) -> None:
    Path(".ordeal").write_text("in the way")
    code, out, err = run("mutate", "shop.py", "--operators", "comparison")
    assert code == 0
    assert "score" in out
    assert "cannot be kept in .ordeal/mutate" in err


MUTANTS = mutants_of(Source(Path("a.py"), "a.py", b"x = 1\ny = 2\n"), ["boundary"])


def test_the_line_has_the_words_the_speed_and_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    progress = MutationProgress(len(MUTANTS))
    progress.take(Verdict(MUTANTS[0], "killed"))
    progress.take(Verdict(MUTANTS[1], "survived"))
    assert progress.text(2.0) == "2/4  killed 1  survived 1  1/s  0:02 left"
    progress.close()
    assert capsys.readouterr().err == "  1/4  killed 1\n"


def test_how_far_the_tests_are_is_told_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 10.0
    monkeypatch.setattr("ordeal.cli.mutation.mutate.monotonic", lambda: now)
    progress = MutationProgress(4)
    for now in (11.0, 13.5, 14.0, 17.0):
        progress.begin(f"{now:.0f} tests collected so far")
    assert capsys.readouterr().err == "  14 tests collected so far\n  17 tests collected so far\n"
