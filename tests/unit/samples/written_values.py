"""Strategies and machines whose failing programs are written and run: each fails with the text of what it was given."""

from __future__ import annotations

import array
import asyncio
import collections
import dataclasses
import datetime
import decimal
import enum
import functools
import http
import ipaddress
import math
import operator
import pathlib
import random
import re
import signal
import socket
import tempfile
import types
import zoneinfo
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, NotRequired, TypedDict

import numpy
from hypothesis import event, note, target
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from hypothesis.extra import pandas
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from ordeal.chaos import ChaosTest
from ordeal.faults import Fault

from .machines import switches


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


class Rights(enum.Flag):
    READ = 1
    WRITE = 2
    RUN = 4


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 9


@dataclasses.dataclass
class Point:
    x: float
    y: Any = None


@dataclasses.dataclass(frozen=True)
class Checked:
    x: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", 2 * self.x)


class Pair(NamedTuple):
    left: Any
    right: str


class Row(TypedDict):
    left: int
    right: NotRequired[str]


class Kind(enum.StrEnum):
    ONE = enum.auto()
    TWO = "zwei"


class Bits(enum.IntFlag):
    LOW = 1
    HIGH = 8


class Name(str):
    __slots__ = ()


class Plain:
    """Keeps what it is given."""

    def __init__(self, low: int, high: Any = None) -> None:
        self.low = low
        self.high = high


class Opaque:
    """No expression makes it again but the strategy that drew it."""

    __slots__ = ("parts",)

    def __init__(self, *parts: Any) -> None:
        self.parts = [part for part in parts for _ in range(2)]


class Money(int):
    pass


class Odd:
    """Raises whenever it is looked at."""

    def __getattribute__(self, name: str) -> Any:
        raise OSError(name)

    def __repr__(self) -> str:
        raise OSError("no")

    def __eq__(self, other: object) -> bool:
        raise OSError("no")

    __hash__ = None  # type: ignore[assignment]


class Outer:
    class Inner(enum.Enum):
        ONE = 1


LOOP: list[Any] = [1]
LOOP.append(LOOP)
FOLDER = tempfile.mkdtemp()


def twice(number: int) -> int:
    return 2 * number


def shown(value: Any, depth: int = 0) -> str:
    """The text of a value, the same in each process."""
    kind = type(value).__name__
    if depth > 4:
        return "..."
    if isinstance(value, str) and FOLDER in value:
        return "in the folder"
    if isinstance(value, list | tuple | collections.deque):
        return f"{kind}[{', '.join(shown(each, depth + 1) for each in value)}]"
    if isinstance(value, set | frozenset):
        return f"{kind}{sorted(shown(each, depth + 1) for each in value)}"
    if isinstance(value, dict):
        return f"{kind}{[(shown(key, depth + 1), shown(item, depth + 1)) for key, item in value.items()]}"
    if isinstance(value, float):
        return f"{kind} {'-' * (math.copysign(1, value) < 0)}{value!r}"
    if isinstance(value, functools.partial):
        return f"{kind}{shown((value.args, value.keywords), depth + 1)}"
    if isinstance(value, numpy.ndarray):
        content = value.tolist() if value.dtype.hasobject else value.tobytes().hex()
        return f"{value.dtype} {value.shape} {content}"
    if isinstance(value, Plain | Point | Opaque | Checked):
        parts = value.parts if isinstance(value, Opaque) else vars(value)
        return f"{kind}{shown(parts, depth + 1)}"
    return re.sub(" at 0x[0-9a-f]+", "", f"{kind} {value!r}")


