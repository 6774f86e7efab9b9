"""Strategies with a condition on their values, and the least value that meets it: the one that Hypothesis finds."""

import datetime
import decimal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies
from hypothesis.stateful import RuleBasedStateMachine, rule
from hypothesis.strategies import SearchStrategy


@dataclass(frozen=True, slots=True)
class Value:
    """A strategy, when its value makes a run fail, and the representation of the least one that does.

    Where the result of Hypothesis is not ``is_steady``, it depends on the seed.
    """

    name: str
    least: str
    strategy: SearchStrategy[Any]
    fails: Callable[[Any], bool]
    is_steady: bool = True

    def machine(self, failed: list[Any]) -> type[RuleBasedStateMachine]:
        """Return a machine whose rule fails for such values, and puts them into ``failed``."""
        fails = self.fails

        class Taking(RuleBasedStateMachine):
            @rule(value=self.strategy)
            def take(self, value: Any) -> None:
                if fails(value):
                    failed.append(value)
                    raise AssertionError("found")

        return Taking


@dataclass(frozen=True)
class Point:
    x: int
    y: int


@st.composite
def pairs(draw: Callable[[SearchStrategy[Any]], Any]) -> tuple[int, int]:
    low = draw(st.integers(0, 100))
    return low, draw(st.integers(low, low + 100))


trees = st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=8)
zones = st.sampled_from([datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))])


def depth(tree: Any) -> int:
    return 1 + max(map(depth, tree), default=0) if isinstance(tree, list) else 0


