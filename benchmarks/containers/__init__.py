"""Ten small classes, each with the mistake that its docstring names. All but one show it by an exception."""

from collections import OrderedDict, deque
from heapq import heappop, heappush


class LRU:
    """Keeps the last `size` entries. Mistake: deleting leaves the key in the order, so that evicting it raises."""

    def __init__(self, size: int = 3) -> None:
        if size < 1:
            raise ValueError("size must be positive")
        self.size = size
        self.data: dict[str, int] = {}
        self.order: deque[str] = deque()

    def put(self, key: str, value: int) -> None:
        if key in self.data:
            self.order.remove(key)
        elif len(self.data) >= self.size:
            del self.data[self.order.popleft()]
        self.data[key] = value
        self.order.append(key)

    def get(self, key: str) -> int | None:
        if key not in self.data:
            return None
        self.order.remove(key)
        self.order.append(key)
        return self.data[key]

    def delete(self, key: str) -> None:
        if key not in self.data:
            raise KeyError(key)
        del self.data[key]


class Ring:
    """A ring buffer. Mistake: clear does not reset the head; reading wraps over a hole."""

    def __init__(self, capacity: int = 4) -> None:
        if capacity <= 0:
            raise ValueError("capacity")
        self.items: list[int | None] = [None] * capacity
        self.head = 0
        self.count = 0

    def push(self, value: int) -> None:
        self.items[(self.head + self.count) % len(self.items)] = value
        self.count += 1

    def pop(self) -> int:
        if self.count == 0:
            raise IndexError("empty")
        value = self.items[self.head]
        assert value is not None, "a hole in the ring"
        self.items[self.head] = None
        self.head = (self.head + 1) % len(self.items)
        self.count -= 1
        return value

    def __len__(self) -> int:
        return self.count


class Pool:
    """Hands out numbers. Mistake: releasing twice lists the number twice."""

    def __init__(self, size: int = 2) -> None:
        self.free = list(range(max(size, 1)))
        self.used: set[int] = set()

    def acquire(self) -> int:
        if not self.free:
            raise RuntimeError("pool is empty")
        number = self.free.pop()
        if number in self.used:
            raise AssertionError(f"{number} is in use")
        self.used.add(number)
        return number

    def release(self, number: int) -> None:
        self.used.discard(number)
        self.free.append(number)


class Counter:
    """Averages. Mistake: the mean after all were removed divides by zero."""

    def __init__(self) -> None:
        self.total = 0
        self.count = 0

    def add(self, value: int) -> None:
        self.total += value
        self.count += 1

    def remove(self, value: int) -> None:
        if self.count:
            self.total -= value
            self.count -= 1

    def mean(self) -> float:
        if self.total == 0 and self.count == 0:
            return 0.0
        return self.total / self.count


class Tasks:
    """A priority queue with removal. Mistake: an entry removed and added again compares tasks of no order."""

    def __init__(self) -> None:
        self.heap: list[tuple[int, dict[str, str]]] = []

    def add(self, priority: int, name: str) -> None:
        heappush(self.heap, (priority, {"name": name}))

    def pop(self) -> str:
        if not self.heap:
            raise IndexError("pop from an empty queue")
        return heappop(self.heap)[1]["name"]


class Trie:
    """Words. Mistake: removing a word with a longer one below cuts that off, and listing fails."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.children: dict[str, set[str]] = {}

    def insert(self, word: str) -> None:
        self.words.add(word)
        for n in range(len(word) + 1):
            self.children.setdefault(word[:n], set())
            if n < len(word):
                self.children[word[:n]].add(word[: n + 1])

    def remove(self, word: str) -> bool:
        if word not in self.words:
            return False
        self.words.remove(word)
        del self.children[word]
        return True

    def count(self, prefix: str = "") -> int:
        if prefix not in self.children:
            return 0
        return (prefix in self.words) + sum(self._below(child) for child in self.children[prefix])

    def _below(self, prefix: str) -> int:
        return (prefix in self.words) + sum(self._below(child) for child in self.children[prefix])


class Text:
    """A buffer with undo. Mistake: undo of a deletion at the end forgets the cursor."""

    def __init__(self) -> None:
        self.chars: list[str] = []
        self.cursor = 0
        self.history: list[tuple[list[str], int]] = []

    def insert(self, text: str) -> None:
        self.history.append((list(self.chars), self.cursor))
        self.chars[self.cursor : self.cursor] = list(text)
        self.cursor += len(text)

    def delete(self) -> str:
        if self.cursor == 0:
            return ""
        self.history.append((list(self.chars), self.cursor))
        self.cursor -= 1
        return self.chars.pop(self.cursor)

    def undo(self) -> None:
        if self.history:
            self.chars, _ = self.history.pop()

    def at(self) -> str:
        return self.chars[self.cursor - 1] if self.cursor else ""


class Session:
    """A state machine. Mistake: closing while a transaction is open leaves it there; commit finds no connection."""

    def __init__(self) -> None:
        self.connection: dict[str, int] | None = {}
        self.pending: dict[str, int] | None = None

    def begin(self) -> None:
        if self.connection is None:
            raise RuntimeError("closed")
        self.pending = {}

    def write(self, key: str, value: int) -> None:
        if self.pending is None:
            raise RuntimeError("no transaction")
        self.pending[key] = value

    def commit(self) -> None:
        if self.pending is None:
            raise RuntimeError("no transaction")
        self.connection.update(self.pending)  # type: ignore[union-attr]
        self.pending = None

    def close(self) -> None:
        self.connection = None


class Ledger:
    """Accounts. Mistake: transfer to a closed account fails after the money was taken."""

    def __init__(self) -> None:
        self.accounts: OrderedDict[str, int] = OrderedDict()

    def open(self, name: str) -> None:
        self.accounts.setdefault(name, 0)

    def close(self, name: str) -> bool:
        return self.accounts.pop(name, None) is not None

    def deposit(self, name: str, amount: int) -> None:
        if name not in self.accounts:
            raise LookupError(f"no account {name}")
        if amount <= 0:
            raise ValueError("amount")
        self.accounts[name] += amount

    def transfer(self, source: str, target: str, amount: int) -> None:
        if source not in self.accounts or amount <= 0 or self.accounts[source] < amount:
            raise ValueError("refused")
        self.accounts[source] -= amount
        self.accounts[target] += amount


class Schedule:
    """Events by day. Mistake: moving the last event of a day leaves an empty day, of which `first` takes the first."""

    def __init__(self) -> None:
        self.days: dict[int, list[str]] = {}

    def add(self, day: int, event: str) -> None:
        self.days.setdefault(day, []).append(event)

    def move(self, day: int, other: int) -> None:
        if day in self.days:
            events = self.days[day]
            self.days.setdefault(other, []).extend(events)
            if other != day:
                events.clear()

    def first(self) -> str | None:
        if not self.days:
            return None
        return self.days[min(self.days)][0]
