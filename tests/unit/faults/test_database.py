"""Faults of databases: what each does to sqlite3, and bugs that only they show."""

from __future__ import annotations

import copy
import sqlite3
import sqlite3.dbapi2
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ordeal import Explorer
from ordeal._engine.replay.rerun import ReplayStatus, ablate_faults, rerun, shrink
from ordeal._report.replay import replay_steps
from ordeal.errors import FaultError
from ordeal.faults import database
from ordeal.trace import Trace

from ..samples.bank import CarefulReportedChaos, ReportedChaos, SessionChaos

CONNECT = "sqlite3.connect"


OPENED: list[sqlite3.Connection] = []


@pytest.fixture(autouse=True)
def closes_all() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def connected(*args: Any, **kwargs: Any) -> Any:
    OPENED.append(sqlite3.connect(*args, **kwargs))
    return OPENED[-1]


def shop(path: str | Path = ":memory:") -> Any:
    db = connected(path)
    db.execute("CREATE TABLE item (name TEXT)")
    return db


def add(db: Any, name: str = "kettle") -> None:
    db.execute("INSERT INTO item VALUES (?)", (name,))


def count(db: Any) -> int:
    return int(db.execute("SELECT count(*) FROM item").fetchone()[0])


def add_and_commit(db: Any, how: str) -> None:
    if how == "block":
        with db:
            add(db)
        return
    add(db)
    if how == "method":
        db.commit()
    else:
        db.execute("commit;")


# ---------------------------------------------------------------------------------------------------------------------
# sqlite3


def test_a_connection_made_before_the_fault_is_on_is_hit(in_run: Any) -> None:
    fault = in_run(database.locked(CONNECT))
    db = shop()
    with fault, pytest.raises(sqlite3.OperationalError) as raised:
        add(db)
    assert (str(raised.value), raised.value.sqlite_errorcode) == ("database is locked", sqlite3.SQLITE_BUSY)
    assert raised.value.sqlite_errorname == "SQLITE_BUSY"
    add(db)
    assert count(db) == 1
    assert (fault.observed.calls, fault.observed.hits) == (1, 1)


def test_one_of_sqlite3_stays_one(in_run: Any) -> None:
    in_run(database.locked(CONNECT), database.deadlock(CONNECT))
    db, other = shop(), connected(":memory:")
    assert isinstance(db, sqlite3.Connection)
    assert isinstance(db.cursor(), sqlite3.Cursor)
    db.backup(other)
    assert count(other) == 0
    assert type(db).__qualname__ == "Connection"
    with pytest.raises(TypeError, match=r"cannot pickle 'sqlite3.Connection' object"):
        copy.deepcopy(db)


def test_factories_of_the_program_are_kept(in_run: Any) -> None:
    class Own(sqlite3.Connection):
        def hello(self) -> str:
            return "hello"

    class OwnCursor(sqlite3.Cursor):
        pass

    fault = in_run(database.locked(CONNECT))
    db = connected(":memory:", factory=Own)
    assert isinstance(db, Own)
    assert db.hello() == "hello"
    cursor = db.cursor(OwnCursor)
    assert isinstance(cursor, OwnCursor)
    with fault:
        for call in (cursor.execute, cursor.executescript, db.execute, db.executescript):
            with pytest.raises(sqlite3.OperationalError, match="database is locked"):
                call("SELECT 1")
        for many in (cursor.executemany, db.executemany):
            with pytest.raises(sqlite3.OperationalError, match="database is locked"):
                many("INSERT INTO item VALUES (?)", [("a",)])
    assert fault.observation_hits == 6


@pytest.mark.parametrize("commits", ["method", "statement", "block"])
def test_a_commit_fails_and_the_transaction_stays_open(in_run: Any, commits: str) -> None:
    fault = in_run(database.commit_failure(CONNECT))
    db = shop()
    with fault:
        db.commit()  # there is nothing to commit
        assert not fault.observation_hits
        with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
            add_and_commit(db, commits)
        # A block rolls back where its commit fails, as that of sqlite3 does.
        assert db.in_transaction is (commits != "block")
        db.rollback()
    assert count(db) == 0


def test_a_deadlock_rolls_back(in_run: Any) -> None:
    fault = in_run(database.deadlock(CONNECT))
    db = shop()
    add(db)
    with fault, pytest.raises(sqlite3.OperationalError, match="deadlock detected") as raised:
        add(db)
    assert raised.value.sqlite_errorname == "SQLITE_LOCKED"
    assert not db.in_transaction
    assert count(db) == 0


def test_a_lost_connection_stays_lost_and_another_can_be_made(in_run: Any, tmp_path: Path) -> None:
    fault = in_run(database.lost_connection(CONNECT))
    db = shop(tmp_path / "shop.db")
    add(db, "kept")
    db.commit()
    add(db, "gone")
    with fault, pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        db.commit()
    with pytest.raises(sqlite3.ProgrammingError, match="closed database"):
        add(db)
    db = connected(tmp_path / "shop.db")
    assert [name for (name,) in db.execute("SELECT name FROM item")] == ["kept"]


