"""Machines that see two mistakes in one place, or one mistake on many paths."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault, io
from ordeal.model import Pair, RoundTrip, op
from ordeal.result import Failure

from . import one_place

SMALL = st.integers(0, 40)
BITS = st.lists(st.integers(0, 1), max_size=10)


class Shop(RuleBasedStateMachine):
    """Another rule before."""

    def __init__(self) -> None:
        super().__init__()
        self.stock = one_place.Stock()
        self.expected = 0

    @rule(pieces=SMALL)
    def receive(self, pieces: int) -> None:
        self.stock.receive(pieces)
        self.expected += pieces

    @rule(pieces=st.integers(1, 6))
    def ship(self, pieces: int) -> None:
        if pieces <= self.expected:
            self.stock.ship(pieces)
            self.expected -= pieces

    @rule()
    def take_stock(self) -> None:
        assert self.stock.count() == self.expected


class Checkout(RuleBasedStateMachine):
    """Another branch by the argument of one rule."""

    def __init__(self) -> None:
        super().__init__()
        self.till = one_place.Till()
        self.expected = 0

    @rule(kind=st.sampled_from(["cash", "card", "coupon", "cheque"]), amount=SMALL)
    def take(self, kind: str, amount: int) -> None:
        self.till.take(kind, amount)
        self.expected += amount

    @invariant()
    def adds_up(self) -> None:
        assert self.till.taken == self.expected


class Notebook(ChaosTest):
    """Another fault."""

    faults: ClassVar[list[Fault]] = [
        io.error_on_call(f"{one_place.__name__}.save", OSError),
        io.error_on_call(f"{one_place.__name__}.load", OSError),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.notes = one_place.Notes()
        self.written = 0

    @rule()
    def write(self) -> None:
        self.notes.write("text")
        self.written += 1

    @rule()
    def reload(self) -> None:
        self.notes.reload()

    @rule()
    def read(self) -> None:
        assert len(self.notes.kept) == self.written


class Register(RuleBasedStateMachine):
    """An exception at one place, of two causes."""

    def __init__(self) -> None:
        super().__init__()
        self.index = one_place.Index()

    @rule(key=st.integers(0, 3), name=st.sampled_from("abc"))
    def insert(self, key: int, name: str) -> None:
        self.index.insert(key, name)

    @rule(key=st.integers(0, 3), name=st.sampled_from("abc"))
    def rename(self, key: int, name: str) -> None:
        self.index.rename(key, name)

    @rule(key=st.integers(0, 3))
    def drop(self, key: int) -> None:
        self.index.drop(key)

    @rule(name=st.sampled_from("abc"))
    def find(self, name: str) -> None:
        self.index.find(name)


class Line(RuleBasedStateMachine):
    """Compared with a model after every third operation."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = one_place.Queue()
        self.model = 0
        self.done = 0

    @rule(item=SMALL)
    def put(self, item: int) -> None:
        self.queue.put(item)
        self.model += 1
        self._compare()

    @rule(by=st.integers(0, 5))
    def rotate(self, by: int) -> None:
        self.queue.rotate(by)
        self._compare()

    def _compare(self) -> None:
        self.done += 1
        assert self.done % 3 or self.queue.size() == self.model


class Packing(RuleBasedStateMachine):
    """Nothing, or the same twice, in one argument."""

    def __init__(self) -> None:
        super().__init__()
        self.bag = one_place.Bag()
        self.expected = 0

    @rule(things=st.lists(st.integers(0, 9), max_size=5))
    def add_all(self, things: list[int]) -> None:
        self.bag.add_all(things)
        self.expected += len(things)
        assert len(self.bag.things) == self.expected


#: What shows which of two mistakes a failure is: the rules it needs, or the arguments of its program.
TWO: dict[type[RuleBasedStateMachine], Callable[[Failure], str]] = {
    Shop: lambda failure: "ship" if "ship" in failure.rule_log else "receive",
    Checkout: lambda failure: "coupon" if "coupon" in failure.program else "card",
    Notebook: lambda failure: "load" if any("load" in step for step in failure.rule_log) else "save",
    Register: lambda failure: "rename" if "rename" in failure.rule_log else "drop",
    Line: lambda failure: "thirteen" if "13" in failure.program else "rotate",
    Packing: lambda failure: "nothing" if "things=[]" in failure.program else "twice",
}


