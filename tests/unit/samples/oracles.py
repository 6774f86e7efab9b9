"""Small systems with a planted bug, each under the oracle that shows it, and sound ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from ordeal.model import Idempotence, Incremental, RoundTrip, TwoImplementations, Undo, op

keys = st.sampled_from("abc")
numbers = st.integers(0, 5)


class Config(dict[str, Any]):
    """Written as JSON; one that is longer than two entries loses the first one."""

    def text(self) -> str:
        return json.dumps(dict(list(self.items())[-2:]))


class Saved(RoundTrip):
    impl: Any = dict
    dump: Any = json.dumps
    load: Any = json.loads

    @op(key=keys, value=numbers)
    def put(self, key: str, value: int) -> None:
        self.impl[key] = value

    @op(key=keys)
    def remove(self, key: str) -> None:
        self.impl.pop(key, None)


class Loses(Saved):
    impl: Any = Config
    dump = Config.text

    def load(self, dumped: str) -> Config:
        return Config(json.loads(dumped))


class Editor:
    """A list with undo and redo; ``clear`` saves one state only, so that two in a row cannot be undone."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.past: list[list[str]] = []
        self.future: list[list[str]] = []

    def change(self, text: list[str]) -> None:
        self.past.append(self.text)
        self.future.clear()
        self.text = text

    def move(self, take: list[list[str]], give: list[list[str]]) -> None:
        give.append(self.text)
        self.text = take.pop()


class Edited(Undo):
    impl: Any = Editor

    def undo(self) -> None:
        self.impl.move(self.impl.past, self.impl.future)

    def redo(self) -> None:
        self.impl.move(self.impl.future, self.impl.past)

    def view(self, impl: Editor) -> list[str]:
        return impl.text

    @op(key=keys)
    def write(self, key: str) -> None:
        self.impl.change([*self.impl.text, key])

    @op()
    def clear(self) -> None:
        if self.impl.text:
            self.impl.change([])


class Forgets(Editor):
    """Forgets what is older than two steps."""

    def change(self, text: list[str]) -> None:
        super().change(text)
        if len(self.past) > 2:
            self.past[0] = self.past[1]


class EditedBadly(Edited):
    impl = Forgets


class Index:
    """How often each number was added."""

    def __init__(self, numbers: Any = ()) -> None:
        self.counts: dict[int, int] = {}
        for number in numbers:
            self.add(number)

    def add(self, number: int) -> None:
        self.counts[number] = self.counts.get(number, 0) + 1

    def remove(self, number: int) -> None:
        self.counts[number] -= 1
        if not self.counts[number]:
            del self.counts[number]


class Sticky(Index):
    """Keeps a number that is gone."""

    def remove(self, number: int) -> None:
        self.counts[number] -= 1


class Indexed(Incremental):
    impl: Any = Index
    scratch = Index

    def view(self, impl: Index) -> dict[int, int]:
        return impl.counts

    @op(number=numbers)
    def add(self, number: int) -> None:
        self.impl.add(number)
        self.source.append(number)

    @op(number=numbers)
    def remove(self, number: int) -> None:
        if number in self.source:
            self.impl.remove(number)
            self.source.remove(number)


class IndexedBadly(Indexed):
    impl = Sticky


class Backwards(list[int]):
    """Removes the last of equal numbers."""

    def remove(self, number: int) -> None:
        del self[len(self) - 1 - self[::-1].index(number)]


class Lists(TwoImplementations):
    impl: Any = list
    other: Any = list

    @op(number=numbers)
    def append(self, number: int) -> None:
        self.impl.append(number)

    @op(number=numbers)
    def remove(self, number: int) -> None:
        self.impl.remove(number)

    @op()
    def count(self) -> Any:
        return len(self.impl)


class ListsBadly(Lists):
    impl = Backwards


class Set(Idempotence):
    impl: Any = set

    @op(number=numbers)
    def add(self, number: int) -> None:
        self.impl.add(number)

    @op(number=numbers)
    def discard(self, number: int) -> None:
        self.impl.discard(number)


class Bag(Set):
    """What is added twice is there twice."""

    impl: Any = list

    @op(number=numbers)
    def add(self, number: int) -> None:
        self.impl.append(number)

    @op(number=numbers)
    def discard(self, number: int) -> None:
        self.impl[:] = [other for other in self.impl if other != number]


@dataclass(frozen=True)
class Wrong:
    """A machine with a bug, the steps of its smallest failing run, and the first line of its message."""

    machine: Any
    steps: list[str]
    message: str


SOUND = [Saved, Edited, Indexed, Lists, Set]
ORACLES = [
    Wrong(
        Loses,
        ["put", "put", "put"],
        """after put, dumped as '{"b": 0, "c": 0}': the system shows {'a': 0, 'b': 0, 'c': 0}, but what was loaded """
        "shows {'b': 0, 'c': 0}",
    ),
    Wrong(
        EditedBadly,
        ["write", "write", "write", "undo_last", "undo_last", "undo_last"],
        "after undo of write, not as before write: the system shows ['a'], but the view of then shows []",
    ),
    Wrong(
        IndexedBadly,
        ["add", "remove"],
        "after remove: the system shows {0: 0}, but the one from scratch shows {}",
    ),
    Wrong(
        ListsBadly,
        ["append", "append", "append", "remove"],
        "after remove the views differ: impl shows [0, 1], but other shows [1, 0]",
    ),
    Wrong(Bag, ["add"], "after add was done again: the system shows [0, 0], but it after the first shows [0]"),
]