def test_no_other_fault_acts_on_a_lost_connection(in_run: Any) -> None:
    for makers in [(database.locked, database.lost_connection), (database.lost_connection, database.locked)]:
        faults = in_run(*(make(CONNECT) for make in makers))
        db = shop()
        with faults[0], faults[1], pytest.raises(sqlite3.Error) as raised:
            add(db)
        assert sum(fault.observed.hits for fault in faults) == 1
        assert ("closed database" in str(raised.value)) is (makers[1] is database.lost_connection)


def test_a_slow_query_is_counted_and_sleeps_only_where_it_is_to(in_run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    simulated, real = in_run(database.slow_query(CONNECT, 3.0), database.slow_query(CONNECT, 2.0, "real"))
    db = shop()
    with simulated, real:
        add(db)
        db.commit()
    assert (slept, simulated.observed.calls, simulated.observed.hits, real.observed.hits) == ([2.0], 1, 0, 1)


def test_rollbacks_are_left_alone(in_run: Any) -> None:
    fault = in_run(database.locked(CONNECT))
    db = shop()
    add(db)
    with fault:
        db.execute("ROLLBACK")
    assert count(db) == 0
    assert not fault.observation_hits


def test_message_and_error_are_those_that_are_given(in_run: Any) -> None:
    class Lock(Exception):
        pass

    fault = in_run(database.locked(CONNECT, "lock timeout", Lock))
    with fault, pytest.raises(Lock, match=r"^lock timeout$"):
        shop()


def test_names_bound_by_import_are_reached(in_run: Any) -> None:
    fault = in_run(database.locked(CONNECT))
    db = sqlite3.dbapi2.connect(":memory:")
    OPENED.append(db)
    with fault, pytest.raises(sqlite3.OperationalError, match="locked"):
        db.execute("SELECT 1")


def test_without_a_run_it_acts_on_what_is_connected_meanwhile() -> None:
    before = sqlite3.connect
    with database.locked(CONNECT), pytest.raises(sqlite3.OperationalError, match="locked"):
        shop()
    assert sqlite3.connect is before
    shop()


@pytest.mark.parametrize("target", ["sqlite3.Connection", "sqlite3.apilevel"])
def test_only_what_connects_can_be_aimed_at(target: str) -> None:
    with pytest.raises(FaultError, match="acts on connections of sqlite3 and of SQLAlchemy") as raised:
        database.locked(target).activate()
    assert "sqlalchemy.create_engine" in str(raised.value)


# ---------------------------------------------------------------------------------------------------------------------
# In a machine


@pytest.fixture(scope="module")
def reported() -> Any:
    result = Explorer(ReportedChaos, seed=1, workers=1).run(max_runs=200)
    return result, result.failures[0]


def test_a_bug_behind_a_failing_commit_is_found(reported: Any) -> None:
    result, failure = reported
    assert failure.necessary_faults == {"commit_failure(sqlite3.connect)": True}
    commits, slow = result.faults
    assert commits.hits
    assert slow.calls
    assert not slow.hits
    assert failure.program.splitlines() == [
        "state = ReportedChaos()",
        "state.fault('commit_failure(sqlite3.connect)').activate()",
        "state.transfer(amount=1)  # commit_failure(sqlite3.connect) hits COMMIT",
        "state.fault('commit_failure(sqlite3.connect)').deactivate()",
        "state.transfer(amount=1)",
        "state.books_are_right()  # the invariant",
        "state.teardown()",
    ]


def test_its_bank_without_the_bug_is_fine() -> None:
    result = Explorer(CarefulReportedChaos, seed=1, workers=1).run(max_runs=100)
    assert not result.failures
    assert result.faults[0].hits


def test_the_trace_is_replayed_shrunk_and_ablated(reported: Any, tmp_path: Path) -> None:
    failure = reported[1]
    failure.trace.save(tmp_path / "trace.json")
    trace = Trace.load(tmp_path / "trace.json")
    again = rerun(trace)
    assert again.status is ReplayStatus.REPRODUCED
    line = replay_steps(again.steps).splitlines()[1]
    assert line.endswith("transfer(amount=1)  # commit_failure(sqlite3.connect) hits COMMIT")
    assert shrink(trace).program == failure.program.splitlines()
    assert ablate_faults(trace) == {"commit_failure": True}


def test_the_note_says_what_checkpoints_cost(reported: Any) -> None:
    result = reported[0]
    assert result.snapshot_kind == "replay"
    assert [note for note in result.notes if "cannot pickle 'sqlite3.Connection' object" in note]


class Unmade(ReportedChaos):
    @staticmethod
    def bank_class() -> Any:  # type: ignore[override]
        raise ValueError("no bank")


def test_nothing_is_left_when_a_constructor_fails() -> None:
    before = sqlite3.connect
    result = Explorer(Unmade, seed=1, workers=1).run(max_runs=3)
    assert "no bank" in str(result.failures[0].error)
    assert sqlite3.connect is before


# ---------------------------------------------------------------------------------------------------------------------
# Inside SQLAlchemy


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
    result = Explorer(SessionChaos, seed=1, workers=1).run(max_runs=50)
    failure = result.failures[0]
    assert failure.necessary_faults == {"commit_failure(sqlalchemy.create_engine)": True}
    assert "# commit_failure(sqlalchemy.create_engine) hits COMMIT" in failure.program
    assert failure.trace is not None
    assert rerun(failure.trace).status is ReplayStatus.REPRODUCED
    assert result.snapshot_kind == "replay"
