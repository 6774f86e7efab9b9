"""Weak references in a copy lead to the copies of what they led to, and only where that is a part of what is copied."""

from __future__ import annotations

import copy
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from ordeal._native import deep_copy


class Node:
    def __init__(self, *children: Node) -> None:
        self.parent: Any = None
        self.children = list(children)
        for child in children:
            child.parent = weakref.ref(self)


def test_children_know_the_copy_of_their_parent() -> None:
    tree = Node(Node(Node()), Node())
    copied = deep_copy(tree, {})
    assert copied is not tree
    for parent in (copied, copied.children[0]):
        assert all(child.parent() is parent for child in parent.children)
    del tree
    gc.collect()
    assert copied.children[1].parent() is copied


@pytest.mark.parametrize("place", [0, 1], ids=["before its target", "after it"])
@pytest.mark.parametrize("make", [weakref.ref, weakref.proxy])
def test_it_does_not_matter_where_it_is_met(make: Callable[[Any], Any], place: int) -> None:
    node = Node()
    node.parent = 7
    parts: list[Any] = [node]
    parts.insert(place, make(node))
    copied = deep_copy(parts, {})
    reference, target = copied[place], copied[1 - place]
    assert type(reference) is type(parts[place])
    target.parent = 8
    assert (reference if make is weakref.proxy else reference()).parent == 8
    assert node.parent == 7


def test_what_is_no_part_is_still_referred_to() -> None:
    node, gone = Node(), Node()
    weak, dead = weakref.ref(node), weakref.ref(gone)
    del gone
    copied: list[Any] = deep_copy([weak, dead, weakref.ref(Node), weakref.ref(len)], {})
    assert copied[0] is weak
    assert copied[1] is dead
    assert [each() for each in copied[2:]] == [Node, len]


def test_callbacks_are_those_of_the_copy() -> None:
    class Registry:
        def __init__(self) -> None:
            self.gone: list[str] = []
            self.items = {"a": Node()}
            self.watched = [weakref.ref(self.items["a"], self.note)]

        def note(self, _reference: object) -> None:
            self.gone.append("a")

    registry = Registry()
    copied = deep_copy(registry, {})
    assert copied.watched[0]() is copied.items["a"]
    del copied.items["a"]
    assert (registry.gone, copied.gone) == ([], ["a"])


@pytest.mark.parametrize("first", [True, False])
def test_sets_and_dictionaries_of_weak_references(first: bool) -> None:
    inside, outside = Node(), Node()
    holders: list[Any] = [
        weakref.WeakSet([inside, outside]),
        weakref.WeakValueDictionary({"in": inside, "out": outside}),
        weakref.WeakKeyDictionary({inside: [1], outside: [2]}),
    ]
    copied: Any = deep_copy([holders, inside] if first else [inside, holders], {})
    (known, by_name, by_node), node = copied if first else copied[::-1]
    assert node is not inside
    assert set(known) == {node, outside}
    assert dict(by_name) == {"in": node, "out": outside}
    assert dict(by_node.items()) == {node: [1], outside: [2]}
    assert by_node[node] is not holders[2][inside]
    del copied, node
    gc.collect()
    assert set(known) == {outside}
    assert set(by_name) == {"out"}


def test_it_is_refused_where_a_hook_has_seen_copies_already() -> None:
    class Hooked:
        def __deepcopy__(self, memo: dict[int, Any]) -> Hooked:
            return Hooked()

    node = Node()
    with pytest.raises(copy.Error, match="a weak reference that is not copied leads to an object of type"):
        deep_copy([weakref.ref(node), Hooked(), node], {})
    copied: list[Any] = deep_copy([node, weakref.ref(node), Hooked()], {})
    assert copied[1]() is copied[0] is not node
