"""Copies of object graphs: what copy.deepcopy gives, in every shape, with the same errors and hooks."""

from __future__ import annotations

import array
import collections
import copy
import copyreg
import csv
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import hashlib
import pathlib
import random
import re
import struct
import sys
import threading
import types
import uuid
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ordeal._native import deep_copy


class Plain:
    def __init__(self, *parts: Any) -> None:
        self.parts = list(parts)
        self.first = parts[0] if parts else None

    def total(self) -> int:
        return len(self.parts)


class Slotted:
    __slots__ = ("__weakref__", "_hidden", "left", "right")

    def __init__(self, left: Any, right: Any = None) -> None:
        self.left, self._hidden = left, [left]
        if right is not None:
            self.right = right


class SlottedChild(Slotted):
    __slots__ = ("__own",)

    def __init__(self, left: Any) -> None:
        super().__init__(left)
        self.__own = {left: left}


class SlottedWithAttributes(Slotted):
    pass


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    x: Any


class Pair(NamedTuple):
    left: Any
    right: Any


class Colour(enum.Enum):
    RED = "red"


class Numbers(list[Any]):
    tag: Any = None


class Table(dict[Any, Any]):
    pass


class Text(str):
    note: Any


class Hooked:
    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.copies = 0

    def __deepcopy__(self, memo: dict[int, Any]) -> Hooked:
        made = Hooked(None)
        memo[id(self)] = made
        made.inner = copy.deepcopy(self.inner, memo)
        made.copies = self.copies + 1
        return made


class Reduced:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __reduce__(self) -> Any:
        return Reduced, (self.inner,)


class Stateful:
    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.cache = ["of the original"]

    def __getstate__(self) -> dict[str, Any]:
        return {"inner": self.inner}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.inner = state["inner"]
        self.cache = ["made anew"]


class WithNew:
    def __new__(cls, *_: Any) -> WithNew:
        made = super().__new__(cls)
        made.born = True
        return made

    born: bool

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getnewargs__(self) -> Any:
        return (self.inner,)


class Delegating:
    """Answers every name that it does not have with that of what it stands for."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.inner, name)


class Guarded:
    def __init__(self, inner: Any) -> None:
        self.__dict__["inner"] = inner

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} is read-only")


class Listed:
    """Made in parts that copyreg knows of."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner


copyreg.pickle(Listed, lambda listed: (Listed, (listed.inner,)))


