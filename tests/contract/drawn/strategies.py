"""A table of argument strategies, each made by chance from the ones before it: what rules of random machines take."""

from __future__ import annotations

import enum
import random
import string
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

type Strategy = st.SearchStrategy[Any]
type Make = Callable[["Table"], Strategy]


class Color(enum.Enum):
    """An enum to sample from."""

    RED = 1
    GREEN = 2
    BLUE = 3


class Access(enum.Flag):
    """A flag: Hypothesis samples its combinations too."""

    READ = 1
    WRITE = 2
    RUN = 4


@dataclass(frozen=True)
class Point:
    """A class whose fields have types that strategies are found for."""

    x: int
    y: float
    name: str | None


class Row(typing.TypedDict):
    """A dictionary with types of its own for its keys."""

    key: bytes
    flag: bool


@st.composite
def ordered_pair(draw: st.DrawFn, numbers: Strategy) -> tuple[Any, Any]:
    """A composite of two draws, where the second one depends on the first."""
    first = draw(numbers)
    return first, draw(st.lists(st.just(first), max_size=2))


def is_even(value: Any) -> bool:
    """A condition that about half of the values meet."""
    return sum(repr(value).encode()) % 2 == 0


def as_bytes(value: Any) -> Any:
    """Something of every value that can be hashed and compared."""
    return repr(value)[:20].encode("utf-8", "surrogatepass")


class Table:
    """Makes strategies by chance, at most a few levels deep.

    ``bundles`` are the ones of the machine: any strategy may be built on the values in them.
    """

    def __init__(self, rng: random.Random, bundles: list[Strategy]) -> None:
        self.rng = rng
        self.bundles = bundles
        self.depth = 0

    def any(self) -> Strategy:
        """Some strategy."""
        choices = LEAVES if self.depth >= 2 or self.rng.random() < 0.4 else LEAVES + NESTED
        if self.bundles and self.rng.random() < 0.1:
            return self.bundle()
        return self._made(self.rng.choice(choices))

    def bundle(self) -> Strategy:
        """The values of a bundle."""
        return self.rng.choice(self.bundles)

    def hashable(self) -> Strategy:
        """Some strategy of values that can be in sets."""
        return self._made(self.rng.choice(HASHABLE))

    def sizes(self) -> dict[str, Any]:
        """Bounds of a collection, or none."""
        low = self.rng.choice([0, 0, 0, 1, 2])
        return self.rng.choice([{"max_size": 3}, {"min_size": low, "max_size": low + 2}, {"max_size": low}, {}])

    def bounds(self, low: int, high: int) -> tuple[int, int]:
        """Two integers in order."""
        ends = sorted(self.rng.randint(low, high) for _ in range(2))
        return ends[0], ends[1]

    def _made(self, make: Make) -> Strategy:
        self.depth += 1
        try:
            return make(self)
        finally:
            self.depth -= 1


def floats(t: Table) -> Strategy:
    """Floats, with or without bounds and a width."""
    low, high = t.bounds(-100, 100)
    return t.rng.choice(
        [
            st.floats(),
            st.floats(allow_nan=False, allow_infinity=False),
            st.floats(low, high),
            st.floats(min_value=low, exclude_min=True),
            st.floats(width=t.rng.choice([16, 32])),
            st.floats(0, 1, allow_subnormal=False),
        ]
    )


def texts(t: Table) -> Strategy:
    """Texts over alphabets of all sizes."""
    alphabets: list[Any] = [
        *("a", "ab", string.printable, string.ascii_letters),
        *(
            st.characters(),
            st.characters(codec="ascii"),
            st.characters(categories=["Lu", "Nd"]),
            st.sampled_from("xyz"),
        ),
    ]
    return st.text(t.rng.choice(alphabets), **t.sizes())


def unique_lists(t: Table) -> Strategy:
    """Lists whose elements differ, by themselves or by a key."""
    if t.rng.random() < 0.5:
        return st.lists(t.hashable(), max_size=4, unique=True)
    return st.lists(t.any(), max_size=4, unique_by=as_bytes)


def dictionaries(t: Table) -> Strategy:
    """Dictionaries with some keys, or with given ones."""
    if t.rng.random() < 0.5:
        return st.dictionaries(t.hashable(), t.any(), max_size=3)
    keys: dict[str, Strategy] = {"one": t.any(), "two": t.any()}
    return st.fixed_dictionaries(keys) if t.rng.random() < 0.5 else st.fixed_dictionaries(keys, optional={"z": t.any()})