_BASES: dict[str, st.SearchStrategy[Any]] = {
    "none": st.none(),
    "booleans": st.booleans(),
    "integers": st.integers(),
    "huge": st.integers(10**400, 10**401),
    "floats": st.floats(),
    "special_floats": st.sampled_from([math.nan, -math.nan, math.inf, -math.inf, -0.0]),
    "complex": st.complex_numbers(),
    "text": st.text(),
    "surrogates": st.text(st.characters(categories=["Cs", "Cc", "Zl"]), min_size=1),
    "binary": st.binary(),
    "bytearrays": st.binary().map(bytearray),
    "dates": st.dates(),
    "datetimes": st.datetimes(),
    "zoned": st.datetimes(timezones=st.timezones()),
    "offsets": st.datetimes(timezones=st.just(datetime.timezone(datetime.timedelta(hours=-3), "x"))),
    "times": st.times(),
    "timedeltas": st.timedeltas(),
    "timezones": st.timezones(),
    "decimals": st.decimals(),
    "contexts": st.just(decimal.Decimal("-sNaN12")),
    "fractions": st.fractions(),
    "uuids": st.uuids(),
    "addresses": st.ip_addresses(),
    "enums": st.sampled_from(Colour),
    "flags": st.sampled_from(Rights).map(lambda one: one | Rights.RUN),
    "no_flags": st.just(Rights(0)),
    "int_enums": st.sampled_from(Level),
    "nested_enums": st.just(Outer.Inner.ONE),
    "types": st.sampled_from([int, Point, type(None), list[int], int | None, Outer.Inner]),
    "functions": st.sampled_from([twice, len, math.sqrt, str.upper, "a".join, [].append, operator.itemgetter(1)]),
    "local_functions": st.integers().map(lambda number: functools.partial(lambda other: other, number)),
    "drawn_lambdas": st.just(lambda: 3),
    "partials": st.builds(functools.partial, st.just(twice), st.integers()),
    "dataclasses": st.builds(Point, st.floats(), st.text()),
    "checked_dataclasses": st.builds(Checked, st.integers()),
    "named_tuples": st.builds(Pair, st.binary(), st.text()),
    "own": st.builds(Plain, st.integers(), high=st.none() | st.text()),
    "opaque": st.builds(Opaque, st.integers(), st.text(max_size=3)),
    "own_numbers": st.integers().map(Money),
    "subclasses": st.integers().map(type("Local", (Opaque,), {})),
    "recursive": st.just(LOOP),
    "trees": st.recursive(st.integers(), lambda inner: st.lists(inner, max_size=3), max_leaves=8),
    "arrays": arrays.arrays(st.sampled_from(["int8", "float32", "U3", "bool"]), (2, 2)),
    "moments": arrays.arrays("datetime64[D]", 2),
    "scalars": arrays.from_dtype(numpy.dtype("float16")),
    "patterns": st.sampled_from([re.compile("a+"), re.compile(b"x", re.IGNORECASE)]),
    "exceptions": st.builds(KeyError, st.text()),
    "deques": st.builds(collections.deque, st.lists(st.integers(), max_size=3), st.just(5)),
    "tables": st.builds(collections.OrderedDict, st.dictionaries(st.text(), st.integers())),
    "folders": st.just(f"{FOLDER}/data"),
    "generators": st.integers(0, 3).map(lambda count: (number for number in range(count))),
    "composed": st.integers(1, 4).flatmap(lambda size: st.lists(st.builds(Opaque), min_size=size, max_size=size)),
    "long": st.text(min_size=1500, max_size=1600),
}


@st.composite
def sorted_pairs(draw: st.DrawFn) -> tuple[int, int]:
    low = draw(st.integers())
    return low, draw(st.integers(min_value=low))