def shape(value: Any, seen: dict[int, int] | None = None) -> Any:
    """What ``value`` is made of, with a number for what was seen before: equal for graphs that are alike."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, bool | int | float | bytes | enum.Enum | type | types.FunctionType):
        return repr(value)
    if id(value) in seen:
        return seen[id(value)]
    if type(value) is not tuple or value:
        seen[id(value)] = len(seen)
    parts: list[Any] = [type(value).__qualname__]
    if isinstance(value, str | re.Pattern | decimal.Decimal | datetime.date | pathlib.PurePath | uuid.UUID):
        parts.append(str(value))
    elif isinstance(value, types.MethodType):
        parts += [value.__func__.__qualname__, shape(value.__self__, seen)]
    elif isinstance(value, dict):
        parts += [(shape(k, seen), shape(v, seen)) for k, v in value.items()]
    elif isinstance(value, set | frozenset):
        parts += sorted(str(shape(item, {})) for item in value)
    elif isinstance(value, list | tuple | collections.deque | array.array):
        parts += [shape(item, seen) for item in value]
    for name in ("maxlen", "default_factory"):
        parts.append(repr(getattr(value, name, None)) if type(value).__module__ == "collections" else None)
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        parts += [(each, shape(_slot(value, base, each), seen)) for each in slots if each != "__weakref__"]
    parts += [(name, shape(member, seen)) for name, member in getattr(value, "__dict__", {}).items()]
    return parts


def _slot(value: Any, base: type, name: str) -> Any:
    private = name.startswith("__") and not name.endswith("__")
    return getattr(value, f"_{base.__name__}{name}" if private else name, "nothing")


def shared() -> Any:
    one: list[Any] = [1]
    return {"a": one, "b": (one, [one]), "c": Point(one, one), "d": Hooked(one), "e": Slotted(one), "f": Reduced(one)}


def circular() -> Any:
    one = Plain()
    one.parts.append(one)
    two: list[Any] = [one]
    two.append((two, {"self": two}))
    slotted = Slotted(1)
    slotted.left = [slotted]
    hooked = Hooked(two)
    two.append(hooked)
    return [one, two, slotted, hooked, collections.deque([two])]


def circular_tuple() -> Any:
    inner: list[Any] = []
    outer = (inner, 1)
    inner.append(outer)
    return outer


def odd_instance() -> Any:
    value = Plain([1])
    value.__dict__["__deepcopy__"] = lambda memo: ["by the instance", len(memo) >= 0]
    return value


def tagged() -> Any:
    numbers = Numbers([[1], 2])
    numbers.tag = [numbers]
    text = Text("a")
    text.note = [text]
    ordered = collections.OrderedDict(b=[1], a=[2])
    ordered.move_to_end("b")
    return [numbers, text, ordered, Table(a=[1])]


VALUES: list[Callable[[], Any]] = [
    lambda: [None, True, 1, 1.5, "text", b"bytes", 1j, range(3), ..., NotImplemented, len, int, shape],
    lambda: [[1, [2, "3"]], (1, (2, 3)), (1, [2]), {"a": {"b": [1]}, (1, 2): {3}}, {1, "2"}, frozenset([1])],
    lambda: [bytearray(b"abc"), array.array("i", [1, 2]), collections.deque([[1], 2], maxlen=5), tagged()],
    lambda: [collections.defaultdict(list, {1: [2]}), collections.Counter("abca"), collections.ChainMap({"a": [1]})],
    lambda: [{Pair(1, 2), Pair(3, 4)}, frozenset([Frozen(1), (1, 2)]), {Frozen(2): [Frozen(3)]}],
    lambda: [Plain(1, [2]), Plain(), Point(1), Frozen([1]), Pair([1], 2), Colour.RED, types.SimpleNamespace(a=[1])],
    lambda: [Slotted(1), Slotted([1], [2]), SlottedChild(3), SlottedWithAttributes(4)],
    lambda: [Reduced([1]), Stateful([1]), WithNew([1]), Delegating([1]), Guarded([1]), Listed([1]), Hooked([1])],
    lambda: [decimal.Decimal("1.5"), fractions.Fraction(1, 3), datetime.date(2020, 1, 2), uuid.UUID(int=5)],
    lambda: [datetime.datetime(2020, 1, 2, tzinfo=datetime.UTC), datetime.timedelta(1), pathlib.PurePath("a/b")],
    lambda: [re.compile("a+"), functools.partial(max, [1], key=len), [1].append, Plain([2]).total, iter([1, 2])],
    lambda: [ValueError("text", [1]), property(len), staticmethod(len)],
    shared,
    circular,
    circular_tuple,
    odd_instance,
]


@pytest.mark.parametrize("make", VALUES, ids=range(len(VALUES)))
def test_copies_are_those_of_the_copy_module(make: Callable[[], Any]) -> None:
    value = make()
    try:
        expected = shape(copy.deepcopy(value))
    except TypeError as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            deep_copy(value, {})
    else:
        before = shape(value)
        assert shape(deep_copy(value, {})) == expected
        assert shape(value) == before


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """A graph of objects of many types that hold each other at random."""
    nodes: list[Any] = [draw(st.sampled_from([1, "a", None, (), 2.5])) for _ in range(3)]
    kinds: list[Callable[[list[Any]], Any]] = [
        list, tuple, collections.deque, lambda parts: dict(enumerate(parts)), lambda parts: Plain(*parts),
        lambda parts: Point(*parts[:2]), lambda parts: Slotted(parts[0], parts),
        draw(st.sampled_from([Hooked, Reduced])), Numbers, Stateful,  # not both: a hook copies as Python does
        lambda parts: collections.OrderedDict(enumerate(parts)), lambda parts: SlottedWithAttributes(parts[0]),
    ]  # fmt: skip
    places = st.integers(0, 10**6)
    for _ in range(draw(st.integers(1, 25))):
        parts = [nodes[draw(places) % len(nodes)] for _ in range(draw(st.integers(2, 3)))]
        nodes.append(draw(st.sampled_from(kinds))(parts))
    lists = [node for node in nodes if isinstance(node, list)]
    for each in lists[:3]:
        each.append(nodes[draw(places) % len(nodes)])
    return nodes


@dataclasses.dataclass(frozen=True)
class Colliding:
    """One of many with the same hash modulo eight, and equal to none but its like."""

    number: int
    parts: tuple[list[int], ...] = dataclasses.field(default=(), compare=False)

    def __hash__(self) -> int:
        return self.number * 8


@st.composite
def sets_with_a_past(draw: st.DrawFn) -> set[Any]:
    """A set that elements were put into and taken out of, so that its order is its own."""
    elements = st.integers(-3, 40) | st.integers(0, 40).map(lambda n: Colliding(n, ([n],))) | st.sampled_from("abc")
    past: set[Any] = set()
    for element, put in draw(st.lists(st.tuples(elements, st.booleans()), max_size=60)):
        (past.add if put else past.discard)(element)
    return past


@settings(max_examples=300, deadline=None)
@given(sets_with_a_past(), st.lists(st.none() | st.integers(-3, 200), max_size=20))
def test_sets_keep_their_order_and_that_of_what_comes(original: set[Any], to_come: list[int | None]) -> None:
    copied = deep_copy(original, {})
    assert list(copied) == list(original)
    frozen = frozenset(original)
    assert list(deep_copy(frozen, {})) == list(frozen)
    assert hash(deep_copy(frozen, {})) == hash(frozen)
    assert all(a is not b for a, b in zip(original, copied, strict=True) if isinstance(a, Colliding))
    for element in to_come:
        if element is not None:
            original.add(element)
            copied.add(element)
        elif original:
            assert original.pop() == copied.pop()
        assert list(copied) == list(original)


def test_a_set_that_leads_back_to_itself_is_copied_once() -> None:
    node = Plain()
    parts: set[Any] = {node, 1}
    node.first = parts
    copied = deep_copy(parts, {})
    (again,) = (each for each in copied if each != 1)
    assert again is not node
    assert again.first is copied


def copied_by_attributes(graph: Any) -> Any:
    """Copy as Python does, with no object made anew by calling its class: one that leads back to itself becomes two."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(Reduced, "__reduce__")
        return copy.deepcopy(graph)


