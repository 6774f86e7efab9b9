"""Connections of DB-API drivers that call the faults of databases in each statement and commit.

A connection of sqlite3 gets a subclass, so that C code accepts it. Those of other drivers are wrapped.
"""

from __future__ import annotations

import functools
import inspect
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ordeal.errors import FaultError
from ordeal.faults.attributes import Wrap

_TEXT_MAX = 60
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

    @property
    def is_rollback(self) -> bool:
        """Whether it rolls a transaction back, which faults leave alone."""
        return self.text[:8].upper() == "ROLLBACK"


Meet = Callable[[DriverCall], object]


def sql_text(statement: object) -> str:
    """Return a statement on one line, cut if it is long; other objects by their class."""
    if not isinstance(statement, str):
        return f"<{type(statement).__name__}>"
    text = " ".join(statement[: 10 * _TEXT_MAX].split())
    return text if len(text) <= _TEXT_MAX else f"{text[:_TEXT_MAX]}..."


def has_no_transaction(connection: Any) -> bool:
    """Return whether a commit has nothing to do, as far as the driver reports."""
    return getattr(connection, "in_transaction", None) is False


def around_connect(fault_name: str, original: Any, meet: Meet) -> Any:
    """Return a function like ``original`` whose connections call ``meet`` before each statement and commit.

    Raises FaultError when it is not a function that can return a connection of a DB-API driver.
    """
    if isinstance(original, type) or not callable(original) or inspect.iscoroutinefunction(original):
        raise FaultError(
            f"fault {fault_name!r} acts on a function that returns connections, and its target is {original!r}",
            hint='aim at the function that connects, such as "sqlite3.connect", or at "sqlalchemy.create_engine"',
        )
    is_sqlite = (original.__module__, original.__name__) in (("_sqlite3", "connect"), ("sqlite3", "connect"))

    @functools.wraps(original)
    def connect(*args: Any, **kwargs: Any) -> Any:
        if is_sqlite:
            args, kwargs = _with_watched_class(args, kwargs)
        return _watched(original(*args, **kwargs), meet)

    return connect


def _watched(connection: Any, meet: Meet) -> Any:
    if not isinstance(connection, _SqliteConnection | _Connection):
        return _Connection(connection, [meet])
    if meet not in connection._ordeal_meets:
        connection._ordeal_meets.append(meet)
    return connection


# ---------------------------------------------------------------------------------------------------------------------
# sqlite3


def _with_watched_class(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if len(args) > _FACTORY_PLACE:
        made = _watched_class(args[_FACTORY_PLACE], sqlite3.Connection, _SqliteConnection)
        return (*args[:_FACTORY_PLACE], made, *args[_FACTORY_PLACE + 1 :]), kwargs
    factory = kwargs.get("factory", sqlite3.Connection)
    return args, {**kwargs, "factory": _watched_class(factory, sqlite3.Connection, _SqliteConnection)}


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
            _ask(self._ordeal_meets, "COMMIT", self, sqlite3.OperationalError)


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
            _ask(connection._ordeal_meets, sql_text(sql), connection, sqlite3.OperationalError)


def _ask(meets: list[Meet], text: str, connection: Any, error_class: type[Exception]) -> None:
    call = DriverCall(text, connection, error_class)
    if call.is_rollback:
        return
    for meet in reversed(meets):
        meet(call)


# ---------------------------------------------------------------------------------------------------------------------
# Other drivers


class _Proxy:
    """Passes everything on to the object of the driver."""

    __slots__ = ("_ordeal_meets", "_ordeal_real")

    def __init__(self, real: Any, meets: list[Meet]) -> None:
        object.__setattr__(self, "_ordeal_real", real)
        object.__setattr__(self, "_ordeal_meets", meets)

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_ordeal_real"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._ordeal_real, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._ordeal_real, name)

    def __repr__(self) -> str:
        return repr(self._ordeal_real)

    def __enter__(self) -> Any:
        entered = self._ordeal_real.__enter__()
        return self if entered is self._ordeal_real else self._ordeal_like(entered)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        return self._ordeal_real.__exit__(kind, error, traceback)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"cannot pickle {type(self._ordeal_real).__name__!r} object")

    def _ordeal_like(self, made: Any) -> Any:
        """Wrap a cursor that the driver has made."""
        return _Cursor(made, self._ordeal_meets, self) if callable(getattr(made, "execute", None)) else made


