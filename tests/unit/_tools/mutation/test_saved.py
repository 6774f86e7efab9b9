"""A saved judgement stands while nothing that it came of has changed, and no longer."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from ordeal._tools.mutation.mutants import Mutant
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.saved import Keeper, begun_before, key_of, load, save, still_true
from ordeal._tools.mutation.verdicts import Verdict
from ordeal.errors import ConfigError

MUTANT = Mutant("abc", "shop.py", "f", "negate", 2, (2, 2), 0, 1, "x", "y", (1, 2))


def judged(word: str = "survived", note: str = "") -> Judgement:
    verdict = Verdict(MUTANT, word, "", 1, "swap", note, "test_it", ("test_it",))  # type: ignore[arg-type]
    return Judgement([verdict], 1, ["test_it"])


def test_it_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    save(tmp_path, "key", judged())
    found = still_true(load(tmp_path), "key", [MUTANT])
    assert found is not None
    assert (found.verdicts, found.tests, found.names) == (judged().verdicts, 1, ["test_it"])


@pytest.mark.parametrize("word", ["timeout", "memory", "crash", "not run"])
def test_what_a_busy_machine_may_change_is_judged_again(tmp_path: Path, word: str) -> None:
    save(tmp_path, "key", judged(word))
    assert still_true(load(tmp_path), "key", [MUTANT]) is None


def test_a_limit_of_turns_is_the_same_each_time(tmp_path: Path) -> None:
    save(tmp_path, "key", judged("timeout", "loop limit"))
    assert still_true(load(tmp_path), "key", [MUTANT]) is not None


def test_other_mutants_another_key_and_a_flaky_test_are_judged_again(tmp_path: Path) -> None:
    save(tmp_path, "key", judged())
    assert still_true(load(tmp_path), "key", []) is None
    assert still_true(load(tmp_path), "other", [MUTANT]) is None
    save(tmp_path, "key", dataclasses.replace(judged(), flaky=["test_it"]))
    assert still_true(load(tmp_path), "key", [MUTANT]) is None
    save(tmp_path, "", judged())
    assert still_true(load(tmp_path), "", [MUTANT]) is None


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


def test_what_is_found_so_far_is_kept_and_never_counts_as_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordeal._tools.mutation.saved._SAVE_SECONDS", 0.0)
    Keeper(tmp_path, "key").take(judged().verdicts[0])
    saved = load(tmp_path)
    assert saved is not None
    assert saved.one("a").mutant == MUTANT
    with pytest.raises(ConfigError):
        saved.one("b")
    assert still_true(saved, "", [MUTANT]) is None
    assert still_true(saved, "key", [MUTANT]) is None
    assert begun_before(saved, "key") == judged().verdicts


def test_a_run_of_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    save(tmp_path, "", judged(), "key")
    assert begun_before(load(tmp_path), "other") == begun_before(load(tmp_path), "") == begun_before(None, "key") == []
    for word, note in (("not run", "over budget"), ("timeout", ""), ("crash", "SIGSEGV")):
        save(tmp_path, "", judged(word, note), "key")
        assert begun_before(load(tmp_path), "key") == []


def test_a_broken_file_is_none(tmp_path: Path) -> None:
    save(tmp_path, "key", judged())
    Path(tmp_path, ".ordeal/mutate/last.json").write_bytes(b"{" * 100)
    assert load(tmp_path) is None


def test_no_file_of_the_project_is_waited_for_or_read_beyond_what_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordeal._tools.mutation.saved._BYTES_MAX", 1000)
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
