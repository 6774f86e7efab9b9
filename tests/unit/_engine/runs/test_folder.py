"""Finding, reading and deleting the folders of runs."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ordeal._engine.runs.folder import (
    EVENTS,
    LATEST,
    STATUS,
    find_run,
    make_folder,
    prune,
    read_events,
    read_result,
    read_status,
    run_folders,
)
from ordeal._engine.runs.writer import RunWriter
from ordeal.errors import ConfigError


def moment(second: int) -> datetime:
    return datetime(2026, 1, 2, 3, 4, second, tzinfo=UTC)


def test_the_latest_has_a_name_that_says_when_and_a_link(tmp_path: Path) -> None:
    first, second = make_folder(tmp_path, moment(1)), make_folder(tmp_path, moment(2))
    assert first.name == f"20260102-030401-{os.getpid()}"
    assert (tmp_path / LATEST).resolve() == second
    assert run_folders(tmp_path) == [first, second]


def test_two_runs_of_one_second_have_folders_of_their_own(tmp_path: Path) -> None:
    first, second = make_folder(tmp_path, moment(1)), make_folder(tmp_path, moment(1))
    assert second.name == f"{first.name}-2"


def test_a_run_is_found_by_its_name_the_beginning_of_it_its_path_or_as_the_latest(tmp_path: Path) -> None:
    first, second = make_folder(tmp_path, moment(1)), make_folder(tmp_path, moment(2))
    assert find_run(None, tmp_path) == find_run("latest", tmp_path) == second
    assert find_run(first.name, tmp_path) == find_run(first.name[:15], tmp_path) == first
    assert find_run(str(first), tmp_path) == first
    with pytest.raises(ConfigError, match="no run is named `nope`") as error:
        find_run("nope", tmp_path)
    assert second.name in str(error.value.hint)
    with pytest.raises(ConfigError, match="no run is kept"):
        find_run(None, tmp_path / "elsewhere")


def test_the_last_stay_and_so_do_files_of_others_and_runs_that_go_on(tmp_path: Path) -> None:
    folders = [make_folder(tmp_path, moment(second)) for second in range(6)]
    for folder in folders:
        (folder / EVENTS).write_text("")
    (folders[1] / "mine.txt").write_text("")
    goes_on = RunWriter(runs=tmp_path)
    goes_on.begun("1", [], {})
    assert goes_on.folder is not None
    (folders[2] / STATUS).write_bytes((goes_on.folder / STATUS).read_bytes())
    prune(tmp_path, 2, goes_on.folder)
    assert run_folders(tmp_path) == [folders[1], folders[2], folders[5], goes_on.folder]
    assert [path.name for path in folders[1].iterdir()] == ["mine.txt"]


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / EVENTS).write_text("precious")
    runs = tmp_path / "runs"
    own = make_folder(runs, moment(9))
    (runs / "20200101-000000-1").symlink_to(elsewhere)
    prune(runs, 1, own)
    assert (elsewhere / EVENTS).read_text() == "precious"


@pytest.mark.parametrize("damage", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"type":"nope"}', b"null"])
def test_damaged_files_are_read_as_far_as_they_go(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / EVENTS).write_bytes(b'{"type":"health","elapsed":1,"message":"well"}\n' + damage)
    (tmp_path / STATUS).write_bytes(damage)
    (tmp_path / "result.json").write_bytes(damage)
    assert len(list(read_events(tmp_path))) == 1
    assert read_status(tmp_path) is None
    assert read_result(tmp_path) is None or damage == b'{"type":"nope"}'
