"""``ordeal mutate kill``: what is refused, and what is printed and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit._tools.mutation.machines import till

from ordeal._tools.mutation.machines.evidence import Closed
from ordeal._tools.mutation.machines.traces import drawn
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.saved import save
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict, Word
from ordeal.cli import main
from ordeal.cli.mutation import kill

PROGRAM = "def allowed(age):\n    return age >= 18\n"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(PROGRAM)
    (tmp_path / "ordeal.toml").write_text('[[tests]]\nclass = "machine:Machine"\n')
    return tmp_path


def closes(monkeypatch: pytest.MonkeyPatch, *found: Closed) -> None:
    monkeypatch.setattr(kill, "close_with_machines", lambda _, mutants, *__, **___: zip(mutants, found, strict=True))


def id_of(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["mutate", "shop.py", "--list"]) == 0
    return capsys.readouterr().out.split()[0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "no saved run has survivors to close"),
        (["shop.py"], "no saved run has survivors to close"),
        (["zzz", "shop.py"], "no mutant has the id `zzz`"),
        (["", "shop.py"], "ids begin with ``"),
        (["zzz", "shop.py", "-o", "shop.py"], "`-o` would replace shop.py"),
    ],
)
def test_wrong_use(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutate", "kill", *words]) == 2
    assert said in capsys.readouterr().err


def test_the_run_of_a_test_that_kills_is_kept_to_judge(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said: list[dict[str, Any]] = []
    drawn(f"{till.__name__}:Till", [till.__name__], runs=6, seconds=20, seed=1, say=said.append)
    closed = Closed("killed", "no", "def test_it(): ...\n", 3, 10, 10, trace=said[0]["trace"])
    closes(monkeypatch, closed)
    assert main(["mutate", "kill", id_of(capsys), "shop.py"]) == 0
    (guard,) = (project / ".ordeal/guards").rglob("*.json")
    assert f"kept as a judge of later mutants: {guard.relative_to(project)}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("closed", "code", "said"),
    [
        (
            Closed("killed", "AssertionError: no", "def test_it(): ...\n", 3, 10, 10, 400),
            0,
            (
                "killed in 400 runs, in 3 steps: AssertionError: no\n"
                "fails on the mutant 10 of 10 times, passes on the original 10 of 10\nwritten: tests/test_it.py\n"
            ),
        ),
        (
            Closed("open", "no run failed on the mutant alone", searched=800),
            1,
            "open in 800 runs: no run failed on the mutant alone\n",
        ),
    ],
)
def test_what_became_of_it(
    closed: Closed,
    code: int,
    said: str,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    closes(monkeypatch, closed)
    assert main(["mutate", "kill", id_of(capsys), "shop.py", "-o", "tests/test_it.py"]) == code
    assert capsys.readouterr().out == said
    assert (project / "tests" / "test_it.py").exists() == (code == 0)


def test_without_an_id_what_survived_the_last_run_is_closed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Source.of(project / "shop.py", "shop.py")
    words: tuple[Word, ...] = "survived", "killed", "survived"
    mutants = mutants_of(source, ["comparison", "return_none"])
    verdicts = [Verdict(each, word) for each, word in zip(mutants, words, strict=False)]
    save(project, "", Judgement(verdicts))
    closes(monkeypatch, Closed("killed", "no", "def test_a(): ...\n", 3, 10, 10), Closed("open", "nothing"))
    assert main(["mutate", "kill", "-o", "tests/test_it.py"]) == 1
    assert capsys.readouterr().out.endswith("written: tests/test_it.py\n2 survivors  killed 1  open 1\n")
    assert "def test_a(): ..." in (project / "tests/test_it.py").read_text()
