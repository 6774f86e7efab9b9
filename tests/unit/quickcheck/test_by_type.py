"""Strategies by type: each value is of its type, also of recursive and generic ones."""

from __future__ import annotations

import enum
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, Literal, NewType, TypeVar

import pytest
from hypothesis import given, settings

from ordeal.quickcheck import strategy_for_type

from .draws import found

pytestmark = pytest.mark.slow


UserId = NewType("UserId", int)


type Row = tuple[int, str]


type Json = int | list[Json] | dict[str, Json]


type Chain[Item] = tuple[Item, Chain[Item]] | None


Value = TypeVar("Value")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclass
class Tree:
    value: int
    label: str = "x"
    children: list[Tree] = field(default_factory=list)
    size: int = field(default=0, init=False)


@dataclass
class Box[Item]:
    item: Item
    more: list[Item]
    inner: Box[Item] | None


@dataclass
class OldBox(Generic[Value]):  # noqa: UP046 - the older way to write it
    item: dict[str, Value]
    box: Box[Value]


def is_json(value: Any) -> bool:
    inner = value.values() if type(value) is dict else value if type(value) is list else []
    return type(value) in (int, list, dict) and all(map(is_json, inner))


def is_chain(value: Any) -> bool:
    return value is None or (type(value[0]) is int and is_chain(value[1]))


def is_box(kind: type, value: Any) -> bool:
    items = [value.item, *value.more]
    return type(value) is Box and all(type(i) is kind for i in items) and (not value.inner or is_box(kind, value.inner))


def is_tree(value: Any) -> bool:
    return type(value) is Tree and value.size == 0 and all(map(is_tree, value.children))


@pytest.mark.parametrize(
    ("tp", "is_one"),
    [
        (int, lambda v: type(v) is int),
        (bool, lambda v: type(v) is bool),
        (float, lambda v: type(v) is float and math.isfinite(v)),
        (str, lambda v: type(v) is str),
        (bytes, lambda v: type(v) is bytes),
        (None, lambda v: v is None),
        (Any, lambda v: True),
        (list, lambda v: type(v) is list),
        (list[int], lambda v: type(v) is list and all(type(i) is int for i in v)),
        (tuple[int, str], lambda v: type(v) is tuple and [type(i) for i in v] == [int, str]),
        (tuple[int, ...], lambda v: type(v) is tuple and all(type(i) is int for i in v)),
        (tuple[()], lambda v: v == ()),
        (set[int], lambda v: type(v) is set),
        (frozenset[str], lambda v: type(v) is frozenset),
        (dict[str, list[int]], lambda v: type(v) is dict and all(type(i) is list for i in v.values())),
        (int | None, lambda v: v is None or type(v) is int),
        (Literal["a", 1], lambda v: v in ("a", 1)),
        (UserId, lambda v: type(v) is int),
        (Row, lambda v: type(v) is tuple and len(v) == 2),
        (Colour, lambda v: isinstance(v, Colour)),
        (complex, lambda v: type(v) is complex),
        (Tree, is_tree),
        (list[list[list[int]]], lambda v: type(v) is list),
        (Json, is_json),
        (Chain[int], is_chain),
        (Box[str], partial(is_box, str)),
        (Box[Box[int]], lambda v: is_box(int, v.item)),
        (OldBox[int], lambda v: is_box(int, v.box) and all(type(i) is int for i in v.item.values())),
        (tuple[int, *tuple[str, ...]], lambda v: [type(i) for i in v] == [int, *[str] * (len(v) - 1)]),
        (dict[Any, int], lambda v: all(type(i) is int for i in v.values())),
    ],
)
def test_values_are_of_the_type(tp: Any, is_one: Callable[[Any], bool]) -> None:
    @given(value=strategy_for_type(tp))
    @settings(max_examples=60, database=None, derandomize=True)
    def check(value: Any) -> None:
        assert is_one(value)

    check()


def test_every_member_of_a_literal_comes() -> None:
    for member in ("a", 1, None):
        assert found(strategy_for_type(Literal["a", 1, None]), partial(operator.eq, member)) == member


def test_recursive_types_nest() -> None:
    assert found(strategy_for_type(Tree), lambda tree: any(child.children for child in tree.children))
    assert found(strategy_for_type(Json), lambda value: type(value) is list and [] in value)
    assert found(strategy_for_type(Chain[int]), lambda value: value and value[1] and value[1][1])


@pytest.mark.parametrize("tp", [list, tuple, set, frozenset, dict, tuple[int, *tuple[str, ...]]], ids=repr)
def test_collections_without_their_items_types_have_items(tp: Any) -> None:
    assert found(strategy_for_type(tp), lambda value: len(value) > 1)
