"""What forks would share: written files and connections, and nothing else."""

from __future__ import annotations

import os
import socket
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from ordeal._engine.isolation.shared_files import shared_files


@pytest.mark.forks
def test_written_files_and_connections_are_shared(tmp_path: Path) -> None:
    (tmp_path / "read").write_text("kettle")
    before = shared_files()
    one, other = socket.socketpair()
    with (
        closing(sqlite3.connect(tmp_path / "shop.db")) as db,
        (tmp_path / "read").open(),
        socket.socket() as server,
        tempfile.TemporaryFile(dir=tmp_path) as nameless,
        socket.socket(socket.AF_UNIX) as local,
        one,
        other,
    ):
        local.bind(str(tmp_path / "local"))
        db.execute("CREATE TABLE item (name TEXT)")
        written = [(tmp_path / "shop.db").stat(), os.fstat(nameless.fileno())]
        connected = [os.fstat(server.fileno()), os.fstat(local.fileno())]
        assert {key: what for key, what in shared_files().items() if key not in before} == {
            **{(each.st_dev, each.st_ino): "a file that is open for writing" for each in written},
            **{(each.st_dev, each.st_ino): "a connection to a server" for each in connected},
        }
    assert shared_files().keys() <= before.keys()
