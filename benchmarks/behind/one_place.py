"""Programs with one mistake, or two that show in one place: the targets of the machines in ``one_place_machines``."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping, Sequence


class Stock:
    """Two mistakes: a large delivery loses a piece, and so does a shipment of three."""

    def __init__(self) -> None:
        self.total = 0

    def receive(self, pieces: int) -> None:
        self.total += pieces
        if pieces > 20:
            self.total -= 1

    def ship(self, pieces: int) -> None:
        if pieces <= self.total:
            self.total -= pieces
            if pieces == 3:
                self.total -= 1

    def count(self) -> int:
        return self.total


class Till:
    """Two mistakes in branches of one function: of large amounts and of coupons."""

    def __init__(self) -> None:
        self.taken = 0

    def take(self, kind: str, amount: int) -> None:
        if kind == "coupon":
            self.taken += amount + 1
        elif kind == "card" and amount > 30:
            self.taken += 30
        elif kind == "cash":
            self.taken += amount
        else:
            self.taken += amount


class Notes:
    """Two mistakes in handlers: of a failing write and of a failing read."""

    def __init__(self) -> None:
        self.kept: list[str] = []
        self.disk: list[str] = []

    def write(self, text: str) -> None:
        try:
            save(self.disk, text)
        except OSError:
            return
        self.kept.append(text)

    def reload(self) -> None:
        try:
            self.kept = load(self.disk)
        except OSError:
            self.kept = []


def save(disk: list[str], text: str) -> None:
    disk.append(text)


def load(disk: list[str]) -> list[str]:
    return list(disk)


class Index:
    """Two mistakes: renaming and dropping forget the index, and finding fails in one place."""

    def __init__(self) -> None:
        self.rows: dict[int, str] = {}
        self.index: dict[str, int] = {}

    def insert(self, key: int, name: str) -> None:
        old = self.rows.get(key)
        if old is not None:
            self.index.pop(old, None)
        self.rows[key] = name
        self.index[name] = key

    def rename(self, key: int, name: str) -> None:
        if key in self.rows and self.rows[key] != name:
            self.rows[key] = name
            self.index.setdefault(name, -1)

    def drop(self, key: int) -> None:
        self.rows.pop(key, None)

    def find(self, name: str) -> str | None:
        if name not in self.index:
            return None
        return self._row(self.index[name])

    def _row(self, key: int) -> str:
        return self.rows[key]


class Queue:
    """Two mistakes: a thirteen goes in twice, and rotating by two loses an item."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def put(self, item: int) -> None:
        self.items.append(item)
        if item == 13:
            self.items.append(item)

    def rotate(self, by: int) -> None:
        if by == 2 and len(self.items) > 1:
            self.items = self.items[by:] + self.items[:1]
        elif self.items:
            by %= len(self.items)
            self.items = self.items[by:] + self.items[:by]

    def size(self) -> int:
        return len(self.items)


class Bag:
    """Two mistakes of one call: nothing to add, and the same thing twice in a row."""

    def __init__(self) -> None:
        self.things: list[int] = []

    def add_all(self, things: list[int]) -> None:
        if not things:
            self.things.append(0)
            return
        last = None
        for thing in things:
            if thing == last:
                continue
            self.things.append(thing)
            last = thing


# One mistake each, which shows on many paths.


class Sum:
    """It overflows above nine, however its parts arrive in its loop."""

    def __init__(self) -> None:
        self.total = 0

    def add_all(self, parts: list[int]) -> None:
        for part in parts:
            if part % 2:
                self._odd(part)
            else:
                self.total += part
        if self.total > 9:
            self.total = 9

    def _odd(self, part: int) -> None:
        for _ in range(part):
            self.total += 1


class Ring:
    """It holds three, and forgets by branches of the argument that do nothing wrong."""

    def __init__(self) -> None:
        self.items: list[str] = []

    def put(self, number: int) -> None:
        if number % 3 == 0:
            text = "fizz"
        elif number % 5 == 0:
            text = "buzz"
        elif number > 50:
            text = "large"
        else:
            text = str(number)
        self.items.append(text)
        self.items = self.items[-3:]


class Lookup:
    """It is wrong from key six on, whether its cache is hit or not."""

    def __init__(self) -> None:
        self.cache: dict[int, int] = {}

    def get(self, key: int) -> int:
        if key in self.cache:
            value = self.cache[key]
        else:
            value = self._compute(key)
            self.cache[key] = value
        return value + (key > 5)

    def _compute(self, key: int) -> int:
        return key * 2

    def warm(self, keys: list[int]) -> None:
        for key in keys:
            self.cache[key] = self._compute(key)


class Table:
    """A deleted entry counts, before and after the table grew, and whether keys collide or not."""

    def __init__(self) -> None:
        self.slots: list[list[int]] = [[], []]
        self.used = 0

    def put(self, key: int) -> None:
        slot = self.slots[key % len(self.slots)]
        if key in slot:
            return
        if slot:
            slot.insert(0, key)
        else:
            slot.append(key)
        self.used += 1
        if self.used > 2 * len(self.slots):
            self._grow()

    def _grow(self) -> None:
        keys = [key for slot in self.slots for key in slot]
        self.slots = [[] for _ in range(2 * len(self.slots))]
        for key in keys:
            self.slots[key % len(self.slots)].append(key)

    def drop(self, key: int) -> None:
        slot = self.slots[key % len(self.slots)]
        if key in slot:
            slot.remove(key)
            if self.used > 3:
                return
            self.used -= 1

    def size(self) -> int:
        return self.used