_MORE: dict[str, st.SearchStrategy[Any]] = {
    "regex": st.from_regex(r"[a-f]{2}\d*\Z"),
    "bytes_of_regex": st.from_regex(rb"\\x[0-9]"),
    "typed_dicts": st.from_type(Row),
    "typed_named_tuples": st.builds(Pair, st.integers()),
    "typed_dataclasses": st.from_type(Checked),
    "typed_flags": st.from_type(Rights),
    "typed_unions": st.from_type(int | list[str] | None),  # type: ignore[arg-type]
    "typed_callables": st.from_type(Callable[[int], str]),  # type: ignore[arg-type]
    "mixed": st.one_of(st.integers().map(str), st.text().map(Name), st.binary().map(bytes.hex)),
    "drawn_functions": st.functions(like=twice, returns=st.integers(), pure=True),
    "randoms": st.randoms(use_true_random=False),
    "true_randoms": st.randoms(use_true_random=True),
    "slices": st.slices(9),
    "iterables": st.iterables(st.integers(), min_size=1),
    "permutations": st.permutations([Colour.RED, "a", None]),
    "networks": st.ip_addresses(v=6, network="2001:db8::/64"),
    "interfaces": st.builds(ipaddress.ip_interface, st.ip_addresses(v=4)),
    "ranges": st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.just(2)),
    "memory_views": st.binary().map(memoryview),
    "number_arrays": st.lists(st.integers(0, 9)).map(lambda numbers: array.array("h", numbers)),
    "namespaces": st.integers().map(lambda number: types.SimpleNamespace(number=number, inner=[number])),
    "proxies": st.dictionaries(st.text(), st.integers()).map(types.MappingProxyType),
    "paths": st.sampled_from([pathlib.PurePosixPath("a/b c"), pathlib.PureWindowsPath("C:/x")]),
    "text_enums": st.sampled_from(Kind),
    "number_flags": st.sampled_from([Bits.LOW, Bits.LOW | Bits.HIGH, Bits(0), Bits(16)]),
    "counters": st.lists(st.text(max_size=1)).map(collections.Counter),
    "default_dicts": st.integers().map(lambda number: collections.defaultdict(list, {number: [number]})),
    "chain_maps": st.builds(collections.ChainMap, st.dictionaries(st.text(), st.none())),
    "constants": st.sampled_from([..., NotImplemented, __debug__]),
    "generics": st.sampled_from([dict[str, int], tuple[int, ...], Callable[[int], str], Any]),
    "texts_of_own": st.text().map(Name),
    "records": arrays.arrays(numpy.dtype([("a", "i4"), ("b", "U2")]), 2),
    "objects": arrays.arrays(object, 2, elements=st.text(max_size=2) | st.none()),
    "moments_of_numpy": arrays.from_dtype(numpy.dtype("timedelta64[ms]")),
    "empty_arrays": arrays.arrays("complex64", (0, 3)),
    "series": pandas.series(dtype=float, index=pandas.range_indexes(max_size=3)),
    "frames": pandas.data_frames([pandas.column("a", dtype=int), pandas.column("b", dtype=str)]),
    "indexes": pandas.indexes(dtype="datetime64[ns]", max_size=2),
    "groups": st.text().map(lambda text: ExceptionGroup("some", [KeyError(text), OSError(2, text)])),
    "composites": sorted_pairs(),
    "deferred": st.deferred(lambda: st.tuples(st.booleans(), st.just(math.nan))),
    "keyed": st.fixed_dictionaries({"a": st.just(-0.0)}, optional={"b": st.decimals(places=2)}),
    "methods": st.builds(Plain, st.integers()).map(lambda plain: plain.__repr__),
    "weak": st.just(Plain(3)),
    "folded": st.datetimes(timezones=st.just(zoneinfo.ZoneInfo("Europe/Berlin")), allow_imaginary=False),
    "codes": st.sampled_from([http.HTTPStatus.NOT_FOUND, signal.SIGINT, socket.AF_INET]),
}
_HASHABLE = (
    *("none", "booleans", "integers", "text", "binary", "dates", "zoned", "decimals", "uuids", "enums", "flags"),
    *("int_enums", "types", "named_tuples", "checked_dataclasses", "fractions", "addresses"),
)
STRATEGIES: dict[str, st.SearchStrategy[Any]] = {
    **_BASES,
    **_MORE,
    **{f"lists_of_{name}": st.lists(each, min_size=1, max_size=3) for name, each in _BASES.items()},
    **{f"pairs_of_{name}": st.tuples(st.booleans(), each) for name, each in _BASES.items()},
    **{
        f"dicts_of_{name}": st.dictionaries(st.text(max_size=3), each, min_size=1, max_size=2)
        for name, each in _BASES.items()
    },
    **{f"sets_of_{name}": st.frozensets(_BASES[name], min_size=1, max_size=3) for name in _HASHABLE},
}


