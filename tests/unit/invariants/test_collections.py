"""Invariants on collections: each holds, fails, and meets what is not a collection."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ordeal.errors import ConfigError
from ordeal.invariants import Invariant, monotonic, non_empty, unique

from .violations import each, violation

NAN = math.nan


HOLD: list[tuple[Invariant, Any]] = [
    *each(monotonic(), [], [1], [1, 1, 2], "abc", np.array([1.0, 2.0]), iter([1, 2])),
    (monotonic(strict=True), [1, 2, 3]),
    *each(unique(), [], [1, 2], [[1], [2]], "abc", np.array([[1, 2], [2, 1]]), [(1, [2]), (1, [3])]),
    (unique(key=len), ["a", "bb"]),
    *each(non_empty(), [0], "a", {"a": 1}, np.zeros(1)),
]


VIOLATED: list[tuple[Invariant, Any, str]] = [
    (monotonic(), [1, 3, 2], "value[2], 2, is below the item before it, 3"),
    (monotonic(), [1, NAN], "value[1], nan, is not comparable with the item before it, 1"),
    (monotonic(strict=True), [1, 1], "value[1], 1, is not above the item before it, 1"),
    (monotonic(), [1, "a"], "value[1], 'a', cannot be ordered after 1"),
    (monotonic(), 5, "5 is of type int, which is not a collection"),
    (unique(), [1, 2, 1], "value[2] repeats value[0]: 1"),
    (unique(), [[1], [2], [1]], "value[2] repeats value[0]: [1]"),
    (unique(key=len), ["a", "b"], "value[1] repeats value[0]: 1 of 'b'"),
    (unique(), None, "None is of type NoneType, which is not a collection"),
    (non_empty(), [], "[] is empty"),
    (non_empty(), 5, "5 is of type int, which has no length"),
]


WRONG: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], str, str]] = [
    (unique, (), {"key": 3}, "unique(key=3): the key cannot be called", 'write for example key=itemgetter("id")'),
]


@pytest.mark.parametrize(("check", "value"), HOLD)
def test_holds(check: Invariant, value: Any) -> None:
    assert check(value) is None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(("check", "value", "reason"), VIOLATED)
def test_is_violated(check: Invariant, value: Any, reason: str) -> None:
    assert violation(check, value) == f"Invariant {check.name!r} violated: {reason}"


@pytest.mark.parametrize(("make", "args", "kwargs", "message", "hint"), WRONG)
def test_wrong_use(make: Callable[..., Any], args: tuple[Any, ...], kwargs: Any, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(*args, **kwargs)
    assert (caught.value.message, caught.value.hint) == (message, hint)
