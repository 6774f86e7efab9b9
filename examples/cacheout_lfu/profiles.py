"""Customer profiles behind a read-through cache, the way a web shop would use one."""

from typing import Protocol


class Cache(Protocol):
    """The part of a cache that profiles use."""

    def get(self, key: int) -> str | None:
        """Return what is kept under the key, or None."""

    def set(self, key: int, value: str) -> None:
        """Keep a value, and forget another one if there are too many."""

    def delete(self, key: int) -> int:
        """Forget a value; return how many there were."""


class Database:
    """The table of profiles."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}

    def read(self, customer: int) -> str:
        """Return the name of a customer; one who never gave a name is a guest."""
        return self._names.get(customer, "guest")

    def write(self, customer: int, name: str) -> None:
        """Store the name of a customer."""
        self._names[customer] = name


class Profiles:
    """Reads through the cache, and writes past it."""

    def __init__(self, *, cache: Cache, database: Database) -> None:
        self._cache = cache
        self._database = database

    def show(self, customer: int) -> str:
        """Return the name of a customer, from the cache if it is there.

        Raises:
            TimeoutError: it was not in the cache, and the database did not answer.
        """
        name = self._cache.get(customer)
        if name is None:
            name = self._database.read(customer)
            self._cache.set(customer, name)
        return name

    def rename(self, customer: int, name: str) -> None:
        """Change the name of a customer; the next look reads it afresh."""
        self._database.write(customer, name)
        self._cache.delete(customer)

    def sign_out(self, customer: int) -> None:
        """Free the memory that a customer's session holds."""
        self._cache.delete(customer)