class Purse:
    """It pays what it has not, alone or for several; large sums take a line of their own."""

    def __init__(self) -> None:
        self.money = 10
        self.log: list[str] = []

    def pay(self, amount: int) -> None:
        if amount > 50:
            self.log.append("large")
        self.money -= amount

    def pay_all(self, amounts: list[int]) -> None:
        for amount in amounts:
            self.pay(amount)


class Tree:
    """A list sorted by insertion, which ends before the last item of an even number, from both ends."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def insert(self, item: int) -> None:
        if not self.items or item >= self.items[-1]:
            self.items.append(item)
        elif item <= self.items[0]:
            self.items.insert(0, item)
        else:
            at = 0
            while self.items[at] < item:
                at += 1
            self.items.insert(at, item)

    def walk(self, backwards: bool) -> list[int]:
        items = self.items[::-1] if backwards else list(self.items)
        return items[:3]


class Pipe:
    """Of two changes of its size it tells the other side only the last; what comes of that depends on the sizes."""

    def __init__(self) -> None:
        self.size = self.told = 4
        self.other = 4
        self.table: list[int] = []

    def resize(self, size: int) -> None:
        if size < self.size:
            self.table = self.table[: max(0, size)]
        self.size = size

    def send(self, item: int) -> int | None:
        if self.size != self.told:
            self.other = self.told = self.size
            self.table.append(item)
        if len(self.table) > 1:
            return self._decode(item)
        return item

    def _decode(self, item: int) -> int | None:
        gap = self.other - len(self.table)
        if gap == 2:
            return item + 1
        if gap == 1:
            return self._literal(item)
        if gap < 1:
            return self.table[0] - 1
        return item if item % 2 else None

    def _literal(self, item: int) -> int:
        return -item - 1


class Barrel:
    """A long list that was rebalanced cannot be sorted, whichever operation rebalanced it."""

    def __init__(self) -> None:
        self.items: list[int] = []
        self.broken = False

    def extend(self, items: list[int]) -> None:
        self.items += items

    def pop(self) -> None:
        if self.items:
            self.items.pop()
            self._rebalance(1)

    def insert(self, item: int) -> None:
        self.items.insert(len(self.items) // 2, item)
        self._rebalance(2)

    def _rebalance(self, by: int) -> None:
        if len(self.items) > 8 + by:
            self.broken = True

    def sort(self) -> None:
        if self.broken:
            raise IndexError("broken")
        self.items.sort()


class Recent(MutableMapping[int, int]):
    """One mistake: reading moves an entry to the end, so nothing can go through the entries."""

    def __init__(self) -> None:
        self.entries: OrderedDict[int, int] = OrderedDict()

    def __getitem__(self, key: int) -> int:
        self.entries.move_to_end(key)
        return self.entries[key]

    def __setitem__(self, key: int, value: int) -> None:
        self.entries[key] = value

    def __delitem__(self, key: int) -> None:
        del self.entries[key]

    def __iter__(self) -> Iterator[int]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


class Settled(Recent):
    """Another mistake in the same place: reading moves an entry with a large value to another key."""

    def __getitem__(self, key: int) -> int:
        if self.entries[key] > 5:
            self.entries[key + 100] = self.entries.pop(key)
            return 0
        return self.entries[key]


class Row:
    """One mistake: what is found is one place too far."""

    def __init__(self, items: Sequence[int] = ()) -> None:
        self.items: list[int] = []
        if items:
            self.items += items

    def append(self, items: list[int]) -> None:
        self.items += items

    def prepend(self, items: list[int]) -> None:
        self.items[:0] = items

    def assign(self, at: int, items: list[int]) -> None:
        self.items[at:at] = items

    def find(self, item: int) -> int:
        for at, each in enumerate(self.items):
            if each == item:
                return at + 1
        return -1

    def insert(self, at: object, row: Row) -> None:
        """Another one: it has never worked."""
        if not isinstance(at, str):
            raise TypeError(f"{at} and {row.items}")


class Page:
    """One mistake: with no entry at all it is written as if there were no page."""

    def __init__(self, entries: dict[str, object] | None = None) -> None:
        self.entries = entries

    def put(self, name: str, value: object) -> None:
        self.entries = {**(self.entries or {}), name: value}

    def remove(self, name: str) -> None:
        if self.entries is not None:
            self.entries.pop(name, None)

    def text(self) -> str:
        if not self.entries:
            return "null"
        return f"{{{', '.join(f'{json.dumps(name)}: {self._written(value)}' for name, value in self.entries.items())}}}"

    def _written(self, value: object) -> str:
        if isinstance(value, list):
            return f"[{', '.join(map(str, value))}]"
        return str(value)
