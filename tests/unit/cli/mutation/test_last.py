"""``ordeal mutate show``, ``apply``, ``accept`` and ``report``, with mutants that a run has kept."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.saved import save
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict

from ..conftest import Run, commit_all, git

TEXT = "def allowed(age):\n    return age >= 18\n"


@pytest.fixture(autouse=True)
def ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("shop.py").write_text(TEXT)
    mutants = mutants_of(Source.of(Path("shop.py"), "shop.py"), ["comparison", "return_none"])
    words = ("killed", "survived", "uncovered")
    verdicts = [Verdict(mutant, word, "", 1) for mutant, word in zip(mutants, words, strict=True)]  # type: ignore[arg-type]
    save(tmp_path, "key", Judgement(verdicts, 1, ["test_it"]))
    return [mutant.id for mutant in mutants]


def test_one_is_shown_by_the_beginning_of_its_id(run: Run, ids: list[str]) -> None:
    code, out, _ = run("mutate", "show", ids[1][:8])
    assert code == 0
    assert out.startswith("shop.py:2  allowed  survived  comparison  ")
    assert "  -     return age >= 18\n  +     return age > 18\n" in out


def test_one_is_applied_only_where_git_can_take_it_back(run: Run, ids: list[str]) -> None:
    assert run("mutate", "apply", ids[1])[0] == 2
    git("init", "-q")
    git("add", "shop.py")
    assert run("mutate", "apply", ids[1])[0] == 2
    git("commit", "-qm", "first")
    assert Path("shop.py").read_text() == TEXT
    assert run("mutate", "apply", ids[1])[0] == 0
    assert Path("shop.py").read_text() == TEXT.replace(">=", ">")
    code, _, err = run("mutate", "apply", ids[1])
    assert (code, "has changed since the last run" in err) == (2, True)


@pytest.mark.parametrize(
    "harm",
    [
        {"shown": "../other/victim.py", "start": 0, "end": 0, "original": ""},
        {"shown": "link.py", "start": 0, "end": 0, "original": ""},
        {"replacement": "__import__('os').system('id')"},
        {"start": 0, "end": 0, "original": "", "replacement": "import os\n"},
        {"operator": "none of ours"},
        {"shown": "pipe.py"},
        {"shown": "a\0b.py"},
    ],
)
def test_nothing_is_applied_but_a_mutant_of_this_project(
    run: Run, ids: list[str], harm: dict[str, Any], tmp_path: Path
) -> None:
    victim = tmp_path.with_name("other") / "victim.py"
    victim.parent.mkdir(exist_ok=True)
    victim.write_text("x = 1\n")
    Path("link.py").symlink_to(victim)
    os.mkfifo("pipe.py")
    commit_all("first")
    record = Path(".ordeal/mutate/last.json")
    kept = json.loads(record.read_bytes())
    kept["kept"][1]["verdict"]["mutant"].update(harm)
    record.write_text(json.dumps(kept))
    code, out, err = run("mutate", "apply", ids[1])
    assert (code, out, err[:7], "made a mistake" in err) == (2, "", "error: ", False)
    assert (victim.read_text(), Path("shop.py").read_text()) == ("x = 1\n", TEXT)


def test_one_is_accepted_with_a_reason_and_then_not_listed(run: Run, ids: list[str]) -> None:
    code, _, err = run("mutate", "accept", ids[1])
    assert (code, "--reason" in err) == (2, True)
    assert run("mutate", "accept", ids[1], "--reason", "18 is a guess")[0] == 0
    assert "18 is a guess" in Path("ordeal-accepted.toml").read_text()
    assert ids[1] not in run("mutate", "shop.py", "--list")[1]


@pytest.mark.parametrize("words", [["show"], ["show", "zz"], ["report", "pdf"], ["accept", "a", "b"]])
def test_wrong_words_are_told(run: Run, words: list[str]) -> None:
    code, _, err = run("mutate", *words)
    assert (code, err.startswith("error: ")) == (2, True)


def test_without_a_run_there_is_nothing_to_show(run: Run) -> None:
    Path(".ordeal/mutate/last.json").unlink()
    assert run("mutate", "show", "a")[0] == 2


def test_reports_are_written_from_what_was_kept(run: Run, ids: list[str]) -> None:
    folder = Path(".ordeal/mutate")
    for each in ("html", "junit", "sarif", "badge", "json"):
        assert run("mutate", "report", each)[0] == 0
    page = folder.joinpath("mutation.html").read_text("utf-8")
    assert "33.3 % of 3 were noticed" in page
    assert re.search(r"&gt;=(<[^>]*>)* ?(<[^>]*>)*18", page)
    assert "src=" not in page
    suite = ElementTree.fromstring(folder.joinpath("junit.xml").read_text("utf-8"))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    found = json.loads(folder.joinpath("mutation.sarif").read_text("utf-8"))["runs"][0]["results"]
    # Of a line, one is shown: others mostly share its fate.
    assert [each["partialFingerprints"]["ordealMutant/v1"] for each in found] == [ids[1]]
    assert json.loads(folder.joinpath("badge.json").read_text("utf-8"))["message"] == "33.3 %"
    assert run("mutate", "report", "github")[1].startswith(
        f"::warning file=shop.py,line=2,title=ordeal mutate {ids[1]}::"
    )


def test_what_nothing_noticed_is_judged_again(run: Run, ids: list[str]) -> None:
    def listed(*words: str) -> list[str]:
        return [line.split()[0] for line in run("mutate", "rerun", *words, "--list")[1].splitlines()]

    assert listed() == ids[1:]
    assert listed("shop.py") == ids[1:]
    Path("shop.py").write_text("def allowed(age):\n    return True\n")
    assert run("mutate", "rerun", "--list")[0] == 3


@pytest.mark.usefixtures("ids")
def test_a_report_names_the_package_that_it_needs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "junitparser", None)
    code, _, err = run("mutate", "report", "junit")
    assert code == 2
    assert "the report format `junit` needs the package `junitparser`" in err
    assert "hint: `pip install junitparser`" in err


@pytest.mark.forks
def test_the_settings_say_what_is_mutated_by_which_tests(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("shop", "till"):
        Path(f"{name}.py").write_text("def total(a):\n    return a + 1\n")
    Path("checks.py").write_text("import shop\n\ndef test_total(): assert shop.total(1) == 2\n")
    Path("ordeal.toml").write_text(
        '[mutations]\ntargets = ["shop.py", "till.py"]\nexclude = ["till.py"]\ntests = ["checks.py"]\n'
    )
    code, out, err = run("mutate", "--operators", "arithmetic")
    assert (code, out.splitlines()[-2]) == (0, "score 1/1 (100.0 %)"), err