class _Connection(_Proxy):
    __slots__ = ()

    def cursor(self, *args: Any, **kwargs: Any) -> Any:
        return _Cursor(self._ordeal_real.cursor(*args, **kwargs), self._ordeal_meets, self)

    def commit(self) -> Any:
        self._ordeal_commit()
        return self._ordeal_real.commit()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        if kind is None:
            try:
                self._ordeal_commit()
            except Exception as failure:
                self._ordeal_real.__exit__(type(failure), failure, failure.__traceback__)
                raise
        return self._ordeal_real.__exit__(kind, error, traceback)

    def __getattr__(self, name: str) -> Any:
        found = super().__getattr__(name)
        if name in ("execute", "executemany", "executescript"):
            # Not every driver has these on its connections.
            return functools.partial(self._ordeal_execute, found)
        return found

    def _ordeal_execute(self, execute: Any, sql: Any, *args: Any, **kwargs: Any) -> Any:
        _ask(self._ordeal_meets, sql_text(sql), self._ordeal_real, error_class_of(self._ordeal_real))
        return self._ordeal_like(execute(sql, *args, **kwargs))

    def _ordeal_commit(self) -> None:
        real = self._ordeal_real
        if not has_no_transaction(real):
            _ask(self._ordeal_meets, "COMMIT", real, error_class_of(real))


class _Cursor(_Proxy):
    __slots__ = ("_ordeal_connection",)

    def __init__(self, real: Any, meets: list[Meet], connection: _Proxy) -> None:
        super().__init__(real, meets)
        object.__setattr__(self, "_ordeal_connection", connection)

    @property
    def connection(self) -> Any:
        return self._ordeal_connection

    def execute(self, sql: Any, *args: Any, **kwargs: Any) -> Any:
        return self._ordeal_made("execute", sql, args, kwargs)

    def executemany(self, sql: Any, *args: Any, **kwargs: Any) -> Any:
        return self._ordeal_made("executemany", sql, args, kwargs)

    def callproc(self, procedure: Any, *args: Any, **kwargs: Any) -> Any:
        return self._ordeal_made("callproc", procedure, args, kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ordeal_real)

    def __next__(self) -> Any:
        return next(self._ordeal_real)

    def _ordeal_made(self, name: str, sql: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        connection = self._ordeal_connection._ordeal_real
        text = sql_text(f"CALL {sql}" if name == "callproc" else sql)
        _ask(self._ordeal_meets, text, connection, error_class_of(connection))
        result = getattr(self._ordeal_real, name)(sql, *args, **kwargs)
        return self if result is self._ordeal_real else result


def error_class_of(connection: Any) -> type[Exception]:
    """Return the OperationalError of the driver that made ``connection``, from it or its module.

    Raises FaultError when neither has one: then it is not a connection of a database driver.
    """
    places = [connection]
    for cls in type(connection).__mro__:
        parts = cls.__module__.split(".")
        places += [sys.modules.get(".".join(parts[:end])) for end in range(len(parts), 0, -1)]
    for place in places:
        found = getattr(place, "OperationalError", None)
        if isinstance(found, type) and issubclass(found, Exception):
            return found
    raise FaultError(
        f"a fault of a database met a {type(connection).__name__}, whose module has no OperationalError",
        hint="aim at the function that returns a connection of a DB-API driver",
    )


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
            connection = _driver_connection(cursor, context)
            meet(DriverCall(sql_text(statement), connection, dialect.dbapi.OperationalError))
            return original(dialect, cursor, statement, *args, **kwargs)

        return execute

    def around_commit(original: Any) -> Any:
        @functools.wraps(original)
        def commit(dialect: Any, connection: Any) -> Any:
            driver = getattr(connection, "dbapi_connection", connection)
            if not has_no_transaction(driver):
                meet(DriverCall("COMMIT", driver, dialect.dbapi.OperationalError))
            return original(dialect, connection)

        return commit

    statements = ("do_execute", "do_execute_no_params", "do_executemany")
    return [
        *((f"{_DIALECT}.{name}", around_statement) for name in statements),
        (f"{_DIALECT}.do_commit", around_commit),
    ]


def _driver_connection(cursor: Any, context: Any) -> Any:
    root = getattr(context, "root_connection", None)
    return cursor.connection if root is None else root.connection.dbapi_connection
