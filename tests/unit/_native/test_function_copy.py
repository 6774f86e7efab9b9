"""Copies of functions: what closes over a copied object follows the copy, and all else stays what it is."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from ordeal._native import deep_copy


class Subscribed:
    """Has callbacks that lead back to it, each in another way."""

    def __init__(self) -> None:
        self.heard: list[int] = []
        heard, count = self.heard, 0
        self.before: list[Any] = [self.heard.append, lambda value, listener=self: listener.hear(value)]

        def counting(value: int) -> int:
            nonlocal count
            count += value
            self.hear(value)
            return count

        def recursive(value: int, *, listener: Subscribed = self) -> None:
            if value:
                recursive(value - 1)
            else:
                listener.hear(value)

        self.counting, self.recursive = counting, recursive
        self.local: Any = lambda value: [*map(heard.append, [value])]
        counting.label = ["kept", self]  # type: ignore[attr-defined]

    def hear(self, value: int) -> None:
        self.heard.append(value)


def test_a_function_that_closes_over_what_is_copied_closes_over_the_copy() -> None:
    original = Subscribed()
    original.counting(1)
    copied: Any = deep_copy(original, {})
    for call in (*copied.before, copied.recursive, copied.local):
        call(0)
    assert copied.counting(5) == 6
    assert original.counting(1) == 2, "what both count in is a cell of their own"
    assert copied.heard == [1, 0, 0, 0, 0, 5]
    assert original.heard == [1, 1]
    assert copied.counting.label[1] is copied
    assert (copied.counting.__qualname__, copied.counting.__module__) == (original.counting.__qualname__, __name__)


class Timer:
    """As that of caches whose items end: it says how it is copied, and has what it was given copied."""

    def __init__(self, *functions: Any) -> None:
        self.now, self.note = functions

    def __deepcopy__(self, memo: dict[int, Any]) -> Timer:
        return Timer(copy.deepcopy(self.now, memo), copy.deepcopy(self.note, memo))


def test_a_function_follows_a_copy_that_a_hook_has_made() -> None:
    class Cache:
        def __init__(self) -> None:
            self.at = 1
            self.notes: list[int] = []
            self.timer = Timer(lambda: self.at, self.notes.append)

    original = Cache()
    copied = deep_copy(original, {})
    copied.at = 5
    copied.timer.note(2)
    assert (copied.timer.now(), original.timer.now()) == (5, 1)
    assert (copied.notes, original.notes) == ([2], [])
    by_itself = deep_copy(original.timer, {})
    assert by_itself.now is original.timer.now


def test_two_functions_go_on_sharing_a_cell() -> None:
    class Counter:
        def __init__(self) -> None:
            count = 0

            def up() -> None:
                nonlocal count
                count += 1
                self.seen.append(count)

            self.seen: list[int] = []
            self.up = up
            self.read: Callable[[], int] = lambda: (self, count)[1]

    original = Counter()
    original.up()
    copied = deep_copy(original, {})
    copied.up()
    assert (copied.read(), original.read()) == (2, 1)
    assert copied.up is not original.up


def test_a_function_that_holds_nothing_of_the_copy_stays_what_it_is() -> None:
    registry: dict[str, int] = {}

    def register(name: str, sizes: list[int] | None = None) -> None:
        registry[name] = len(sizes or [])

    copied: Any = deep_copy([register, {"of": register}], {})
    assert copied[0] is register
    assert copied[1]["of"] is register


@pytest.mark.parametrize("met_before", [lambda shared: lambda: shared, lambda shared: shared.append])
def test_a_function_met_before_what_it_holds_on_to_cannot_be_copied(met_before: Callable[[Any], Any]) -> None:
    shared: list[int] = []
    with pytest.raises(copy.Error, match="a function that is not copied holds on to an object of type <class 'list'>"):
        deep_copy([met_before(shared), shared], {})
