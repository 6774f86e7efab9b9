"""Strategies that are compiled, by name: what they give is compared with what Hypothesis makes of the choices."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import enum
import math
import operator
from functools import partial
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy


class Colour(enum.Enum):
    """A few members."""

    RED = 1
    GREEN = 2
    BLUE = 3


class Mode(enum.Flag):
    """Members that combine."""

    READ = 1
    WRITE = 2


@dataclasses.dataclass(frozen=True)
class Point:
    """Something to build."""

    x: int
    y: int = 0


@st.composite
def pairs_in_order(draw: DrawFn, top: int = 100) -> tuple[int, int]:
    """Two integers, the second not below the first."""
    low = draw(st.integers(0, top))
    return low, draw(st.integers(low, top), label="high")


@st.composite
def nested(draw: DrawFn, *, depth: int = 3) -> Any:
    """A composite that draws from itself."""
    if depth == 0 or draw(st.booleans()):
        return draw(st.integers())
    return draw(st.lists(nested(depth=depth - 1), max_size=2))


@st.composite
def picky(draw: DrawFn) -> int:
    """A composite that assumes something."""
    number = draw(st.integers(0, 9))
    assume(number != 3)
    return number


def _is_even(number: int) -> bool:
    return number % 2 == 0


def _assume_small(number: int) -> int:
    assume(number < 60)
    return number


_TREE: SearchStrategy[Any] = st.deferred(lambda: st.one_of(st.booleans(), st.tuples(_TREE, _TREE)))
_JSON_VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=5))

PLANNED: dict[str, SearchStrategy[Any]] = {
    "booleans": st.booleans(),
    "integers": st.integers(),
    "integers small": st.integers(0, 100),
    "integers one": st.integers(7, 7),
    "integers negative": st.integers(-50, -3),
    "integers wide": st.integers(-(2**40), 2**40),
    "integers 64": st.integers(-(2**63), 2**63 - 1),
    "integers from": st.integers(min_value=10),
    "integers to": st.integers(max_value=-10),
    "integers not zero": st.integers().filter(lambda n: n != 0),
    "integers even": st.integers(0, 100).filter(_is_even),
    "integers above": st.integers(0, 100).filter(partial(operator.lt, 40)),
    "integers text": st.integers(0, 9).map(str),
    "integers squared": st.integers(-9, 9).map(lambda n: n * n).filter(lambda n: n > 3),
    "integers hard": st.integers(0, 20).filter(lambda n: n > 17),
    "integers assumed": st.integers(0, 100).map(_assume_small),
    "floats": st.floats(),
    "floats bounded": st.floats(-1.5, 2.5),
    "floats finite": st.floats(allow_nan=False, allow_infinity=False),
    "floats from": st.floats(min_value=1.0),
    "floats to": st.floats(max_value=-0.0),
    "floats open": st.floats(0, 1, exclude_min=True, exclude_max=True),
    "floats normal": st.floats(allow_subnormal=False),
    "floats 32": st.floats(width=32),
    "floats 16": st.floats(-10, 10, width=16),
    "floats is finite": st.floats().filter(math.isfinite),
    "none": st.none(),
    "just": st.just("x"),
    "just mapped": st.just(3).map(lambda n: [n]),
    "just filtered": st.just(3).filter(bool),
    "sampled": st.sampled_from("abcdef"),
    "sampled one": st.sampled_from([5]),
    "sampled range": st.sampled_from(range(1000)),
    "sampled large": st.sampled_from([str(n) for n in range(300)]),
    "sampled filtered": st.sampled_from(range(20)).filter(lambda n: n % 7 == 0),
    "sampled hard": st.sampled_from(range(50)).filter(lambda n: n == 49),
    "sampled mapped": st.sampled_from([1, 2, 3]).map(lambda n: n * 10),
    "sampled mapped filtered": st.sampled_from(range(9)).map(lambda n: n % 4).filter(bool),
    "sampled never": st.sampled_from([1, 2]).filter(lambda n: n > 2),
    "enum": st.sampled_from(Colour),
    "flag": st.sampled_from(Mode),
    "one_of": st.one_of(st.integers(0, 9), st.booleans(), st.text(max_size=3)),
    "one_of nested": st.one_of(st.one_of(st.none(), st.booleans()), st.integers(0, 3)),
    "one_of single": st.one_of(st.booleans(), st.nothing()),
    "one_of filtered": (st.integers(0, 9) | st.integers(100, 109)).filter(_is_even),
    "one_of mapped": (st.integers(0, 9) | st.booleans()).map(str),
    "optional": st.none() | st.integers(),
    "tuples": st.tuples(st.integers(0, 9), st.booleans()),
    "tuples empty": st.tuples(),
    "tuples nested": st.tuples(st.tuples(st.text(max_size=2)), st.none(), st.floats(0, 1)),
    "lists": st.lists(st.integers(0, 100)),
    "lists of integers": st.lists(st.integers()),
    "lists some": st.lists(st.booleans(), min_size=2),
    "lists fixed": st.lists(st.booleans(), min_size=3, max_size=3),
    "lists short": st.lists(st.integers(0, 5), max_size=2),
    "lists empty": st.lists(st.integers(), max_size=0),
    "lists of nothing": st.lists(st.nothing()),
    "lists nested": st.lists(st.lists(st.integers(0, 3), max_size=3), max_size=3),
    "lists nonempty": st.lists(st.integers(0, 3)).filter(bool),
    "lists long": st.lists(st.integers(0, 9), min_size=20, max_size=60),
    "lists unique": st.lists(st.integers(), unique=True),
    "lists unique small": st.lists(st.integers(0, 9), unique=True, min_size=2),
    "lists unique all": st.lists(st.integers(0, 4), unique=True, min_size=5),
    "lists unique negative": st.lists(st.integers(-9, -2), unique=True),
    "lists unique hard": st.lists(st.integers(0, 999).map(lambda n: n % 4), unique=True, min_size=3),
    "lists unique filtered": st.lists(st.integers().filter(_is_even), unique=True, max_size=4),
    "lists unique sampled": st.lists(st.sampled_from("abcabc"), unique=True),
    "lists unique sampled mapped": st.lists(st.sampled_from(range(9)).map(lambda n: n // 2), unique=True),
    "lists unique_by": st.lists(st.text(max_size=3), unique_by=len),
    "lists unique_by two": st.lists(
        st.tuples(st.integers(0, 300), st.integers(0, 300)), unique_by=(lambda p: p[0], lambda p: p[1]), max_size=5
    ),
    "lists unique floats": st.lists(st.floats(), unique=True),
    "sets": st.sets(st.integers()),
    "sets small": st.sets(st.integers(0, 5), min_size=1),
    "sets of texts": st.sets(st.text(max_size=2), max_size=4),
    "frozensets": st.frozensets(st.booleans()),
    "sets nested": st.sets(st.frozensets(st.integers(0, 3), max_size=2), max_size=3),
    "text": st.text(),
    "text ascii": st.text("abc", max_size=6),
    "text some": st.text(min_size=3),
    "text digits": st.text(st.characters(categories=["Nd"]), min_size=1, max_size=4),
    "text of texts": st.text(st.sampled_from("xyz").map(str.upper), max_size=4),
    "text identifier": st.text("ab1_", max_size=5).filter(str.isidentifier),
    "text surrogates": st.text(st.characters(categories=["Cs"]), max_size=3),
    "text codec": st.text(st.characters(codec="latin-1"), max_size=5),
    "characters": st.characters(),
    "characters few": st.characters(min_codepoint=65, max_codepoint=70),
    "binary": st.binary(),
    "binary some": st.binary(min_size=2, max_size=9),
    "binary long": st.binary(min_size=100, max_size=300),
    "fixed_dictionaries": st.fixed_dictionaries({"a": st.integers(0, 9), "b": st.booleans()}),
    "fixed_dictionaries empty": st.fixed_dictionaries({}),
    "fixed_dictionaries optional": st.fixed_dictionaries(
        {"a": st.integers(0, 9)}, optional={"b": st.booleans(), "c": st.text(max_size=2), "d": st.nothing()}
    ),
    "fixed_dictionaries ordered": st.fixed_dictionaries(
        collections.OrderedDict([("x", st.integers(0, 3)), ("y", st.integers(0, 3)), ("z", st.none())])
    ),
    "dictionaries": st.dictionaries(st.text(max_size=3), st.integers()),
    "dictionaries small": st.dictionaries(st.integers(0, 5), st.booleans(), min_size=1),
    "dictionaries sampled": st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 3), max_size=2)),
    "dictionaries ordered": st.dictionaries(st.integers(), st.none(), dict_class=collections.OrderedDict, max_size=4),
    "dictionaries empty": st.dictionaries(st.integers(), st.none(), max_size=0),
    "builds": st.builds(Point, st.integers(0, 9), y=st.integers(0, 9)),
    "builds inferred": st.builds(Point),
    "builds nothing": st.builds(list),
    "builds function": st.builds(lambda a, *, b: (a, b), st.booleans(), b=st.text(max_size=2)),
    "permutations": st.permutations([1, 2, 3, 4]),
    "permutations one": st.permutations([1]),
    "iterables": st.iterables(st.integers(0, 3), max_size=3).map(list),
    "flatmap": st.integers(0, 5).flatmap(lambda n: st.lists(st.booleans(), min_size=n, max_size=n)),
    "flatmap tuples": st.sampled_from([st.integers(0, 3), st.booleans()]).flatmap(lambda s: st.tuples(s, s)),
    "composite": pairs_in_order(),
    "composite argument": pairs_in_order(7),
    "composite keyword": pairs_in_order(top=500),
    "composite nested": nested(),
    "composite assumes": picky(),
    "composite mapped": picky().map(lambda n: -n),
    "composite in list": st.lists(pairs_in_order(20), max_size=4),
    "dates": st.dates(),
    "dates few": st.dates(datetime.date(2020, 2, 27), datetime.date(2021, 3, 2)),
    "dates one month": st.dates(datetime.date(2024, 2, 1), datetime.date(2024, 2, 29)),
    "dates leap day": st.dates(datetime.date(2024, 2, 28), datetime.date(2024, 3, 1)),
    "dates new year": st.dates(datetime.date(2023, 12, 31), datetime.date(2024, 1, 1)),
    "times": st.times(),
    "times few": st.times(datetime.time(23, 59, 58), datetime.time(23, 59, 59, 500)),
    "times aware": st.times(timezones=st.just(datetime.UTC)),
    "times without zone": st.times(timezones=st.none().map(lambda _: None)),
    "datetimes": st.datetimes(),
    "datetimes few": st.datetimes(datetime.datetime(1999, 12, 31, 23), datetime.datetime(2000, 1, 1, 1)),
    "datetimes old": st.datetimes(max_value=datetime.datetime(1900, 1, 1)),
    "datetimes aware": st.datetimes(timezones=st.just(datetime.UTC)),
    "datetimes perhaps aware": st.datetimes(timezones=st.none() | st.just(datetime.UTC)),
    "timedeltas": st.timedeltas(),
    "timedeltas odd": st.timedeltas(datetime.timedelta(-1, 5), datetime.timedelta(1, 3, 7)),
    "timedeltas few": st.timedeltas(datetime.timedelta(seconds=-5), datetime.timedelta(days=1)),
    "deferred": _TREE,
    "recursive": st.recursive(st.booleans(), lambda inner: st.lists(inner, max_size=3), max_leaves=5),
    "recursive in list": st.lists(
        st.recursive(st.none(), lambda inner: st.tuples(inner, st.booleans()), max_leaves=3), max_size=3
    ),
    "shared in tuple": st.tuples(st.shared(st.integers(), key="k"), st.shared(st.integers(), key="k")),
    "from_regex in tuple": st.tuples(st.from_regex("[a-c]+", fullmatch=True), st.integers(0, 3)),
    "decimals": st.decimals(0, 10, places=2),
    "fractions": st.fractions(0, 1, max_denominator=9),
    "complex": st.complex_numbers(max_magnitude=5),
    "uuids in list": st.lists(st.uuids(version=4), max_size=2),
    "emails": st.emails(),
    "slices": st.slices(5),
    "json": st.recursive(
        _JSON_VALUES,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    ),
    "integers unsigned 64": st.integers(0, 2**64 - 1),
    "integers wide in list": st.lists(st.integers(-(2**100), 2**100), max_size=3),
    "big integers": st.integers(0, 2**170),
    "big integers from": st.integers(min_value=2**80),
    "big integers in list": st.lists(st.integers(-(2**200), 2**100), max_size=3),
    "runner": st.runner(default=5),
    "from_type": st.from_type(Point),
    "from_type optional": st.from_type(int | None),  # type: ignore[arg-type]
    "deep": st.lists(
        st.dictionaries(st.text("ab", max_size=2), st.tuples(st.sets(st.integers(0, 5)), st.floats())), max_size=3
    ),
}

#: Drawn through Hypothesis as a whole. All that may have a timezone is among them.
THROUGH_HYPOTHESIS = frozenset(
    {"big integers", "big integers from", "from_regex", "lists of nothing", "recursive", "json"}
    | {"times aware", "times without zone", "datetimes aware", "datetimes perhaps aware"}
)
