"""Ten machines, each with three bugs that nearly every run meets and one that needs many steps.

``shallow`` says whether the three are there; the repaired machine is the same without them. The deep bug of a machine
raises DeepError.
"""

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule


class ShallowError(Exception):
    """One of three bugs that are met soon."""


class DeepError(Exception):
    """The bug behind them."""


class Behind(RuleBasedStateMachine):
    """What the machines share."""

    shallow: ClassVar[bool] = True

    def deep(self, condition: bool) -> None:
        """Raise where the deep bug shows."""
        if condition:
            raise DeepError


class RingBuffer(Behind):
    """Growing while the buffer is full and its head is not at the start loses an item."""

    def __init__(self) -> None:
        super().__init__()
        self.size, self.head, self.count = 4, 0, 0

    @rule(item=st.integers(0, 100))
    def push(self, item: int) -> None:
        if self.shallow and item % 5 == 0:
            raise ShallowError("round numbers")
        if self.count < self.size:
            self.count += 1

    @rule()
    def pop(self) -> None:
        if self.shallow and self.count == 0:
            raise ShallowError("empty")
        if self.count:
            self.count -= 1
            self.head = (self.head + 1) % self.size

    @rule(by=st.integers(1, 4))
    def grow(self, by: int) -> None:
        if self.shallow and by == 4:
            raise ShallowError("too much")
        self.deep(self.count == self.size >= 6 and self.head == self.size - 1)
        if self.size < 8:
            self.size, self.head = self.size + 1, 0

    @rule()
    def clear(self) -> None:
        self.head = self.count = 0


class Handshake(Behind):
    """A commit in a transaction that was prepared twice, after a reconnect with the same token."""

    def __init__(self) -> None:
        super().__init__()
        self.token, self.stage, self.prepared, self.reconnects = -1, 0, 0, 0

    @rule(token=st.integers(0, 15))
    def open(self, token: int) -> None:
        if self.shallow and token == 0:
            raise ShallowError("no token")
        if self.stage == 0:
            self.reconnects += token == self.token
            self.token, self.stage = token, 1

    @rule()
    def begin(self) -> None:
        if self.shallow and self.stage == 0:
            raise ShallowError("not open")
        if self.stage == 1:
            self.stage, self.prepared = 2, 0

    @rule()
    def prepare(self) -> None:
        if self.stage == 2:
            self.prepared += 1

    @rule()
    def close(self) -> None:
        if self.shallow and self.stage == 2 and self.prepared == 0:
            raise ShallowError("nothing prepared")
        self.stage = 0

    @rule()
    def commit(self) -> None:
        self.deep(self.stage == 2 and self.prepared == 2 and self.reconnects > 0)
        if self.stage == 2:
            self.stage = 1


class Editor(Behind):
    """Redo after an edit inside a selection that was made after three undos."""

    def __init__(self) -> None:
        super().__init__()
        self.done, self.undone, self.selected = 0, 0, False

    @rule(text=st.text(max_size=4))
    def type(self, text: str) -> None:
        if self.shallow and text == "":
            raise ShallowError("no text")
        self.done, self.undone, self.selected = self.done + 1, self.undone if self.selected else 0, False

    @rule()
    def undo(self) -> None:
        if self.shallow and self.done == 0:
            raise ShallowError("nothing to undo")
        if self.done:
            self.done, self.undone = self.done - 1, self.undone + 1

    @rule()
    def redo(self) -> None:
        self.deep(self.undone >= 3 and self.done >= 4)
        if self.undone:
            self.done, self.undone = self.done + 1, self.undone - 1

    @rule(at=st.integers(-3, 10))
    def select(self, at: int) -> None:
        if self.shallow and at < 0:
            raise ShallowError("before the start")
        self.selected = self.undone >= 3


class Safe(Behind):
    """Six dials, in order; a wrong number goes back by one."""

    DIALS = (3, 1, 4, 1, 5, 9)

    def __init__(self) -> None:
        super().__init__()
        self.right = 0

    @rule(number=st.integers(0, 11))
    def turn(self, number: int) -> None:
        if self.shallow and number > 9:
            raise ShallowError("no such number")
        if self.right == 0:
            self.right += number == self.DIALS[0]
        elif self.right == 1:
            self.right += 1 if number == self.DIALS[1] else -1
        elif self.right == 2:
            self.right += 1 if number == self.DIALS[2] else -1
        elif self.right == 3:
            self.right += 1 if number == self.DIALS[3] else -1
        elif self.right == 4:
            self.right += 1 if number == self.DIALS[4] else -1
        else:
            self.deep(number == self.DIALS[5])
            self.right -= 1

    @rule()
    def pull(self) -> None:
        if self.shallow:
            raise ShallowError("the handle")

    @rule(hard=st.booleans())
    def knock(self, hard: bool) -> None:
        if self.shallow and hard:
            raise ShallowError("the door")


class Stock(Behind):
    """Cancelling an order when much is reserved and little is left."""

    def __init__(self) -> None:
        super().__init__()
        self.items, self.reserved = 0, 0

    @rule(items=st.integers(-2, 3))
    def deliver(self, items: int) -> None:
        if self.shallow and items < 0:
            raise ShallowError("negative delivery")
        self.items += max(items, 0)

    @rule(items=st.integers(0, 2))
    def reserve(self, items: int) -> None:
        if self.shallow and items > self.items:
            raise ShallowError("more than there is")
        if items <= self.items:
            self.items, self.reserved = self.items - items, self.reserved + items

    @rule()
    def cancel(self) -> None:
        if self.shallow and self.reserved == 0:
            raise ShallowError("nothing reserved")
        self.deep(self.reserved >= 7 and self.items <= 1)
        if self.reserved:
            self.items, self.reserved = self.items + 1, self.reserved - 1


