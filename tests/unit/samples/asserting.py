"""Assertions that fail, in a module in which pytest leaves them as they are."""

from __future__ import annotations

from typing import Any


def compares(machine: Any) -> None:
    assert machine.total == sum(machine.items) + len(machine.items)


def chains(machine: Any) -> None:
    assert 0 < machine.total < 3, "too many"


def contains(machine: Any) -> None:
    assert 7 in machine.items


def denies(machine: Any) -> None:
    assert not machine.items


def calls(machine: Any) -> None:
    assert all(item > 1 for item in machine.items)


def joins(machine: Any) -> None:
    assert machine.items and machine.total == 4  # noqa: PT018 - that is what is tested


def changes(machine: Any) -> None:
    assert machine.counted() == 2


class Hostile:
    def __repr__(self) -> str:
        raise OSError("no")

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]
