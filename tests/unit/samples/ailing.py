"""Machines that find nothing, each for one reason; and some that have none."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import Any, ClassVar

from hypothesis import assume
from hypothesis import strategies as st

from ordeal import Bundle, ChaosTest, always, initialize, invariant, precondition, rule, sometimes
from ordeal.faults import timing


class Clean(ChaosTest):
    def __init__(self) -> None:
        super().__init__()
        self.items: list[int] = []

    @rule(item=st.integers(0, 5))
    def push(self, item: int) -> None:
        self.items.append(item)

    @precondition(lambda self: self.items)
    @rule()
    def pop(self) -> None:
        self.items.pop()

    @invariant()
    def counts(self) -> None:
        assert len(self.items) >= 0


class CleanBundles(ChaosTest):
    names = Bundle("names")

    @initialize()
    def open(self) -> None:
        self.known: dict[str, int] = {}

    @rule(target=names, name=st.sampled_from("abc"))
    def add(self, name: str) -> str:
        self.known[name] = 0
        return name

    @rule(name=names)
    def use(self, name: str) -> None:
        with contextlib.suppress(KeyError):
            del self.known[name]
        sometimes(not self.known, "all gone")

    @invariant()
    def few(self) -> None:
        always(len(self.known) <= 3, "few")


class NeverReady(Clean):
    @precondition(lambda self: len(self.items) > 1000)
    @rule()
    def overflow(self) -> None:
        raise AssertionError("too many")


class NoBundle(Clean):
    tickets = Bundle("tickets")

    @rule(ticket=tickets)
    def redeem(self, ticket: Any) -> None: ...


class Raises(ChaosTest):
    @rule()
    def go(self) -> None: ...

    @rule()
    def wrong(self) -> None:
        self.no_such_attribute  # type: ignore[attr-defined]


class LacksReturn(ChaosTest):
    made: Bundle[Any] = Bundle("made")

    @rule(target=made)
    def make(self) -> None:
        len("one")

    @rule(one=made)
    def use(self, one: Any) -> None: ...


class Rejects(Clean):
    @rule(x=st.integers(0, 10**9))
    def exact(self, x: int) -> None:
        assume(hash((x, "salt".__len__())) % 5_000 == 1)


def look_up(key: int) -> int:
    return key


class UncalledFault(Clean):
    faults: ClassVar = [timing.timeout("unit.samples.ailing.look_up")]


class OneState(ChaosTest):
    @rule(x=st.integers())
    def go(self, x: int) -> None: ...

    @invariant()
    def holds(self) -> None:
        assert True


class NeverReached(Clean):
    @rule()
    def look(self) -> None:
        sometimes(len(self.items) > 10_000, "crowded")


class Swallows(Clean):
    @rule()
    def broken(self) -> None:
        with contextlib.suppress(Exception):
            self.items.no_such_method()  # type: ignore[attr-defined]


class Generating(Clean):
    def __init__(self) -> None:
        super().__init__()
        self.inner = {"numbers": (number for number in range(3))}


class _Web:
    """Holds itself through a part, as applications of web frameworks do."""

    def __init__(self) -> None:
        self.routes = _Routes(self)
        self.lock = threading.Lock()  # which a copy of the state has one of its own of
        self.numbers = (number for number in range(3))


class _Routes:
    def __init__(self, web: _Web) -> None:
        self.web = web


class Circular(Clean):
    def __init__(self) -> None:
        super().__init__()
        self.web = _Web()


class SlowInvariant(Clean):
    @invariant()
    def thorough(self) -> None:
        assert sum(range(300_000))


class HidesAnswers(Clean):
    @rule()
    def deliver(self) -> None:
        with contextlib.suppress(KeyError):
            raise KeyError("order")


class ReadsTheClock(Clean):
    @rule()
    def stamp(self) -> None:
        if time.time_ns() // 1000 % 2:
            self.items.append(1)
        else:
            self.items.clear()


class AsksTheSystem(Clean):
    @rule()
    def shuffle(self) -> None:
        if os.urandom(1)[0] < 128:
            self.items.append(2)
        else:
            self.items.clear()


class OrderOfASet(Clean):
    @rule()
    def choose(self) -> None:
        names = [f"name {number}" for number in range(50)]
        if next(iter(set(names))) in names[:9]:
            self.items.append(3)
        else:
            self.items.clear()
