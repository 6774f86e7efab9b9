"""Connections of sqlite3, and dialects of SQLAlchemy, that call the faults of databases."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ordeal._base.limits import VALUE_CHARS_MAX
from ordeal.errors import FaultError
from ordeal.faults.attributes import Wrap

_COMMITS = ("COMMIT", "END")
_FACTORY_PLACE = 5  # the position of `factory` in sqlite3.connect


@dataclass(frozen=True, slots=True)
class DriverCall:
    """A call of a connection: its SQL as text on one line, and the driver's connection and OperationalError."""

    text: str
    connection: Any
    error_class: type[Exception]

    @property
    def is_commit(self) -> bool:
        """Whether it commits a transaction."""
        return self.text.partition(" ")[0].rstrip(";").upper() in _COMMITS


Meet = Callable[[DriverCall], object]


def sql_text(statement: object) -> str:
    """Return a statement on one line, cut if it is long; other objects by their class."""
    if not isinstance(statement, str):
        return f"<{type(statement).__name__}>"
    text = " ".join(statement[: 10 * VALUE_CHARS_MAX].split())
    return text if len(text) <= VALUE_CHARS_MAX else f"{text[:VALUE_CHARS_MAX]}..."


def around_connect(fault_name: str, original: Any, meet: Meet) -> Any:
    """Return a function like ``sqlite3.connect`` whose connections call ``meet`` before each statement and commit.

    Raises FaultError when ``original`` is another function.
    """
    name = (getattr(original, "__module__", ""), getattr(original, "__name__", ""))
    if name not in (("_sqlite3", "connect"), ("sqlite3", "connect")):
        raise FaultError(
            f"fault {fault_name!r} acts on connections of sqlite3 and of SQLAlchemy, and its target is {original!r}",
            hint='aim at "sqlite3.connect", or with any other driver at "sqlalchemy.create_engine"',
        )

    @functools.wraps(original)
    def connect(*args: Any, **kwargs: Any) -> Any:
        at = _FACTORY_PLACE
        if len(args) > at:
            args = (*args[:at], _watched_class(args[at], sqlite3.Connection, _SqliteConnection), *args[at + 1 :])
        else:
            factory = kwargs.get("factory", sqlite3.Connection)
            kwargs["factory"] = _watched_class(factory, sqlite3.Connection, _SqliteConnection)
        connection = original(*args, **kwargs)
        if isinstance(connection, _SqliteConnection) and meet not in connection._ordeal_meets:
            connection._ordeal_meets.append(meet)
        return connection

    return connect


@functools.cache
def _watched_class(factory: Any, base: type, mixin: type) -> Any:
    """Return a subclass of ``factory`` that calls the faults, or ``factory`` if it already does or is unsuitable."""
    if not (isinstance(factory, type) and issubclass(factory, base)) or issubclass(factory, mixin):
        return factory
    names = {"__module__": factory.__module__, "__qualname__": factory.__qualname__, "__doc__": factory.__doc__}
    return type(factory.__name__, (mixin, factory), names)


class _SqliteConnection(sqlite3.Connection):
    """Has cursors that call the faults, and executes with one of them, like sqlite3.Connection with its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._ordeal_meets: list[Meet] = []
        super().__init__(*args, **kwargs)

    def cursor(self, factory: Any = sqlite3.Cursor) -> Any:
        return super().cursor(_watched_class(factory, sqlite3.Cursor, _SqliteCursor))

    def execute(self, sql: Any, *args: Any) -> Any:
        return self.cursor().execute(sql, *args)

    def executemany(self, sql: Any, *args: Any) -> Any:
        return self.cursor().executemany(sql, *args)

    def executescript(self, sql: Any) -> Any:
        return self.cursor().executescript(sql)

    def commit(self) -> None:
        self._ordeal_commit()
        super().commit()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        if kind is None:
            try:
                self._ordeal_commit()
            except Exception as failure:
                # As if the commit itself failed.
                super().__exit__(type(failure), failure, failure.__traceback__)
                raise
        return super().__exit__(kind, error, traceback)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle 'sqlite3.Connection' object")

    def _ordeal_commit(self) -> None:
        if self._ordeal_meets and self.in_transaction:
            _ask(self._ordeal_meets, "COMMIT", self)


class _SqliteCursor(sqlite3.Cursor):
    def execute(self, sql: Any, *args: Any) -> Any:
        self._ordeal_statement(sql)
        return super().execute(sql, *args)

    def executemany(self, sql: Any, *args: Any) -> Any:
        self._ordeal_statement(sql)
        return super().executemany(sql, *args)

    def executescript(self, sql: Any) -> Any:
        self._ordeal_statement(sql)
        return super().executescript(sql)

    def _ordeal_statement(self, sql: Any) -> None:
        connection = self.connection
        if isinstance(connection, _SqliteConnection):
            _ask(connection._ordeal_meets, sql_text(sql), connection)


def _ask(meets: list[Meet], text: str, connection: Any) -> None:
    if text[:8].upper() == "ROLLBACK":
        return  # faults leave it alone
    call = DriverCall(text, connection, sqlite3.OperationalError)
    for meet in reversed(meets):
        meet(call)


#: The target that means all engines.
CREATE_ENGINE = "sqlalchemy.create_engine"

_DIALECT = "sqlalchemy.engine.default.DefaultDialect"


def around_dialect(meet: Meet) -> list[tuple[str, Wrap]]:
    """Return what to patch so that ``meet`` is called before each statement and commit.

    SQLAlchemy wraps its exceptions like errors of the driver, because they have the driver's class.
    """

    def around_statement(original: Any) -> Any:
        @functools.wraps(original)
        def execute(dialect: Any, cursor: Any, statement: Any, *args: Any, **kwargs: Any) -> Any:
            context = kwargs.get("context", args[-1] if args else None)
            root = getattr(context, "root_connection", None)
            connection = cursor.connection if root is None else root.connection.dbapi_connection
            meet(DriverCall(sql_text(statement), connection, dialect.dbapi.OperationalError))
            return original(dialect, cursor, statement, *args, **kwargs)

        return execute

    def around_commit(original: Any) -> Any:
        @functools.wraps(original)
        def commit(dialect: Any, connection: Any) -> Any:
            driver = getattr(connection, "dbapi_connection", connection)
            if getattr(driver, "in_transaction", None) is not False:  # a commit has something to do, or may have
                meet(DriverCall("COMMIT", driver, dialect.dbapi.OperationalError))
            return original(dialect, connection)

        return commit

    statements = ("do_execute", "do_execute_no_params", "do_executemany")
    return [
        *((f"{_DIALECT}.{name}", around_statement) for name in statements),
        (f"{_DIALECT}.do_commit", around_commit),
    ]
