"""Strategies with what is asked of their values, for `canonical_minima.py`."""

import datetime
import decimal
import fractions
import math
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Asked = tuple[SearchStrategy[Any], Callable[[Any], bool]]


@st.composite
def _pair(draw: st.DrawFn) -> tuple[int, int]:
    low = draw(st.integers(0, 100))
    return low, draw(st.integers(low, 200))


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
}