def machine_of(name: str, strategy: st.SearchStrategy[Any]) -> type[RuleBasedStateMachine]:
    """A machine, in this module, that fails with the text of each value."""

    class Machine(RuleBasedStateMachine):
        @rule(value=strategy)
        def take(self, value: Any) -> None:
            raise ValueError(shown(value))

    Machine.__name__ = Machine.__qualname__ = f"Of_{name}"
    return Machine


globals().update({f"Of_{name}": machine_of(name, strategy) for name, strategy in STRATEGIES.items()})


class Bundles(RuleBasedStateMachine):
    things: Bundle[Any] = Bundle("things")
    others: Bundle[Any] = Bundle("other things")

    @initialize(target=things)
    def first(self) -> Any:
        return Opaque(0)

    @rule(targets=(things, others), number=st.integers(0, 3))
    def make(self, number: int) -> Any:
        return multiple(*(Opaque(number) for _ in range(number)))

    @rule(target=things, one=consumes(things), others=st.lists(others, max_size=3))
    def join(self, one: Any, others: list[Any]) -> Any:
        if len(others) > 1:
            raise ValueError(shown([one, others]))
        return Opaque(one)


class Nested(RuleBasedStateMachine):
    things: Bundle[Any] = Bundle("things")

    @rule(target=things, number=st.integers())
    def make(self, number: int) -> Any:
        return Opaque(number)

    @rule(pair=st.tuples(things, st.integers()), machine=st.runner())
    def use(self, pair: Any, machine: Any) -> None:
        raise ValueError(shown(pair), machine is self)


class Data(RuleBasedStateMachine):
    @rule(data=st.data(), size=st.integers(0, 3), other=st.builds(Opaque))
    def ask(self, data: Any, size: int, other: Any) -> None:
        drawn = [data.draw(st.builds(Opaque, st.text())), data.draw(st.lists(st.floats(), min_size=size))]
        raise ValueError(shown([drawn, other]))


class Called(RuleBasedStateMachine):
    @rule(function=st.functions(like=twice, returns=st.integers(), pure=True), chance=st.randoms(use_true_random=False))
    def call(self, function: Any, chance: random.Random) -> None:
        raise ValueError(function(3), function(4), chance.random(), chance.randint(0, 100))


class Coroutines(RuleBasedStateMachine):
    @rule(number=st.integers())  # type: ignore[arg-type]
    async def start(self, number: int) -> None:
        async def work() -> None:
            await asyncio.sleep(0)
            self.seen = number

        self.task = asyncio.create_task(work())

    @precondition(lambda self: hasattr(self, "task"))
    @rule()  # type: ignore[arg-type]
    async def finish(self) -> None:
        await self.task
        raise ValueError(self.seen)


class ChaosCoroutines(ChaosTest):
    @rule(number=st.integers())  # type: ignore[arg-type]
    async def go(self, number: int) -> None:
        await asyncio.sleep(0)
        raise KeyError(number)


class Faults(ChaosTest):
    faults: ClassVar[list[Fault]] = switches("one(a)", "two 'b'")

    @rule(colour=st.sampled_from(Colour))
    def go(self, colour: Colour) -> None:
        if self.active_faults:
            raise OSError(colour, [fault.name for fault in self.active_faults])


