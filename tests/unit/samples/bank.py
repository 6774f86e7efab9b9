"""Banks whose accounts lie in a database, and machines whose bugs only a fault of the database shows."""

from __future__ import annotations

import importlib
import importlib.util
import sqlite3
from contextlib import suppress
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from ordeal import ChaosTest
from ordeal.faults import Fault, database

SCHEMA = "CREATE TABLE account (name TEXT PRIMARY KEY, amount INTEGER)"
FILL = "INSERT INTO account VALUES (?, ?)"
MOVE = "UPDATE account SET amount = amount + ? WHERE name = ?"


class Bank:
    """Two accounts. When a transfer fails, nobody takes back what it has written."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute(SCHEMA)
        self.db.executemany(FILL, [("mine", 100), ("yours", 100)])
        self.db.commit()

    def transfer(self, amount: int) -> None:
        self.db.execute(MOVE, (-amount, "mine"))
        self.db.execute(MOVE, (amount, "yours"))
        self.db.commit()

    def total(self) -> int:
        return int(self.db.execute("SELECT sum(amount) FROM account").fetchone()[0])


class CarefulBank(Bank):
    """The same, with the transfer as one transaction."""

    def transfer(self, amount: int) -> None:
        with self.db:
            self.db.execute(MOVE, (-amount, "mine"))
            self.db.execute(MOVE, (amount, "yours"))


class ReportedBank(Bank):
    """Reports a transfer as failed that the next one brings to the books."""

    def amount(self) -> int:
        return int(self.db.execute("SELECT amount FROM account WHERE name = 'yours'").fetchone()[0])


class ReportedChaos(ChaosTest):
    """What was reported as failed must not have happened once a later transfer went well."""

    faults: ClassVar[list[Fault]] = [database.commit_failure("sqlite3.connect"), database.slow_query("sqlite3.connect")]
    bank_class = ReportedBank

    def __init__(self) -> None:
        super().__init__()
        self.bank = self.bank_class()
        self.expected = 100
        self.is_settled = True

    @rule(amount=st.integers(1, 9))
    def transfer(self, amount: int) -> None:
        self.is_settled = False
        with suppress(sqlite3.Error):
            self.bank.transfer(amount)
            self.expected += amount
            self.is_settled = True

    @invariant()
    def books_are_right(self) -> None:
        assert not self.is_settled or self.bank.amount() == self.expected

    def teardown(self) -> None:
        self.bank.db.close()
        super().teardown()


class CarefulReportedBank(ReportedBank, CarefulBank):
    """Takes back what failed."""


class CarefulReportedChaos(ReportedChaos):
    """The machine on the bank without the bug."""

    bank_class = CarefulReportedBank


def optional(module: str) -> Any:
    """The module, or None where it is not installed."""
    return importlib.import_module(module) if importlib.util.find_spec(module) else None


sqlalchemy: Any = optional("sqlalchemy")

if sqlalchemy is not None:
    orm: Any = importlib.import_module("sqlalchemy.orm")
    text = sqlalchemy.text

    class SessionChaos(ChaosTest):
        """Counts an order before it is known to be stored."""

        faults: ClassVar[list[Fault]] = [
            database.commit_failure("sqlalchemy.create_engine"),
            database.locked("sqlalchemy.create_engine"),
        ]

        def __init__(self) -> None:
            super().__init__()
            self.engine = sqlalchemy.create_engine("sqlite://", poolclass=sqlalchemy.StaticPool)
            self.session = orm.Session(self.engine)
            self.session.execute(text("CREATE TABLE orders (item TEXT)"))
            self.session.commit()
            self.counted = 0

        @rule(item=st.sampled_from(["kettle", "cup"]))
        def order(self, item: str) -> None:
            try:
                self.session.execute(text("INSERT INTO orders VALUES (:item)"), {"item": item})
                self.counted += 1
                self.session.commit()
            except sqlalchemy.exc.DBAPIError:
                self.session.rollback()

        @invariant()
        def all_counted_are_stored(self) -> None:
            if not self.active_faults:
                assert self.session.scalar(text("SELECT count(*) FROM orders")) == self.counted

        def teardown(self) -> None:
            self.session.close()
            self.engine.dispose()
            super().teardown()