class Adding(RuleBasedStateMachine):
    """Loops over data."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = one_place.Sum()
        self.expected = 0

    @rule(parts=st.lists(st.integers(0, 9), max_size=5))
    def add_all(self, parts: list[int]) -> None:
        self.sum.add_all(parts)
        self.expected += sum(parts)

    @invariant()
    def adds_up(self) -> None:
        assert self.sum.total == self.expected


class Ringing(RuleBasedStateMachine):
    """Branches by the value of the argument."""

    def __init__(self) -> None:
        super().__init__()
        self.ring = one_place.Ring()
        self.put_in = 0

    @rule(number=st.integers(0, 99))
    def put(self, number: int) -> None:
        self.ring.put(number)
        self.put_in += 1

    @rule()
    def count(self) -> None:
        assert len(self.ring.items) == self.put_in


class Asking(RuleBasedStateMachine):
    """Caches that are hit or not."""

    def __init__(self) -> None:
        super().__init__()
        self.lookup = one_place.Lookup()

    @rule(keys=st.lists(st.integers(0, 9), max_size=4))
    def warm(self, keys: list[int]) -> None:
        self.lookup.warm(keys)

    @rule(key=st.integers(0, 9))
    def get(self, key: int) -> None:
        assert self.lookup.get(key) == 2 * key


class Hashing(RuleBasedStateMachine):
    """Growth and collisions before."""

    def __init__(self) -> None:
        super().__init__()
        self.table = one_place.Table()
        self.model: set[int] = set()

    @rule(key=st.integers(0, 20))
    def put(self, key: int) -> None:
        self.table.put(key)
        self.model.add(key)

    @rule(key=st.integers(0, 20))
    def drop(self, key: int) -> None:
        self.table.drop(key)
        self.model.discard(key)

    @rule()
    def size(self) -> None:
        assert self.table.size() == len(self.model)


class Paying(RuleBasedStateMachine):
    """One call for one and one for many, and a threshold that has nothing to do with it."""

    def __init__(self) -> None:
        super().__init__()
        self.purse = one_place.Purse()

    @rule(amount=st.integers(0, 99))
    def pay(self, amount: int) -> None:
        self.purse.pay(amount)

    @rule(amounts=st.lists(st.integers(0, 9), max_size=4))
    def pay_all(self, amounts: list[int]) -> None:
        self.purse.pay_all(amounts)

    @rule()
    def look(self) -> None:
        assert self.purse.money >= 0


class Walking(RuleBasedStateMachine):
    """Insertion at either end or between."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = one_place.Tree()
        self.model: Counter[int] = Counter()

    @rule(item=st.integers(0, 99))
    def insert(self, item: int) -> None:
        self.tree.insert(item)
        self.model[item] += 1

    @rule(backwards=st.booleans())
    def walk(self, backwards: bool) -> None:
        assert len(self.tree.walk(backwards)) == self.model.total()


class Piping(RuleBasedStateMachine):
    """Consequences that depend on the arguments."""

    def __init__(self) -> None:
        super().__init__()
        self.pipe = one_place.Pipe()

    @rule(size=st.integers(0, 9))
    def resize(self, size: int) -> None:
        self.pipe.resize(size)

    @rule(item=st.integers(0, 9))
    def send(self, item: int) -> None:
        assert self.pipe.send(item) == item


class Sorting(RuleBasedStateMachine):
    """Two operations that lead to one mistake after many steps."""

    def __init__(self) -> None:
        super().__init__()
        self.barrel = one_place.Barrel()

    @rule(items=st.lists(st.integers(0, 9), max_size=2))
    def extend(self, items: list[int]) -> None:
        self.barrel.extend(items)

    @rule()
    def pop(self) -> None:
        self.barrel.pop()

    @rule(item=st.integers(0, 9))
    def insert(self, item: int) -> None:
        self.barrel.insert(item)

    @rule()
    def sort(self) -> None:
        self.barrel.sort()


