"""What is noted of values: no address, and no method of the program."""

from __future__ import annotations

from ordeal._tools.mutation.interpreters.observations import told


class Order:
    def __init__(self) -> None:
        self.units = 3
        self.me = self

    def __repr__(self) -> str:
        raise AssertionError


class Slots:
    __slots__ = ("a", "b")

    def __init__(self) -> None:
        self.a = 7


def test_values_are_told_without_their_methods() -> None:
    assert told(Order()) == "Order(units=3, me=Order(units=3, me=Order(units=3, me=Order)))"
    assert told([1, {"a": {2, 3}}, Slots(), Order]) == "list(4: 1, dict(1: 'a': set(2: 2, 3)), Slots(a=7), type)"
    assert told(10**5000).startswith("0x")
    assert len(told("x" * 5000)) == 200
