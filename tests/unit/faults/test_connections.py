"""Connections of a driver that is not sqlite3, wrapped so that faults meet their calls."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ordeal.errors import FaultError
from ordeal.faults import database


class OperationalError(Exception):
    """That of the driver below."""


class DriverCursor:
    def __init__(self, connection: DriverConnection) -> None:
        self.connection = connection
        self.rows = iter([1, 2])

    def execute(self, sql: str, args: tuple[Any, ...] = ()) -> DriverCursor:
        if self.connection.closed:
            raise OperationalError("the connection is closed")
        self.connection.log.append(sql)
        return self

    executemany = callproc = execute

    def __iter__(self) -> Iterator[int]:
        return self.rows

    def __next__(self) -> int:
        return next(self.rows)

    def __enter__(self) -> DriverCursor:
        return self

    def __exit__(self, *_error: object) -> None:
        self.connection.log.append("close cursor")


class DriverConnection:
    autocommit = False
    closed = False

    def __init__(self) -> None:
        self.log: list[str] = []

    def cursor(self) -> DriverCursor:
        return DriverCursor(self)

    def execute(self, sql: str) -> DriverCursor:
        return self.cursor().execute(sql)

    def commit(self) -> None:
        self.log.append("commit")

    def rollback(self) -> None:
        self.log.append("rollback")

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> DriverConnection:
        return self

    def __exit__(self, kind: object, *_error: object) -> None:
        (self.commit if kind is None else self.rollback)()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> str:
    module = ModuleType("bank_driver")
    module.connect = DriverConnection  # type: ignore[attr-defined]

    def connect() -> DriverConnection:
        return DriverConnection()

    def nothing() -> SimpleNamespace:
        return SimpleNamespace(execute=print)

    module.open = connect  # type: ignore[attr-defined]
    module.nothing = nothing  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bank_driver", module)
    return "bank_driver.open"


def test_another_driver_is_wrapped(in_run: Any, driver: str) -> None:
    fault = in_run(database.locked(driver))
    db = sys.modules["bank_driver"].open()
    db.autocommit = True
    assert db._ordeal_real.autocommit
    assert repr(db) == repr(db._ordeal_real)
    with db.cursor() as cursor:
        assert cursor.execute("SELECT 1") is cursor
        assert cursor.connection is db
        assert list(cursor) == [1, 2]
    with fault:
        for call in (db.execute, cursor.execute, cursor.executemany, cursor.callproc):
            with pytest.raises(OperationalError, match=r"^database is locked$"):
                call("SELECT 2")
        with pytest.raises(OperationalError, match=r"^database is locked$"), db:
            pass
    assert db.log == ["SELECT 1", "close cursor", "rollback"]
    with db:
        assert next(db.execute("SELECT 3")) == 1
    assert db.log[3:] == ["SELECT 3", "commit"]


def test_another_driver_loses_its_connection_with_its_own_error(in_run: Any, driver: str) -> None:
    fault, deadlock = in_run(database.lost_connection(driver), database.deadlock(driver))
    db = sys.modules["bank_driver"].open()
    with deadlock, pytest.raises(OperationalError, match="deadlock detected"):
        db.execute("SELECT 1")
    with fault, pytest.raises(OperationalError, match="the connection is closed"):
        db.execute("SELECT 2")
    assert db.log == ["rollback"]


def test_what_is_no_driver_is_refused(in_run: Any, driver: str) -> None:
    fault = in_run(database.locked(driver.replace("open", "nothing")))
    with fault, pytest.raises(FaultError, match="met a SimpleNamespace, whose module has no OperationalError"):
        sys.modules["bank_driver"].nothing().execute("SELECT 1")


@pytest.mark.parametrize("target", ["bank_driver.connect", "sqlite3.apilevel"])
def test_what_connects_must_be_a_function(driver: str, target: str) -> None:
    with pytest.raises(FaultError, match="acts on a function that returns connections") as raised:
        database.locked(target).activate()
    assert "sqlite3.connect" in str(raised.value)