VALUES = [
    Value("text over letters and blanks", "'a'", st.text("ab \n"), lambda x: len(x) >= 1),
    Value("text over two letters and a line end", "'bb\\n'", st.text("b\n"), lambda x: "\n" in x and len(x) > 2),
    Value("text over xyz", "'xx'", st.text("xyz"), lambda x: len(x) >= 2),
    Value("text over signs and digits", "'0'", st.text("-_09"), lambda x: len(x) >= 1),
    Value("text over letters apart", "'q'", st.text("0qz"), lambda x: any(c != "0" for c in x)),
    Value("text", "'0'", st.text(), lambda x: len(x) >= 1),
    Value("text with a letter", "'A'", st.text(), lambda x: any(c.isalpha() for c in x)),
    Value("text of ASCII, sorted", "'012'", st.text(st.characters(codec="ascii")), lambda x: len(set(x)) >= 3),
    Value("characters of a category", "'A'", st.characters(categories=["Lu"]), lambda _: True),
    Value("characters of blanks", "'\\x7f'", st.characters(categories=["Zs", "Cc"]), lambda x: x != "\r"),
    Value("integers", "7", st.integers(), lambda x: abs(x) >= 7),
    Value("integers below zero", "-11", st.integers(-1000, -3), lambda x: x < -10),
    Value("integers beyond 64 bits", "1180591620717411303425", st.integers(), lambda x: abs(x) > 2**70),
    Value("integers around a year", "1951", st.integers(1900, 2100), lambda x: x > 1950),
    Value("floats", "2.0", st.floats(allow_nan=False), lambda x: x > 1.5),
    Value("floats between", "0.5", st.floats(0.25, 0.75), lambda x: x > 0.3),
    Value("floats below zero", "-4.0", st.floats(max_value=-1.0), lambda x: x < -3),
    Value("sampled_from", "'y'", st.sampled_from("zyx"), lambda x: x != "z"),
    Value("booleans", "(False, True)", st.tuples(st.booleans(), st.booleans()), lambda x: x[0] or x[1]),
    Value("lists", "[4, 9]", st.lists(st.integers(0, 9)), lambda x: sum(x) > 12),
    Value("lists of a sum", "[50, 100, 100]", st.lists(st.integers(0, 100)), lambda x: sum(x) >= 250),
    Value("unique lists", "[0, 1, -1]", st.lists(st.integers(), unique=True), lambda x: len(x) >= 3),
    Value("nested lists", "[[0, 0, 0, 0]]", st.lists(st.lists(st.integers(0, 5))), lambda x: sum(map(len, x)) >= 4),
    Value("sets", "{0, 1, 2}", st.sets(st.integers(0, 9)), lambda x: len(x) > 2),
    Value(
        "dictionaries",
        "{'': 0, 'a': 0}",
        st.dictionaries(st.text("ba", max_size=2), st.integers()),
        lambda x: len(x) > 1,
    ),
    Value(
        "fixed_dictionaries",
        "{'a': 4, 'b': ''}",
        st.fixed_dictionaries({"a": st.integers(), "b": st.text()}),
        lambda x: x["a"] > 3,
    ),
    Value("one_of", "'a'", st.one_of(st.text("ab"), st.integers()), bool),
    Value("recursive", "[[]]", trees, lambda x: depth(x) >= 2),
    Value("binary", "b'\\x00\\x00'", st.binary(), lambda x: len(x) > 1),
    Value("dates", "datetime.date(2004, 1, 1)", st.dates(), lambda x: x.year > 2003),
    Value("times", "datetime.time(0, 6)", st.times(), lambda x: x.minute > 5),
    Value(
        "datetimes with timezones",
        "datetime.datetime(2000, 1, 4, 0, 0, tzinfo=datetime.timezone.utc)",
        st.datetimes(timezones=zones),
        lambda x: x.day > 3,
    ),
    Value("datetimes", "datetime.datetime(1989, 1, 1, 0, 0)", st.datetimes(), lambda x: x.year < 1990),
    Value(
        "datetimes between two",
        "datetime.datetime(2000, 1, 1, 0, 0, 0, 8)",
        st.datetimes(datetime.datetime(1990, 5, 5, 4, 4), datetime.datetime(2031, 3, 3)),
        lambda x: x.microsecond > 7,
    ),
    Value("timedeltas", "datetime.timedelta(days=4)", st.timedeltas(), lambda x: x.days > 3),
    Value("decimals", "Decimal('2')", st.decimals(-1000, 1000), lambda x: x > 1),
    Value(
        "decimals with places", "Decimal('1.51')", st.decimals(0, 100, places=2), lambda x: x > decimal.Decimal("1.5")
    ),
    Value("fractions", "Fraction(2, 1)", st.fractions(-1000, 1000), lambda x: x > 1),
    Value("complex_numbers", "(3+0j)", st.complex_numbers(max_magnitude=1000), lambda x: x.real > 2),
    Value("UUIDs", "UUID('e3e70682-c209-4cac-629f-6fbed82c07cd')", st.uuids(), lambda _: True),
    Value("from_regex", "'aaa'", st.from_regex("[ab]{2,4}", fullmatch=True), lambda x: len(x) > 2),
    Value("from_regex with a class", "'500-a'", st.from_regex(r"\d{3}-[a-z]+", fullmatch=True), lambda x: x[0] > "4"),
    Value("from_regex with a group", "'bbb'", st.from_regex(r"(a|b)\1{2}c?", fullmatch=True), lambda x: "b" in x),
    Value("from_regex in any case", "'abcX'", st.from_regex("(?i)abc[x-z]*", fullmatch=True), lambda x: len(x) > 3),
    # Of the domains with the fewest characters, which each are drawn, the first.
    Value("emails", "'0@A.AC'", st.emails(), lambda _: True, is_steady=False),
    Value("IP addresses", "IPv4Address('0.0.0.6')", st.ip_addresses(v=4), lambda x: int(x) > 5),
    Value("permutations", "[3, 2, 1]", st.permutations([1, 2, 3]), lambda x: x[0] == 3),
    Value("flatmap", "[1]", st.integers(0, 5).flatmap(lambda n: st.lists(st.integers(), min_size=n, max_size=n)), any),
    Value("map", "12", st.integers().map(lambda x: x * 2), lambda x: x > 10),
    Value("filter", "12", st.integers().filter(lambda x: x % 3 == 0), lambda x: x > 10, is_steady=False),
    Value("builds", "Point(x=0, y=6)", st.builds(Point, st.integers(), st.integers()), lambda x: x.x + x.y > 5),
    Value("composite", "(0, 3)", pairs(), lambda x: x[1] > x[0] + 2),
    Value(
        "arrays",
        "array([3, 3, 3, 3])",
        numpy_strategies.arrays(np.int64, 4, elements=st.integers(0, 99)),
        lambda x: x.sum() > 9,
    ),
]