@settings(max_examples=150, deadline=None)
@given(graphs())
def test_any_graph_keeps_its_shape(graph: Any) -> None:
    assert shape(deep_copy(graph, {})) == shape(copied_by_attributes(graph))


def test_what_leads_back_to_itself_by_what_its_class_is_called_with_stays_one() -> None:
    turning = Reduced([])
    turning.inner.append([turning])
    assert shape(deep_copy([turning], {})) == shape([turning]) != shape(copy.deepcopy([turning]))


def test_nothing_that_can_change_is_shared_with_the_original() -> None:
    value: list[Any] = [Plain([1]), Slotted([1]), {"a": [1]}, collections.deque([[1]]), bytearray(b"a"), {1}]
    copied = deep_copy(value, {})
    assert all(mine is not theirs for mine, theirs in zip(value, copied, strict=True))
    copied[0].parts[0].append(2)
    copied[1].left.append(2)
    copied[2]["a"].append(2)
    assert (value[0].parts, value[1].left, value[2]) == ([[1]], [1], {"a": [1]})


def test_the_memo_says_what_stands_for_an_object() -> None:
    engine, replacement = Plain(1), object()
    copied = deep_copy({"engine": engine, "parts": [engine]}, {id(engine): replacement})
    assert copied == {"engine": replacement, "parts": [replacement]}


def test_a_hook_sees_what_was_copied_before_and_what_it_adds_is_known() -> None:
    seen: list[Any] = []
    inner, made = [1], [2]

    class Curious:
        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            seen.append(memo[id(inner)])
            memo[id(late)] = made
            return self

    late: list[Any] = []
    copied = deep_copy([inner, Curious(), late, late], {})
    assert seen == [copied[0]]
    assert seen[0] is copied[0] is not inner
    assert copied[2] is copied[3] is made


def test_weak_references_are_kept_as_they_are() -> None:
    value = Slotted(1)
    reference = weakref.ref(value)
    assert deep_copy([reference], {}) == [reference]


@pytest.mark.parametrize(
    "make",
    [
        lambda: (n for n in [1]),
        lambda: [Plain(n for n in [1])],
        # Classes made in C that take object's __new__, or none: a copy without what they keep would crash.
        hashlib.sha256,
        functools.partial(csv.reader, []),
        functools.partial(struct.iter_unpack, "b", b"12"),
    ],
)
def test_what_cannot_be_copied_says_so(make: Callable[[], Any]) -> None:
    value = make()
    with pytest.raises(TypeError) as expected:
        copy.deepcopy(value)
    with pytest.raises(TypeError, match=re.escape(str(expected.value))):
        deep_copy(value, {})


def test_what_a_hook_raises_comes_through() -> None:
    class Failing:
        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            raise LookupError("not this one")

    with pytest.raises(LookupError, match="not this one"):
        deep_copy({"a": [Failing()]}, {})


