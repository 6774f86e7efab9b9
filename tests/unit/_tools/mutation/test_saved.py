"""A saved judgement stands while nothing that it came of has changed, and no longer."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from ordeal._tools.mutation.machines.evidence import JudgingMachine, MachineFinding, StateDifference
from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.saved import Keeper, key_of, load, save, standing
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.errors import ConfigError

MUTANT = Mutant("abc", "shop.py", "f", "negate", 2, (2, 2), 0, 1, "x", "y", (1, 2))


def judged(word: str = "survived", note: str = "") -> Judgement:
    verdict = Verdict(MUTANT, word, "", 1, "swap", note, "test_it", ("test_it",))  # type: ignore[arg-type]
    return Judgement([verdict], 1, ["test_it"])


def test_it_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    said = judged()
    said.findings = {"abc": MachineFinding("abc", "survived", (), StateDifference(1, 2, "sell", "stock", "1", "2"))}
    said.machines = [JudgingMachine("m:M", 1, 3, 0, ("sell",), (), (), {}, ())]
    save(tmp_path, "key", dataclasses.replace(said, seconds=3.0, was_interrupted=True))
    saved = load(tmp_path)
    assert saved is not None
    assert saved.judgement() == said
    assert saved.one("a").mutant == MUTANT
    with pytest.raises(ConfigError):
        saved.one("b")


@pytest.mark.parametrize(
    ("judgement", "stands"),
    [
        (judged(), True),
        (judged("timeout", "loop limit"), True),
        *((judged(word), False) for word in ("timeout", "memory", "crash", "not run")),
        (dataclasses.replace(judged(), flaky=["test_it"]), False),
    ],
)
def test_what_a_busy_machine_may_change_is_judged_again(tmp_path: Path, judgement: Judgement, stands: bool) -> None:
    save(tmp_path, "key", judgement)
    assert standing(load(tmp_path), "key") == (judgement.verdicts if stands else [])
    assert standing(load(tmp_path), "other") == standing(None, "key") == []
    save(tmp_path, "", judgement)
    assert standing(load(tmp_path), "") == []


def test_the_key_is_of_each_file_the_options_and_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    Path(tmp_path, "data.csv").write_text("1", "utf-8")
    first = key_of(tmp_path, [MUTANT], {"tests": []})
    assert first == key_of(tmp_path, [MUTANT], {"tests": []})
    keys = {first, key_of(tmp_path, [MUTANT], {"tests": ["-x"]})}
    Path(tmp_path, "data.csv").write_text("2", "utf-8")
    keys.add(key_of(tmp_path, [MUTANT], {"tests": []}))
    monkeypatch.setenv("PYTEST_ADDOPTS", "-x")
    keys.add(key_of(tmp_path, [MUTANT], {"tests": []}))
    assert len(keys) == 4


def test_the_key_is_of_how_mutants_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = tmp_path / "judge"
    Path(judge, "judging").mkdir(parents=True)
    Path(judge, "judging", "lanes.py").write_text("FACTOR = 1", "utf-8")
    monkeypatch.setattr("ordeal._tools.mutation.saved._JUDGE", judge)
    project = tmp_path / "project"
    project.mkdir()
    first = key_of(project, [MUTANT], {})
    Path(judge, "judging", "lanes.py").write_text("FACTOR = 2", "utf-8")
    assert key_of(project, [MUTANT], {}) != first


def test_what_is_found_so_far_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._tools.mutation.saved.STATUS_SECONDS", 0.0)
    keeper = Keeper(tmp_path, "key", [])
    keeper.begin(Judgement(tests=1, names=["test_it"]))
    keeper.take(judged().verdicts[0])
    assert standing(load(tmp_path), "key") == judged().verdicts


def test_a_broken_file_is_none(tmp_path: Path) -> None:
    save(tmp_path, "key", judged())
    Path(tmp_path, ".ordeal/mutate/last.json").write_bytes(b"{" * 100)
    assert load(tmp_path) is None


def test_no_file_of_the_project_is_waited_for_or_read_beyond_what_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordeal._tools.mutation.saved._BYTES_MAX", 1000)
    monkeypatch.delenv("PYTHONPATH", raising=False)  # its folders would count
    os.mkfifo(tmp_path / "pipe")
    assert key_of(tmp_path, [MUTANT], {"tests": []})
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(1 << 36)  # more than fits into memory
    assert key_of(tmp_path, [MUTANT], {"tests": []}) == ""


def test_a_last_run_that_is_a_pipe_is_none(tmp_path: Path) -> None:
    path = Path(tmp_path, ".ordeal/mutate/last.json")
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert load(tmp_path) is None
