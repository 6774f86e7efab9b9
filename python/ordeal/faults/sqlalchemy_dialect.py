"""How faults of databases act inside SQLAlchemy: its dialects call the driver for all engines, old and new."""

from __future__ import annotations

import functools
from typing import Any

from ordeal.faults.attributes import Wrap
from ordeal.faults.connections import Call, Meet, has_no_transaction, sql_text

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
            meet(Call(sql_text(statement), connection, dialect.dbapi.OperationalError))
            return original(dialect, cursor, statement, *args, **kwargs)

        return execute

    def around_commit(original: Any) -> Any:
        @functools.wraps(original)
        def commit(dialect: Any, connection: Any) -> Any:
            driver = getattr(connection, "dbapi_connection", connection)
            if not has_no_transaction(driver):
                meet(Call("COMMIT", driver, dialect.dbapi.OperationalError))
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
