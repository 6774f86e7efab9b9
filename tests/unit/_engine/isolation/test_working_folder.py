"""The folder that an exploration writes to, when a rule has left or deleted it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ordeal._engine.isolation.working_folder import WorkingFolder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "one" / "two"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_a_folder_that_is_gone_is_made_again_with_those_above_it(place: Path) -> None:
    told: list[str] = []
    folder = WorkingFolder(told.append)
    shutil.rmtree(place.parent)
    folder.restore()
    assert Path.cwd() == place
    assert len(told) == 1
    Path("file").touch()
    folder.restore()
    assert len(told) == 1


def test_a_folder_that_was_left_is_worked_in_again(place: Path, tmp_path: Path) -> None:
    told: list[str] = []
    folder = WorkingFolder(told.append)
    os.chdir(tmp_path)
    assert folder.path_of(Path("file")) == place / "file"
    assert folder.path_of(tmp_path) == tmp_path
    folder.restore()
    assert Path.cwd() == place
    assert told == []


def test_one_that_cannot_be_made_again_is_done_without(place: Path) -> None:
    told: list[str] = []
    folder = WorkingFolder(told.append)
    shutil.rmtree(place.parent)
    place.parent.touch()
    folder.restore()
    assert told == []


def test_one_that_was_gone_before_is_done_without(place: Path) -> None:
    place.rmdir()
    folder = WorkingFolder(lambda text: None)
    folder.restore()
    with pytest.raises(FileNotFoundError):
        os.getcwd()  # noqa: PTH109 - this is what raises
    place.mkdir()
