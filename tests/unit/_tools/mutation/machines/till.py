"""A till, and a machine of it whose invariants leave a gap: nothing reads what was given back."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from ordeal.assertions import always
from ordeal.chaos import ChaosTest
from ordeal.faults import io


class Drawer:
    def __init__(self) -> None:
        self.coins: Counter[str] = Counter()
        self.given_back = 0

    def put(self, name: str, cents: int) -> None:
        self.coins[name] += cents

    def note(self) -> str:
        return "noted"

    def give_back(self, cents: int) -> None:
        always(cents > 0, "something is given back")
        self.given_back += cents

    def close(self) -> int:
        left = 3
        while left > 0:
            left -= 1
        return left


class Till(ChaosTest):
    faults: ClassVar = [io.error_on_call(f"{__name__}.Drawer.note")]

    def __init__(self) -> None:
        super().__init__()
        self.drawer = Drawer()
        self.expected = 0

    @rule(cents=st.integers(1, 50))
    def pay(self, cents: int) -> None:
        self.drawer.put("a", cents)
        self.expected += cents

    @rule()
    def note(self) -> None:
        try:
            self.drawer.note()
        except OSError:
            return

    @rule(cents=st.integers(1, 50))
    def give_back(self, cents: int) -> None:
        self.drawer.give_back(cents)

    @rule()
    def close(self) -> None:
        assert self.drawer.close() == 0

    @precondition(lambda self: self.expected < 0)
    @invariant()
    def never(self) -> None:
        raise AssertionError

    @invariant()
    def coins_are_right(self) -> None:
        assert self.drawer.coins["a"] == self.expected

    @invariant()
    def coins_are_not_negative(self) -> None:
        assert self.drawer.coins["a"] >= 0
