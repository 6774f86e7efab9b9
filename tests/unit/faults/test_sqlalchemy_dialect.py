"""Faults of databases inside SQLAlchemy, which has to be installed."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ordeal import Explorer
from ordeal._engine.replay.rerun import ReplayStatus, rerun
from ordeal.faults import database

from ..samples import bank

ENGINES = "sqlalchemy.create_engine"


@pytest.fixture
def alchemy() -> Any:
    return pytest.importorskip("sqlalchemy")


def test_sqlalchemy_wraps_what_a_driver_would_raise(in_run: Any, alchemy: Any, tmp_path: Path) -> None:
    locked, commits, lost, deadlock = in_run(
        *(make(ENGINES) for make in (database.locked, database.commit_failure, database.lost_connection)),
        database.deadlock(ENGINES),
    )
    engine = alchemy.create_engine(f"sqlite:///{tmp_path / 'shop.db'}")
    with engine.begin() as connection:
        connection.execute(alchemy.text("CREATE TABLE item (name TEXT)"))
    insert = alchemy.text("INSERT INTO item VALUES ('kettle')")

    def store() -> None:
        with engine.begin() as connection:
            connection.execute(insert)

    for fault, message in (locked, "database is locked"), (commits, "disk I/O error"), (deadlock, "deadlock detected"):
        with fault, pytest.raises(alchemy.exc.OperationalError) as raised:
            store()
        assert type(raised.value.orig) is sqlite3.OperationalError
        assert str(raised.value.orig) == message
        assert fault.observed.hits == 1
    with lost, pytest.raises(alchemy.exc.ProgrammingError, match="closed database") as lost_it:
        store()
    assert lost_it.value.connection_invalidated
    store()
    with engine.connect() as connection:
        assert connection.scalar(alchemy.text("SELECT count(*) FROM item")) == 1
    engine.dispose()


def test_a_bug_behind_a_session_is_found_and_replayed(alchemy: Any) -> None:
    del alchemy
    result = Explorer(bank.SessionChaos, seed=1, workers=1).run(max_runs=50)
    failure = result.failures[0]
    assert failure.necessary_faults == {"commit_failure(sqlalchemy.create_engine)": True}
    assert "# commit_failure(sqlalchemy.create_engine) hits COMMIT" in failure.program
    assert failure.trace is not None
    assert rerun(failure.trace).status is ReplayStatus.REPRODUCED
    assert result.snapshot_kind == "replay"
