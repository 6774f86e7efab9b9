"""What code of the user's uses outside of its process, and what two processes would fight over."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._engine.isolation.outside_use import Contention, OutsideUse, Use, UseKind


@pytest.fixture
def uses() -> Iterator[OutsideUse]:
    noted = OutsideUse()
    noted.start()
    yield noted
    _native.note_outside_use(None)


def written(uses: OutsideUse) -> list[str]:
    return [use.name for use in uses.take() if use.kind is UseKind.WRITES]


@pytest.mark.parametrize("mode", ["w", "r+b", "w+"])
def test_a_file_that_is_written_is_named_once(uses: OutsideUse, tmp_path: Path, mode: str) -> None:
    path = tmp_path / "data.json"
    path.write_text("{}")
    assert written(uses) == [str(path)]
    with path.open(mode):
        pass
    assert uses.take() == []


def test_a_path_is_the_same_however_it_is_written(
    uses: OutsideUse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    other = OutsideUse()
    other.start()
    (tmp_path / "link").symlink_to(tmp_path)
    Path("link/data").write_bytes(b"")
    Path(bytes(tmp_path / "data").decode()).write_bytes(b"")
    assert written(other) == [str(tmp_path / "data")]


def test_a_working_folder_that_is_gone_hides_what_was_written_there_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, kept = tmp_path / "gone", tmp_path / "kept"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    uses = OutsideUse()
    uses.start()
    try:
        gone.mkdir()
        os.chdir(gone)
        Path("data").write_bytes(b"")
        kept.write_bytes(b"")
        assert written(uses) == [str(kept)]
    finally:
        _native.note_outside_use(None)


def test_what_disturbs_nobody_is_not_named(uses: OutsideUse, tmp_path: Path) -> None:
    (tmp_path / "read").touch(exist_ok=True)
    uses.take()
    (tmp_path / "read").read_text()
    with (tmp_path / "log").open("a") as log, (tmp_path / "new").open("x"), Path("/dev/null").open("w"):
        log.write("a line")
    (tmp_path / ".ordeal").mkdir()
    (tmp_path / ".ordeal" / "state").write_text("")
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute("CREATE TABLE item (name TEXT)")
    with socket.create_server(("127.0.0.1", 0)):
        pass
    assert [use for use in uses.take() if use.kind is not UseKind.WRITES or "read" not in use.name] == []


def test_a_database_counts_once_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE item (name TEXT)")
    old = 1_000_000_000
    os.utime(path, (old, old))
    uses = OutsideUse()
    uses.start()
    try:
        with closing(sqlite3.connect(path)) as db:
            db.execute("SELECT * FROM item").fetchall()
        assert uses.take() == []
        with closing(sqlite3.connect(path)) as db, db:
            db.execute("INSERT INTO item VALUES ('kettle')")
        assert uses.take() == [Use(UseKind.WRITES, str(path))]
    finally:
        _native.note_outside_use(None)


def test_addresses(uses: OutsideUse) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)):
            pass
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
    assert uses.take() == [Use(UseKind.CONNECTS, f"127.0.0.1:{port}"), Use(UseKind.LISTENS, f"127.0.0.1:{port}")]


@pytest.mark.parametrize("what", ["", "\ud800", ("127.0.0.1", "no port"), object(), [1]])
def test_what_programs_pass_by_mistake_stays_their_error(uses: OutsideUse, what: Any) -> None:
    with pytest.raises((OSError, TypeError, ValueError)):
        open(what, "w").close()  # noqa: PTH123 - of anything
    with pytest.raises((OSError, TypeError, ValueError)), socket.socket() as one:
        one.bind(what)
    for use in uses.take():
        use.name.encode()


def test_a_name_that_is_no_text_can_be_sent(uses: OutsideUse, tmp_path: Path) -> None:
    with open(bytes(tmp_path) + b"/\xff", "w"):  # noqa: PTH123 - a path of bytes
        pass
    assert written(uses) == [f"{tmp_path}/\\udcff"]


def test_an_endless_number_of_files_is_not_followed(uses: OutsideUse, tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / str(number)).write_bytes(b"")
        uses.take()
    (tmp_path / "last").write_bytes(b"")
    assert uses.take() == []


def test_contention_is_between_two_processes() -> None:
    contention = Contention()
    use = Use(UseKind.WRITES, "/data")
    assert list(contention.add(0, [use, Use(UseKind.WRITES, "/other")])) == []
    assert list(contention.add(0, [use])) == []
    assert list(contention.add(1, [Use(UseKind.LISTENS, "/data")])) == []
    assert list(contention.add(1, [use])) == [use]
