"""What runs reached is added up in a file, which is trusted by nobody."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from ordeal._base.limits import COUNT_MAX
from ordeal._base.property_tracker import PropertyResult, PropertyTally
from ordeal._engine.properties.history import PROPERTIES_PATH, add_reached, load_reached
from ordeal.errors import PropertyError

ROW = {"name": "n", "type": "always", "hits": 3, "passes": 2, "failures": 1}


def result(name: str, kind: Any = "sometimes", passes: int = 1, failures: int = 0) -> PropertyResult:
    return PropertyResult.of(PropertyTally(name, kind, hits=passes + failures, passes=passes, failures=failures))


def hits(path: Path) -> dict[str, tuple[str, int, int]]:
    return {name: (each.type, each.passes, each.failures) for name, each in load_reached(path).items()}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / PROPERTIES_PATH


def test_hits_add_up(path: Path) -> None:
    assert load_reached(path) == {}
    assert add_reached(path, [result("b"), result("a", failures=2)])
    assert add_reached(path, [result("b", passes=4), result("c")])
    assert hits(path) == {"a": ("sometimes", 1, 2), "b": ("sometimes", 5, 0), "c": ("sometimes", 1, 0)}
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_what_was_not_reached_is_not_written(path: Path) -> None:
    assert add_reached(path, [result("a", passes=0)])
    assert hits(path) == {}
    assert path.exists(), "a catalog knows that there was a run"


def test_a_run_that_tracks_nothing_writes_nothing(path: Path) -> None:
    assert not add_reached(path, [])
    assert not path.parent.exists()


def test_the_newer_type_counts(path: Path) -> None:
    add_reached(path, [result("a", passes=7)])
    add_reached(path, [result("a", "always")])
    assert hits(path) == {"a": ("always", 1, 0)}


def test_the_newer_names_stay_when_there_are_too_many(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._engine.properties.history.PROPERTIES_MAX", 2)
    add_reached(path, [result("a"), result("b")])
    add_reached(path, [result("c")])
    assert list(hits(path)) == ["a", "c"]


def test_hits_stay_numbers_that_can_be_read(path: Path) -> None:
    for _ in range(3):
        add_reached(path, [result("a", passes=COUNT_MAX // 2)])
    assert hits(path) == {"a": ("sometimes", COUNT_MAX // 2, 0)}


def test_a_name_that_is_no_unicode_is_kept(path: Path) -> None:
    add_reached(path, [result("\udc80\n")])
    assert list(hits(path)) == ["\udc80\n"]


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        {"schema_version": 2, "properties": []},
        {"schema_version": 1, "properties": {}},
        {"schema_version": 1, "properties": [], "more": 1},
        {"schema_version": 1, "properties": [1]},
        {"schema_version": 1, "properties": [ROW | {"name": 1}]},
        {"schema_version": 1, "properties": [ROW | {"type": "never"}]},
        {"schema_version": 1, "properties": [ROW | {"hits": 4}]},
        {"schema_version": 1, "properties": [ROW | {"passes": -1, "hits": 0}]},
        {"schema_version": 1, "properties": [ROW | {"passes": 10**30}]},
        {"schema_version": 1, "properties": [ROW | {"passes": True}]},
        {"schema_version": 1, "properties": [ROW | {"more": 1}]},
        {"schema_version": 1, "properties": [ROW] * 10_001},
    ],
)
def test_what_no_run_has_written_is_refused_and_replaced(path: Path, document: Any) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(PropertyError, match=r"properties\.json"):
        load_reached(path)
    add_reached(path, [result("a")])
    assert list(hits(path)) == ["a"]


def test_a_file_that_is_too_large_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_reached(path, [result("a")])
    monkeypatch.setattr("ordeal._engine.properties.history.INPUT_BYTES_MAX", 10)
    with pytest.raises(PropertyError, match="larger than 10 bytes"):
        load_reached(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_and_replaced(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(PropertyError, match="is not a regular file"):
        load_reached(path)
    add_reached(path, [result("a")])
    assert hits(path) == {"a": ("sometimes", 1, 0)}


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".ordeal").touch()
    with pytest.raises(PropertyError, match="cannot save what was seen of properties"):
        add_reached(tmp_path / PROPERTIES_PATH, [result("a")])


def _add_many(path: Path) -> None:
    for _ in range(20):
        add_reached(path, [result("a")])


def test_processes_wait_for_each_other(path: Path) -> None:
    # Not forked: the test process has threads.
    processes = [multiprocessing.get_context("spawn").Process(target=_add_many, args=(path,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert hits(path) == {"a": ("sometimes", 40, 0)}