def test_a_hook_that_changes_what_is_copied_does_no_harm() -> None:
    class Emptying:
        def __init__(self, of: Any) -> None:
            self.of = of

        def __deepcopy__(self, memo: dict[int, Any]) -> Any:
            self.of.clear()
            return self

    items: list[Any] = []
    items += [Emptying(items), [1], [2]]
    assert len(deep_copy(items, {})) == 1
    table: dict[Any, Any] = {}
    table.update(a=Emptying(table), b=[1])
    with pytest.raises(RuntimeError, match="changed size"):
        deep_copy(table, {})


class Reducing:
    """Is copied by what it says of itself."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __reduce__(self) -> Any:
        return Reducing, (self.inner,)


class CopyingOn:
    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __deepcopy__(self, memo: dict[int, Any]) -> CopyingOn:
        return CopyingOn(copy.deepcopy(self.inner, memo))


LAYERS: list[Callable[[Any], Any]] = [
    lambda inner: [inner],
    lambda inner: [0, "a", inner, 1],
    lambda inner: (inner,),
    lambda inner: {"key": inner},
    lambda inner: collections.deque([inner]),
    lambda inner: collections.OrderedDict(key=inner),
    lambda inner: collections.defaultdict(list, key=inner),
    Plain,
    Slotted,
    lambda inner: Point(1, inner),
    lambda inner: Pair(inner, 0),
    Reducing,
    lambda inner: functools.partial(print, inner),
    lambda inner: types.SimpleNamespace(inner=inner),
]


def raised_here(value: Any) -> type[Exception] | None:
    """What copying raises."""
    try:
        deep_copy(value, {})
    except Exception as error:  # noqa: BLE001 - whatever it is, it is looked at
        return type(error)
    return None


def raised_in_a_thread(value: Any, stack_bytes: int) -> type[Exception] | None:
    """What copying raises in a thread with so much stack."""
    raised: list[type[Exception] | None] = []
    before = threading.stack_size(stack_bytes)
    try:
        thread = threading.Thread(target=lambda: raised.append(raised_here(value)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    return raised[0]


def raised_by(layers: list[Callable[[Any], Any]], depth: int, *stacks_bytes: int) -> list[type[Exception] | None]:
    """What copying a structure so deep raises here, and in threads with so much stack."""
    parts: list[Any] = [[]]
    for at in range(depth):
        parts.append(layers[at % len(layers)](parts[-1]))
    raised = [raised_here(parts[-1]), *(raised_in_a_thread(parts[-1], each) for each in stacks_bytes)]
    # From outside: freed as a whole, it has CPython go as deep on the stack of C.
    while parts:
        parts.pop()
    return raised


DEPTHS = [12_000, pytest.param(100_000, marks=pytest.mark.nightly), pytest.param(1_000_000, marks=pytest.mark.nightly)]


@pytest.mark.parametrize("depth", DEPTHS)
def test_structures_deeper_than_the_stack_are_an_error_and_no_crash(depth: int) -> None:
    chosen = random.Random(depth)
    graphs = [[layer] for layer in LAYERS] if depth == 100_000 else [LAYERS[:1], LAYERS[10:11], LAYERS[11:12]]
    for layers in [*graphs, chosen.choices(LAYERS, k=7)]:
        here, *in_threads = raised_by(layers, depth, 1 << 20, 1 << 18)
        assert in_threads == [RecursionError] * 2
        # CPython 3.14 asks how much stack is left, and the main thread has room for lists in this depth.
        assert here is RecursionError or (here is None and depth == 12_000 and sys.version_info >= (3, 14))


class Chunks(list[Any]):
    """Keeps its values in lists of its own, and tells of them as if they were its items."""

    def __init__(self) -> None:
        super().__init__()
        self.chunks: list[list[Any]] = [[]]

    def append(self, value: Any) -> None:
        self.chunks[-1].append(value)

    def __iter__(self) -> Any:
        return (value for chunk in self.chunks for value in chunk)

    def __len__(self) -> int:
        return sum(map(len, self.chunks))


class Counted(dict[Any, Any]):
    """Counts what is stored in it."""

    stored = 0

    def __setitem__(self, key: Any, value: Any) -> None:
        self.stored += 1
        super().__setitem__(key, value)


def test_methods_that_add_are_not_asked_to_copy() -> None:
    # copy.deepcopy adds each item through them, and so again.
    chunks = Chunks()
    chunks.append([1])
    copied = deep_copy(chunks, {})
    assert type(copied) is Chunks
    assert list(copied) == [[1]]
    assert copied.chunks[0][0] is not chunks.chunks[0][0]
    counted = Counted()
    counted["a"] = counted
    again = deep_copy(counted, {})
    assert again.stored == 1
    assert again["a"] is again
