"""Values written as source come back equal, and what has no sure source is refused."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import importlib
import ipaddress
import math
import pathlib
import re
import struct
import tempfile
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any, NamedTuple

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal._base.python_source import NoSourceError, SourceWriter

pandas: Any = importlib.import_module("pandas")


class Colour(enum.Enum):
    RED = "r"


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


@dataclasses.dataclass
class Point:
    x: float
    y: list[int]


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    name: str


class Pair(NamedTuple):
    left: int
    right: str


@dataclasses.dataclass
class Checked:
    x: int

    def __post_init__(self) -> None:
        self.x += 1


@dataclasses.dataclass
class Partial:
    x: int = dataclasses.field(init=False, default=1)


class Loose:
    pass


class Kept:
    """What a constructor only keeps can be handed to it again."""

    def __init__(self, x: Any, *, _y: Any = 2) -> None:
        self.x = x
        self._y = _y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kept) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class Counted:
    made = 0

    def __init__(self) -> None:
        Counted.made += 1
        self.number = Counted.made


Strange = enum.Enum("Strange", [("not a name", 1), ("b", 2)], module=__name__)


def rebuilt(value: Any) -> Any:
    writer = SourceWriter()
    source = writer.write(value)
    space: dict[str, Any] = {}
    for module in writer.modules:
        space[module.partition(".")[0]] = importlib.import_module(module.partition(".")[0])
        importlib.import_module(module)
    return eval(source, space)


@pytest.mark.parametrize(
    "value",
    [
        None,
        ...,
        True,
        -5,
        10**5000,
        -(10**5000),
        "é\ud800\n'\"",
        b"\x00'\"",
        bytearray(b"ab"),
        [],
        [1, [2, [3]]],
        (),
        (1,),
        {},
        {1: "a", (2,): [3]},
        set(),
        {3, 1, 2},
        frozenset(),
        frozenset({"a"}),
        range(3, 9, 2),
        1 - 2j,
        math.inf,
        -math.inf,
        datetime.date(2020, 2, 29),
        datetime.datetime(2020, 2, 29, 1, 2, 3, 4, fold=1),
        datetime.datetime(2020, 2, 29, tzinfo=datetime.UTC),
        datetime.time(1, tzinfo=datetime.timezone(datetime.timedelta(hours=-3))),
        datetime.timedelta(-1, 5),
        datetime.UTC,
        datetime.timezone(datetime.timedelta(hours=2), "two"),
        decimal.Decimal("-0.10"),
        fractions.Fraction(1, 3),
        uuid.UUID(int=5),
        pathlib.PurePosixPath("/a b"),
        Colour.RED,
        Rights.READ,
        Rights.READ | Rights.WRITE,
        Rights(0),
        Strange["not a name"],
        OrderedDict(a=1),
        Counter("aab"),
        defaultdict(list, a=[1]),
        deque([1, 2], 5),
        ipaddress.ip_network("10.0.0.0/8"),
        re.compile("a+", re.IGNORECASE),
        datetime.datetime(2020, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Paris"), fold=1),
        slice(1, None, 2),
        list[int],
        int | None,
        "a".join,
        math,
        NotImplemented,
        Kept([1]),
        Point(1.5, [1]),
        Frozen("x"),
        Pair(1, "b"),
        Point,
        len,
        rebuilt,
        math.sqrt,
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back_equal(value: Any) -> None:
    assert rebuilt(value) == value
    assert type(rebuilt(value)) is type(value)


@pytest.mark.parametrize(
    "value",
    [
        numpy.array([1, 2, 3]),
        numpy.array([[1.5, math.nan], [-math.inf, -0.0]], dtype="float32"),
        numpy.array(5),
        numpy.array([]),
        numpy.array([True, False]),
        numpy.array([1j]),
        numpy.array(["a", "bc"]),
        numpy.array([b"a\0", b"bcd"]),
        numpy.array([1, 2], dtype=">i2"),
        numpy.float64(0.1),
        numpy.float16(0.1),
        numpy.float64("nan"),
        numpy.int8(-3),
        numpy.bool_(True),
        numpy.str_("x"),
    ],
    ids=repr,
)
def test_arrays_and_numbers_of_numpy_come_back_with_their_bytes(value: Any) -> None:
    again = rebuilt(value)
    assert type(again) is type(value)
    assert (again.dtype, again.shape, again.tobytes()) == (value.dtype, value.shape, value.tobytes())


@pytest.mark.parametrize(
    "value",
    [
        pandas.Series([1.5, math.nan], index=["a", "b"], name="n"),
        pandas.Series([], dtype="int8"),
        pandas.DataFrame({"a": [1, 2], "b": ["x", None]}),
        pandas.DataFrame({"a": [True]}, index=pandas.Index([5], name="i")),
        pandas.RangeIndex(1, 9, 2),
        pandas.Timestamp("2020-01-01 12:00"),
        functools.partial(int, "11", base=2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_equals_nothing_comes_back_with_its_text(value: Any) -> None:
    again = rebuilt(value)
    assert type(again) is type(value)
    assert repr(again) == repr(value)


def test_a_temporary_folder_of_this_process_is_a_variable() -> None:
    folder, writer = tempfile.mkdtemp(), SourceWriter()
    assert writer.write([folder, pathlib.PurePosixPath(folder, "a"), f"file://{folder}/b"]) == (
        "[folder_1, pathlib.PurePosixPath((folder_1 + '/a')), ('file://' + folder_1 + '/b')]"
    )
    assert writer.folders == {folder: "folder_1"}


@pytest.mark.parametrize("bits", ["7ff8000000000000", "fff8000000000000", "7ff0000000000001", "fff8dead0000beef"])
def test_every_nan_keeps_its_bits(bits: str) -> None:
    (nan,) = struct.unpack(">d", bytes.fromhex(bits))
    assert struct.pack(">d", rebuilt(nan)).hex() == bits


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else []


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Loose(),
        Checked(1),
        Partial(),
        lambda: 1,
        (number for number in range(3)),
        Counted(),
        pandas.Series([object()]),
        [Loose()],
        {"a": object()},
        nested(100),
        list(range(10_000)),
        "x" * 100_001,
        datetime.time(tzinfo=type("Zone", (datetime.tzinfo,), {})()),
        type("Local", (), {}),
        numpy.zeros((0, 3)),
        numpy.zeros(10_000),
        numpy.array([None]),
        numpy.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        numpy.longdouble(1) / 3,
        numpy.bytes_(b"a\0"),
        numpy.datetime64("2020-01-01"),
        numpy.ma.array([1]),
        numpy.random.default_rng(1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_sure_source_is_refused(value: Any) -> None:
    with pytest.raises(NoSourceError):
        SourceWriter().write(value)


def test_a_dataclass_with_more_than_its_fields_is_refused() -> None:
    point = Point(1.0, [])
    point.extra = 1  # type: ignore[attr-defined]
    with pytest.raises(NoSourceError):
        SourceWriter().write(point)


def test_a_list_within_itself_is_refused() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    with pytest.raises(NoSourceError):
        SourceWriter().write(loop)


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()


@given(
    st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner))
)
def test_any_nest_of_plain_values_comes_back(value: Any) -> None:
    assert repr(rebuilt(value)) == repr(value)
