"""Attributes that copies get: where the interpreter keeps those of objects that a class makes, and under any name."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest

from ordeal._native import deep_copy, store_attributes


class Plain:
    def __init__(self) -> None:
        self.first = 1
        self.second = [2]


class Guarded:
    """Refuses all attributes, and has a property that no value may reach."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AssertionError(f"{name} was set")

    @property
    def size(self) -> int:
        return 7

    @size.setter
    def size(self, value: int) -> None:
        raise AssertionError(f"{value} was set")


def copied_by_storing(original: Any) -> Any:
    made = object.__new__(type(original))
    store_attributes(made, vars(original))
    return made


def copied_by_graph(original: Any) -> Any:
    return deep_copy(original, {})


@pytest.fixture(params=[copied_by_storing, copied_by_graph])
def copied(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """The two ways in which an object gets the attributes of another."""
    made: Callable[[Any], Any] = request.param
    return made


def test_a_copy_keeps_its_attributes_where_its_class_would(copied: Callable[[Any], Any]) -> None:
    made = copied(Plain())
    assert not any(isinstance(held, dict) for held in gc.get_referents(made)), "code is slow with those that do"
    assert vars(made) == {"first": 1, "second": [2]}


def test_what_the_class_catches_goes_to_the_instance_all_the_same(copied: Callable[[Any], Any]) -> None:
    original = Guarded()
    vars(original).update({"size": 3, "other": 4})
    made = copied(original)
    assert vars(made) == {"size": 3, "other": 4}
    assert made.size == 7


def test_names_may_be_anything(copied: Callable[[Any], Any]) -> None:
    class Name(str):
        __slots__ = ()

    names: dict[Any, str] = {1: "a", None: "b", Name("own"): "c", "two words": "d", "": "e"}
    original = Plain()
    vars(original).update(names)
    made = copied(original)
    assert list(vars(made).items()) == [("first", 1), ("second", [2]), *names.items()]


def test_an_object_without_attributes_refuses_them() -> None:
    with pytest.raises(AttributeError, match="attribute"):
        store_attributes(object(), {"name": 1})
