"""The shapes of the examples in the documentation of Hypothesis: what is hard is to keep the steps that matter."""

import itertools
from collections import OrderedDict, defaultdict

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, consumes, invariant, rule

from ordeal.chaos import ChaosTest

from .known import Known, known


class DieHard(ChaosTest):
    """Two jugs, for three and for five gallons, in which nobody measures four."""

    def __init__(self) -> None:
        super().__init__()
        self.small = self.large = 0

    @rule()
    def fill_small(self) -> None:
        self.small = 3

    @rule()
    def fill_large(self) -> None:
        self.large = 5

    @rule()
    def empty_small(self) -> None:
        self.small = 0

    @rule()
    def empty_large(self) -> None:
        self.large = 0

    @rule()
    def pour_into_large(self) -> None:
        poured = min(self.small, 5 - self.large)
        self.small, self.large = self.small - poured, self.large + poured

    @rule()
    def pour_into_small(self) -> None:
        poured = min(self.large, 3 - self.small)
        self.large, self.small = self.large - poured, self.small + poured

    @invariant()
    def is_not_solved(self) -> None:
        assert self.large != 4


# Either jug can be the one that breaks the invariant when something is poured into it, which tells two failures apart:
# the small one does so after six steps, and the large one after eight.
DIE_HARD = known(
    DieHard,
    (
        "state.fill_large()",
        "state.pour_into_small()",
        "state.empty_small()",
        "state.pour_into_small()",
        "state.fill_large()",
        "state.pour_into_small()",
    ),
    (
        "state.fill_small()",
        "state.pour_into_large()",
        "state.fill_small()",
        "state.pour_into_large()",
        "state.empty_large()",
        "state.pour_into_large()",
        "state.fill_small()",
        "state.pour_into_large()",
    ),
)


class Database:
    """Values by key. It remembers what it was asked for, and deleting does not make it look again."""

    def __init__(self) -> None:
        self.stored: dict[str, set[bytes]] = defaultdict(set)
        self.remembered: dict[str, frozenset[bytes]] = {}

    def save(self, key: str, value: bytes) -> None:
        """Add a value under a key."""
        self.stored[key].add(value)
        self.remembered[key] = frozenset(self.stored[key])

    def delete(self, key: str, value: bytes) -> None:
        """Remove a value from under a key."""
        self.stored[key].discard(value)

    def fetch(self, key: str) -> frozenset[bytes]:
        """All values under a key."""
        return self.remembered.get(key, frozenset())


class DatabaseComparison(ChaosTest):
    """Compares a database with a dictionary of sets."""

    keys = Bundle("keys")
    values = Bundle("values")

    def __init__(self) -> None:
        super().__init__()
        self.database = Database()
        self.model: dict[str, set[bytes]] = defaultdict(set)

    @rule(target=keys, key=st.text())
    def name_key(self, key: str) -> str:
        return key

    @rule(target=values, value=st.binary())
    def name_value(self, value: bytes) -> bytes:
        return value

    @rule(key=keys, value=values)
    def save(self, key: str, value: bytes) -> None:
        self.model[key].add(value)
        self.database.save(key, value)

    @rule(key=keys, value=values)
    def delete(self, key: str, value: bytes) -> None:
        self.model[key].discard(value)
        self.database.delete(key, value)

    @rule(key=keys)
    def values_agree(self, key: str) -> None:
        assert self.database.fetch(key) == self.model[key]


# A value must be saved, deleted and asked for, with a key and a value, both empty; which of them is named first does
# not matter.
DATABASE_COMPARISON = known(
    DatabaseComparison,
    *(
        (
            *named,
            "state.save(key=keys_0, value=values_0)",
            "state.delete(key=keys_0, value=values_0)",
            "state.values_agree(key=keys_0)",
        )
        for named in itertools.permutations(
            ["keys_0 = state.name_key(key='')", "values_0 = state.name_value(value=b'')"]
        )
    ),
)


class Cache:
    """Keeps the two entries used last, except that reading one does not count as use."""

    def __init__(self) -> None:
        self.entries: OrderedDict[int, str] = OrderedDict()

    def put(self, key: int, value: str) -> None:
        """Store a value, in place of the one that was not stored for the longest time."""
        self.entries[key] = value
        self.entries.move_to_end(key)
        if len(self.entries) > 2:
            self.entries.popitem(last=False)

    def get(self, key: int) -> str | None:
        """The value under a key, if it is still there."""
        return self.entries.get(key)


class LeastRecentlyUsed(ChaosTest):
    """Compares a cache with a list of the keys in the order of their last use."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = Cache()
        self.used: list[int] = []

    @rule(key=st.integers(0, 20), value=st.text())
    def put(self, key: int, value: str) -> None:
        self.cache.put(key, value)
        self.used = [*(other for other in self.used if other != key), key][-2:]

    @rule(key=st.integers(0, 20))
    def get(self, key: int) -> None:
        self.cache.get(key)
        if key in self.used:
            self.used = [*(other for other in self.used if other != key), key]

    @invariant()
    def holds_the_same(self) -> None:
        assert set(self.cache.entries) == set(self.used)


# The cache must be full, the older entry read, and a third one stored: three keys, the first of which is the one read.
LEAST_RECENTLY_USED = known(
    LeastRecentlyUsed,
    *(
        (
            f"state.put(key={first}, value='')",
            f"state.put(key={second}, value='')",
            f"state.get(key={first})",
            f"state.put(key={third}, value='')",
        )
        for first, second, third in itertools.permutations(range(3))
    ),
)


class OpenFile:
    """What the handles of one file share: closing any of them closes it for all."""

    def __init__(self) -> None:
        self.closed = False
        self.text = ""

    def write(self, text: str) -> None:
        """Add text to the file."""
        if self.closed:
            raise ValueError("the file is closed")
        self.text += text


class Handle:
    """One way to an open file."""

    def __init__(self, file: OpenFile) -> None:
        self.file = file


class FileHandles(ChaosTest):
    """Opens files, duplicates handles and closes each one once."""

    handles = Bundle("handles")

    @rule(target=handles, path=st.text())
    def open(self, path: str) -> Handle:
        return Handle(OpenFile())

    @rule(target=handles, handle=handles)
    def duplicate(self, handle: Handle) -> Handle:
        return Handle(handle.file)

    @rule(handle=handles, text=st.text())
    def write(self, handle: Handle, text: str) -> None:
        handle.file.write(text)

    @rule(handle=consumes(handles))
    def close(self, handle: Handle) -> None:
        handle.file.closed = True


# One of the two handles of a file is closed, and the other one written to.
FILE_HANDLES = known(
    FileHandles,
    *(
        (
            "handles_0 = state.open(path='')",
            "handles_1 = state.duplicate(handle=handles_0)",
            f"state.close(handle={closed})",
            f"state.write(handle={written}, text='')",
        )
        for closed, written in itertools.permutations(["handles_0", "handles_1"])
    ),
)

STATEFUL: list[Known] = [DIE_HARD, DATABASE_COMPARISON, LEAST_RECENTLY_USED, FILE_HANDLES]
