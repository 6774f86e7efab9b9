"""Strategies with what is asked of their values, for `canonical_minima.py`."""

import datetime
import decimal
import fractions
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Asked = tuple[SearchStrategy[Any], Callable[[Any], bool]]


@st.composite
def _pair(draw: st.DrawFn) -> tuple[int, int]:
    low = draw(st.integers(0, 100))
    return low, draw(st.integers(low, 200))


@st.composite
def _matrix(draw: st.DrawFn) -> list[list[int]]:
    rows, columns = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    return [[draw(st.integers(-9, 9)) for _ in range(columns)] for _ in range(rows)]


@dataclass(frozen=True)
class _Place:
    row: int
    column: int
    name: str = ""


class _Seat(NamedTuple):
    row: int
    name: str | None
    wide: bool


_documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=3), parts, max_size=4),
    max_leaves=12,
)


def _depth(value: Any) -> int:
    if not isinstance(value, list | dict):
        return 0
    return 1 + max((_depth(part) for part in (value.values() if isinstance(value, dict) else value)), default=0)


#: By name: what draws a value, and which values are asked for.
STRATEGIES: dict[str, Asked] = {
    "integers": (st.integers(), lambda x: x > 1000),
    "integers below 0": (st.integers(), lambda x: x < -70),
    "integers in a range": (st.integers(3, 500), lambda x: x > 20),
    "booleans": (st.booleans(), lambda x: x),
    "floats": (st.floats(), lambda x: x > 1.5),
    "floats in a range": (st.floats(-100, 100), lambda x: x < -2.5),
    "floats, nan": (st.floats(), math.isnan),
    "complex_numbers": (st.complex_numbers(), lambda x: abs(x) > 2),
    "complex_numbers, finite": (
        st.complex_numbers(allow_nan=False, allow_infinity=False),
        lambda x: x.imag > 1 and x.real > 3,
    ),
    "text": (st.text(), lambda x: len(x) >= 3),
    "text of an alphabet": (st.text("ab \n"), lambda x: len(x) >= 1),
    "text, counted": (st.text("xyz", min_size=2), lambda x: x.count("z") >= 2),
    "text, by code point": (st.text(), lambda x: any(ord(each) > 1000 for each in x)),
    "text.filter": (st.text().filter(str.strip), lambda x: len(x) > 2),
    "characters": (st.characters(), lambda x: x > "m"),
    "binary": (st.binary(), lambda x: len(x) >= 2 and x[1] > 9),
    "lists": (st.lists(st.integers()), lambda x: sum(x) > 100),
    "lists, unique": (st.lists(st.integers(), unique=True), lambda x: len(x) >= 4),
    "lists of lists": (st.lists(st.lists(st.integers())), lambda x: sum(map(len, x)) >= 5),
    "tuples": (st.tuples(st.integers(), st.text()), lambda x: x[0] > 5 and len(x[1]) > 1),
    "sets": (st.sets(st.integers()), lambda x: len(x) >= 3),
    "frozensets": (st.frozensets(st.text(max_size=3)), lambda x: len(x) >= 2),
    "dictionaries": (st.dictionaries(st.text(), st.integers()), lambda x: any(each > 9 for each in x.values())),
    "fixed_dictionaries": (
        st.fixed_dictionaries({"a": st.integers(), "b": st.booleans()}, optional={"c": st.none()}),
        lambda x: x["a"] > 2 and "c" in x,
    ),
    "sampled_from": (st.sampled_from(["zero", "one", "two", "three"]), lambda x: "o" in x and x > "t"),
    "one_of": (st.one_of(st.none(), st.integers(), st.text()), lambda x: isinstance(x, str) and x != ""),
    "permutations": (st.permutations(range(5)), lambda x: x[0] > 2),
    "recursive": (
        st.recursive(st.booleans(), st.lists),
        lambda x: isinstance(x, list) and any(isinstance(each, list) and each for each in x),
    ),
    "dates": (st.dates(), lambda x: x.year > 2003),
    "times": (st.times(), lambda x: x.minute > 7),
    "datetimes": (st.datetimes(), lambda x: x.month > 3 and x.second > 1),
    "timedeltas": (st.timedeltas(), lambda x: x > datetime.timedelta(days=1)),
    "decimals": (st.decimals(allow_nan=False, allow_infinity=False), lambda x: x > decimal.Decimal("1.5")),
    "fractions": (st.fractions(), lambda x: x > fractions.Fraction(3, 2)),
    "from_regex": (st.from_regex(r"\A[a-z]+-[0-9]{2,4}\Z"), lambda x: len(x) > 6),
    "from_regex, found": (st.from_regex("b{2,}"), lambda x: x.count("b") > 3),
    "emails": (st.emails(), lambda x: len(x) > 8),
    "integers.filter": (st.integers().filter(lambda x: x % 2), lambda x: x > 100),
    "lists of filtered": (st.lists(st.integers().filter(lambda x: x % 3)), lambda x: len(x) > 2),
    "map": (st.integers(0, 1000).map(lambda x: x * 2), lambda x: x > 77),
    "flatmap": (st.integers(1, 9).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n)), lambda x: sum(x) > 6),
    "composite": (_pair(), lambda x: x[1] - x[0] > 20 and x[0] > 3),
    "ip_addresses": (st.ip_addresses(v=4), lambda x: int(x) > 70000),
    "composite of lists": (_matrix(), lambda x: len(x) > 1 and sum(map(sum, x)) > 11),
    "recursive, nested": (_documents, lambda x: _depth(x) >= 3),
    "recursive, of one kind": (
        _documents,
        lambda x: isinstance(x, dict) and any(isinstance(each, list) and len(each) > 1 for each in x.values()),
    ),
    "from_type, a dataclass": (st.from_type(_Place), lambda x: x.row + x.column > 100),
    "from_type, a named tuple": (st.from_type(_Seat), lambda x: x.name is not None and x.row != 0 and x.wide),
    "dictionaries of lists": (
        st.dictionaries(st.text("xyz"), st.lists(st.integers())),
        lambda x: any(len(key) > 1 and value for key, value in x.items()),
    ),
    "from_regex, groups": (
        st.from_regex(r"(foo|ba[rz]){1,3}(-\d+)?", fullmatch=True),
        lambda x: "-" in x and "baz" in x,
    ),
    "lists, unique by": (
        st.lists(st.tuples(st.integers(), st.text()), unique_by=lambda x: x[0], min_size=1),
        lambda x: sum(each for each, _ in x) > 20 and any(each for _, each in x),
    ),
    "ip_addresses of a network": (st.ip_addresses(network="10.0.0.0/8"), lambda x: int(x) % 256 > 9),
    "slices": (st.slices(12), lambda x: x.step is not None and x.step < -1),
    "shared": (
        st.tuples(*[st.shared(st.integers(), key="a")] * 2, st.integers()),
        lambda x: x[0] + x[1] > 9 and x[2] != 0,
    ),
    "decimals, two places": (st.decimals(-10, 10, places=2), lambda x: x % 1 != 0 and x > 3),
}