class Tree(Behind):
    """Moving a folder of depth four below a folder that was renamed twice."""

    def __init__(self) -> None:
        super().__init__()
        self.depth, self.renamed = 0, 0

    @rule(name=st.sampled_from(["a", "b", "", "."]))
    def make(self, name: str) -> None:
        if self.shallow and name == "":
            raise ShallowError("no name")
        self.depth += name in ("a", "b")

    @rule(name=st.sampled_from(["a", "b", "/"]))
    def rename(self, name: str) -> None:
        if self.shallow and name == "/":
            raise ShallowError("the root")
        self.renamed += self.depth >= 2

    @rule()
    def remove(self) -> None:
        if self.shallow and self.depth == 0:
            raise ShallowError("nothing to remove")
        self.depth, self.renamed = max(self.depth - 1, 0), 0

    @rule()
    def move(self) -> None:
        self.deep(self.depth >= 5 and self.renamed >= 3)


class Cache(Behind):
    """A key that was evicted, put again and expired in a cache that was resized."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: list[int] = []
        self.evicted: set[int] = set()
        self.room = 3

    @rule(key=st.integers(0, 6))
    def put(self, key: int) -> None:
        if self.shallow and key == 6:
            raise ShallowError("the last key")
        if key not in self.keys:
            self.keys.append(key)
        if len(self.keys) > self.room:
            self.evicted.add(self.keys.pop(0))

    @rule(key=st.integers(0, 6))
    def expire(self, key: int) -> None:
        if self.shallow and key not in self.keys and key % 2 == 0:
            raise ShallowError("no such key")
        self.deep(self.room == 1 and key in self.keys and key in self.evicted and len(self.evicted) >= 5)
        if key in self.keys:
            self.keys.remove(key)

    @rule(room=st.integers(0, 4))
    def resize(self, room: int) -> None:
        if self.shallow and room == 0:
            raise ShallowError("no room")
        self.room = max(room, 1)


class Jobs(Behind):
    """Pausing with one job running, two waiting and one cancelled while it waited."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting, self.running, self.cancelled = 0, False, 0

    @rule(priority=st.integers(0, 9))
    def add(self, priority: int) -> None:
        if self.shallow and priority == 7:
            raise ShallowError("the seventh")
        self.waiting += 1

    @rule()
    def start(self) -> None:
        if self.shallow and self.waiting == 0:
            raise ShallowError("none waits")
        if self.waiting and not self.running:
            self.waiting, self.running = self.waiting - 1, True

    @rule()
    def cancel(self) -> None:
        if self.waiting >= 2 and self.running:
            self.waiting, self.cancelled = self.waiting - 1, self.cancelled + 1

    @rule()
    def finish(self) -> None:
        if self.shallow and not self.running:
            raise ShallowError("none runs")
        self.running, self.cancelled = False, 0

    @rule()
    def pause(self) -> None:
        self.deep(self.running and self.waiting >= 3 and self.cancelled >= 3)


class Account(Behind):
    """An invariant shows all four: what is owed is never above what was agreed."""

    def __init__(self) -> None:
        super().__init__()
        self.owed, self.agreed, self.months = 0, 10, 0
        self.wrong = ""

    @rule(amount=st.integers(0, 8))
    def borrow(self, amount: int) -> None:
        self.wrong = "borrow" if amount == 8 else ""
        self.owed = min(self.owed + amount, self.agreed)

    @rule()
    def repay(self) -> None:
        self.wrong = "repay" if self.owed == 0 else ""
        self.owed = max(self.owed - 3, 0)

    @rule(by=st.integers(-5, 5))
    def agree(self, by: int) -> None:
        self.wrong = "agree" if by < -3 else ""
        self.agreed = max(self.agreed + by, self.owed)

    @rule()
    def month(self) -> None:
        self.wrong = ""
        self.months = self.months + 1 if self.owed == self.agreed > 14 else 0

    @invariant()
    def agrees(self) -> None:
        if self.shallow and self.wrong:
            raise ShallowError(self.wrong)
        self.deep(self.months == 3)


class Parser(Behind):
    """A quote in a comment in a list in a list."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    @rule(char=st.sampled_from("([{#'\"x \t"))
    def read(self, char: str) -> None:
        if self.shallow and char == "\t":
            raise ShallowError("a tab")
        if self.open[-1:] == ["#"]:
            self.deep(char == "'" and self.open.count("[") >= 2 and self.open.count("{") >= 1)
        elif char in "([{#":
            self.open.append(char)

    @rule()
    def close(self) -> None:
        if self.shallow and not self.open:
            raise ShallowError("nothing is open")
        if self.open:
            self.open.pop()

    @rule()
    def end(self) -> None:
        if self.shallow and self.open:
            raise ShallowError("the end in the middle")
        self.open.clear()


MACHINES: tuple[type[Behind], ...] = (
    RingBuffer,
    Handshake,
    Editor,
    Safe,
    Stock,
    Tree,
    Cache,
    Jobs,
    Account,
    Parser,
)