class Locating(Pair):
    """Several rules before a step that is wrong itself."""

    impl: Any = one_place.Row
    model: Any = list

    @op(items=BITS)
    def append(self, items: list[int]) -> None:
        self.impl.append(items)
        self.model.extend(items)

    @op(items=BITS)
    def prepend(self, items: list[int]) -> None:
        self.impl.prepend(items)
        self.model[:0] = items

    @op(at=st.integers(0, 3), items=BITS)
    def assign(self, at: int, items: list[int]) -> None:
        self.impl.assign(at, items)
        self.model[at:at] = items

    @op(item=st.integers(0, 1))
    def find(self, item: int) -> None:
        self.match(lambda: self.impl.find(item), lambda: self.model.index(item) if item in self.model else -1)

    def view(self) -> tuple[list[int], list[int]]:
        return self.impl.items, self.model


class Inserting(RuleBasedStateMachine):
    """Branches by an argument that has nothing to do with it, beside one that has."""

    def __init__(self) -> None:
        super().__init__()
        self.row = one_place.Row()

    @rule(at=st.integers(-12, 12), items=BITS)
    def insert(self, at: int, items: list[int]) -> None:
        if abs(at) <= len(self.row.items):
            self.row.insert(at, one_place.Row(items))


class Writing(RoundTrip):
    """Several rules before a text that is wrong."""

    impl: Any = one_place.Page
    dump = one_place.Page.text

    def load(self, dumped: str) -> one_place.Page:
        return one_place.Page(json.loads(dumped))

    def view(self, impl: one_place.Page) -> tuple[dict[str, object] | None]:
        return (impl.entries,)

    @op(name=st.sampled_from("ab"), value=SMALL)
    def put(self, name: str, value: int) -> None:
        self.impl.put(name, value)

    @op(name=st.sampled_from("ab"), values=st.lists(SMALL, min_size=2))
    def put_many(self, name: str, values: list[int]) -> None:
        self.impl.put(name, list(values))

    @op(name=st.sampled_from("ab"))
    def remove(self, name: str) -> None:
        self.impl.remove(name)


ONE: tuple[type[RuleBasedStateMachine], ...] = (
    *(Adding, Ringing, Asking, Hashing, Paying, Walking),
    *(Piping, Sorting, Locating, Inserting, Writing),
)


class Iterating(RuleBasedStateMachine):
    """Several rules that reach it, outside the targets."""

    def __init__(self) -> None:
        super().__init__()
        self.recent = one_place.Recent()

    @rule(key=st.integers(0, 9), value=st.integers(0, 9))
    def put(self, key: int, value: int) -> None:
        self.recent[key] = value

    @rule()
    def items(self) -> None:
        list(self.recent.items())

    @rule()
    def values(self) -> None:
        list(self.recent.values())

    @rule(others=st.dictionaries(st.integers(0, 1), st.integers(0, 1)))
    def equal(self, others: dict[int, int]) -> None:
        _ = self.recent == others


class Shelving(RuleBasedStateMachine):
    """Other code of the targets, in rules that fail after the same steps."""

    def __init__(self) -> None:
        super().__init__()
        self.recent, self.settled = one_place.Recent(), one_place.Settled()

    @rule(key=st.integers(0, 9))
    def put(self, key: int) -> None:
        self.recent[key] = self.settled[key] = 9

    @rule()
    def items(self) -> None:
        list(self.recent.items())

    @rule()
    def settled_items(self) -> None:
        list(self.settled.items())


#: Machines whose rules fail below the targets: with one mistake, and with two.
SHARED_ONE: tuple[type[RuleBasedStateMachine], ...] = (Iterating,)
SHARED_TWO: dict[type[RuleBasedStateMachine], Callable[[Failure], str]] = {
    Shelving: lambda failure: failure.rule_log[-1],
}

#: The target of all.
MODULES = [one_place.__name__]