def recursions(t: Table) -> Strategy:
    """Trees, in both ways to define them."""
    leaves = t.any()
    if t.rng.random() < 0.5:
        return st.recursive(leaves, lambda inner: st.lists(inner, max_size=2), max_leaves=t.rng.randint(2, 6))
    tree: Strategy = st.deferred(lambda: leaves | st.tuples(tree, tree))
    return tree


def dependent(t: Table) -> Strategy:
    """Strategies that look at a value drawn before."""
    return t.rng.choice(
        [
            st.integers(0, 5).flatmap(lambda n: st.lists(st.booleans(), min_size=n, max_size=n)),
            st.booleans().flatmap(lambda b: st.text(max_size=2) if b else st.binary(max_size=2)),
            ordered_pair(t.any()),
            st.runner().flatmap(lambda machine: st.integers(0, len(machine.history))),
            st.shared(st.integers(0, 9), key=t.rng.choice("kl")),
        ]
    )


LEAVES: list[Make] = [
    lambda t: st.integers(*t.bounds(-1000, 1000)),
    lambda t: st.integers(*t.bounds(-(2**70), 2**70)),
    lambda t: st.integers(min_value=t.rng.choice([0, -5, 2**63, -(2**63)])),
    lambda t: st.integers(max_value=t.rng.choice([0, 7, -(2**64)])),
    lambda t: st.integers(),
    lambda t: st.booleans(),
    lambda t: st.none(),
    lambda t: st.just(t.rng.choice([0, "x", (), None])),
    lambda t: st.sampled_from(t.rng.choice([list(range(7)), "abc", [None], list(Color), [(1,), (2, 3)]])),
    lambda t: st.sampled_from(t.rng.choice([Color, Access])),
    lambda t: st.characters(),
    lambda t: st.binary(**t.sizes()),
    lambda t: st.dates(),
    lambda t: st.times(),
    lambda t: st.datetimes(),
    lambda t: st.timedeltas(),
    lambda t: st.fractions(0, 5, max_denominator=9),
    lambda t: st.decimals(places=2, allow_nan=False, allow_infinity=False),
    lambda t: st.complex_numbers(max_magnitude=10, allow_nan=False),
    lambda t: st.uuids(),
    lambda t: st.slices(5),
    lambda t: st.from_regex(t.rng.choice([r"\A[ab]{1,3}\Z", r"\A\d+(-\d)?\Z", r"(?i)x|y"])),
    lambda t: st.from_type(t.rng.choice([int, str, bytes, float, bool, Point, Row, Color, type(None)])),
    lambda t: st.ip_addresses(),
    lambda t: st.builds(Point),
    lambda t: st.permutations(range(t.rng.randint(0, 4))),
    lambda t: st.nothing() | st.booleans(),
    floats,
    texts,
]

HASHABLE: list[Make] = [
    lambda t: st.integers(0, 9),
    lambda t: st.integers(),
    lambda t: st.text("abc", max_size=3),
    lambda t: st.sampled_from("abcdef"),
    lambda t: st.sampled_from(Color),
    lambda t: st.tuples(st.integers(0, 3), st.booleans()),
    lambda t: st.binary(max_size=2),
    lambda t: st.frozensets(st.integers(0, 3)),
]

NESTED: list[Make] = [
    lambda t: st.lists(t.any(), **t.sizes()),
    lambda t: st.sets(t.hashable(), max_size=4),
    lambda t: st.frozensets(t.hashable(), min_size=1, max_size=3),
    lambda t: st.tuples(*(t.any() for _ in range(t.rng.randint(0, 3)))),
    lambda t: st.one_of(*(t.any() for _ in range(t.rng.randint(1, 4)))),
    lambda t: t.any().map(as_bytes),
    lambda t: t.any().filter(is_even),
    lambda t: st.builds(Point, x=st.integers(0, 9), name=st.none() | st.text(max_size=2)),
    lambda t: st.builds(lambda *values, **named: (values, sorted(named.items())), t.any(), t.any(), key=t.any()),
    lambda t: st.tuples(t.any(), t.any()).map(list),
    lambda t: st.lists(t.any(), max_size=2).filter(is_even),
    unique_lists,
    dictionaries,
    recursions,
    dependent,
]
