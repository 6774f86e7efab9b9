"""The board of a fleet: what is written is read, and what others may have written is checked."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.samples.stores import Place, RedisServer

from ordeal._engine.parallel.fleet.board import (
    Board,
    BoardError,
    decoded,
    launchers,
    number_of,
    text_of,
)
from ordeal.errors import StoreError


def test_what_one_writes_another_reads(place: Place) -> None:
    first, second = (Board(place.url, "nightly") for _ in range(2))
    first.begin()
    assert second.get("launcher") == {}
    first.put("launcher", {"state": "running"})
    first.put("member-000003", {"runs": 7})
    assert list(second.all()) == ["launcher", "member-000003"]
    assert number_of(second.all()["member-000003"], "runs") == 7
    assert list(launchers(place.url)) == ["nightly"]
    second.remove("member-000003")
    assert list(first.all()) == ["launcher"]


def test_the_fleet_that_began_last_comes_last(place: Place) -> None:
    for name, began in (("b", 2.0), ("c", 3.0), ("a", 1.0)):
        board = Board(place.url, name)
        board.begin()
        board.put("launcher", {"began": began})
    assert list(launchers(place.url)) == ["a", "b", "c"]


def test_a_server_that_lost_its_memory_lists_a_fleet_that_goes_on(redis_server: RedisServer) -> None:
    board = Board(redis_server.url, "night")
    board.begin()
    redis_server.client().flushall()
    board.put("launcher", {"state": "running"})
    assert list(launchers(redis_server.url)) == ["night"]
    redis_server.client().flushall()


def test_records_of_others_are_checked() -> None:
    record = decoded(b'{"state": "\\u001b[31mred", "runs": -5, "deep": [1], "big": 1e300, "is": true}')
    assert "\x1b" not in text_of(record, "state")
    assert number_of(record, "runs") == 0
    assert not {"deep", "big", "is"} & set(record)
    assert decoded(b"[1]") == decoded(b"\xff{") == decoded(b" " * 10**6) == {}


def test_a_folder_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    (tmp_path / "fleets").write_text("a file")
    with pytest.raises(BoardError, match="fleets"):
        Board(f"dir://{tmp_path}", "nightly").begin()


def test_a_folder_that_goes_away_is_no_folder_without_records(tmp_path: Path) -> None:
    board = Board(f"dir://{tmp_path}/store", "nightly")
    board.begin()
    board.put("launcher", {"state": "running"})
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    for ask in (lambda: board.get("launcher"), board.all, lambda: board.put("launcher", {})):
        with pytest.raises(BoardError, match="store"):
            ask()
    # A folder in its place would hide what comes back.
    assert not (tmp_path / "store").exists()
    (tmp_path / "elsewhere").rename(tmp_path / "store")
    assert list(board.all()) == ["launcher"]
    board.remove("launcher")
    assert board.get("launcher") == {}


def test_a_password_is_in_no_error() -> None:
    with pytest.raises(StoreError) as caught:
        Board("redis://:sesame@127.0.0.1:1/0", "nightly")
    assert "sesame" not in str(caught.value)