class Invariants(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    @rule(by=st.integers(1, 9))
    def add(self, by: int) -> None:
        self.total += by

    @invariant()
    def stays_small(self) -> None:
        assert self.total < 12, self.total


class Teardown(RuleBasedStateMachine):
    @rule(level=st.sampled_from(Level))
    def go(self, level: Level) -> None:
        self.level = level

    def teardown(self) -> None:
        if hasattr(self, "level"):
            raise RuntimeError(self.level)


class Constructor(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        raise LookupError("made")

    @rule()
    def go(self) -> None: ...


class Chance(RuleBasedStateMachine):
    @rule(number=st.integers(0, 3))
    def go(self, number: int) -> None:
        raise ValueError(number, random.random())


class Named(RuleBasedStateMachine):
    def _made(self, colour: Colour, state: Any) -> None:
        raise ValueError(colour, state)

    another_name = rule(colour=st.sampled_from(Colour), state=st.integers())(_made)


class Mangled(RuleBasedStateMachine):
    @rule(value=st.builds(Plain, st.integers()))
    def __go(self, value: Any) -> None:
        raise ValueError(shown(value))


class Whole:
    class Inside(RuleBasedStateMachine):
        @rule(value=st.builds(Point, st.floats(allow_nan=False)))
        def go(self, value: Point) -> None:
            raise ValueError(value)


class Changed(RuleBasedStateMachine):
    """A rule changes what it is given before it fails."""

    @rule(values=st.lists(st.integers(), min_size=2), table=st.dictionaries(st.text(), st.integers()))
    def go(self, values: list[int], table: dict[str, int]) -> None:
        before = shown([values, table])
        values.clear()
        table["x"] = 1
        raise ValueError(before)


class Several(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []

    @initialize(zone=st.timezones())
    def begin(self, zone: Any) -> None:
        self.seen.append(zone)

    @rule(value=st.one_of(list(_BASES.values())[:30]))
    def take(self, value: Any) -> None:
        self.seen.append(value)
        if len(self.seen) > 3:
            raise ValueError(shown(self.seen))


class Caused(RuleBasedStateMachine):
    @rule(text=st.text())
    def go(self, text: str) -> None:
        try:
            dict[str, int]()[text]
        except KeyError as error:
            raise ValueError(text) from error


class Noted(RuleBasedStateMachine):
    @rule(number=st.integers())
    def go(self, number: int) -> None:
        note("a remark")
        event("an event")
        target(float(number % 7))
        raise ValueError(number)


class Hostile(RuleBasedStateMachine):
    things: Bundle[Any] = Bundle("things")

    @rule(target=things)
    def make(self) -> Any:
        return Odd()

    @rule(thing=things, other=st.builds(Odd))
    def use(self, thing: Any, other: Any) -> None:
        raise ValueError(type(thing).__name__, type(other).__name__)


class Asserted(RuleBasedStateMachine):
    @rule(value=st.sampled_from(Rights))
    def go(self, value: Rights) -> None:
        assert value is None, f"{value}"


class Shared(RuleBasedStateMachine):
    @rule(one=st.shared(st.builds(Opaque, st.integers()), key="x"), two=st.shared(st.builds(Opaque), key="y"))
    def go(self, one: Any, two: Any) -> None:
        raise ValueError(shown([one, two]))


def refused(number: int) -> int:
    if number % 2:
        raise ValueError(number)
    return number


class Undrawn(RuleBasedStateMachine):
    @rule(number=st.integers(0, 9).map(refused))
    def go(self, number: int) -> None: ...


MACHINES: dict[str, Callable[..., Any]] = {
    each.__qualname__: each
    for each in (
        *(Bundles, Nested, Data, Called, Coroutines, ChaosCoroutines, Faults, Invariants, Teardown, Constructor),
        *(Chance, Named, Mangled, Whole.Inside, Changed, Several, Caused, Asserted, Shared),
        *(Noted, Hostile, Undrawn),
    )
}
