"""A fast path answers calls that have nothing to do, and passes all others on."""

from __future__ import annotations

import copy
import gc
import inspect
import sys
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._base.fast_path import fast_path


@pytest.fixture
def enabled() -> _native.EnabledFlag:
    return _native.EnabledFlag()


def checked(enabled: _native.EnabledFlag) -> Callable[..., Any]:
    @fast_path(enabled, "holds", working=("slow",))
    def check(condition: object, name: str, *, slow: bool = False, **details: object) -> tuple[object, ...]:
        """Says what it was called with."""
        return condition, name, slow, details

    return check


@pytest.mark.parametrize(("arguments", "keywords"), [((True, "x"), {}), ((1, "x"), {"a": 1}), ((True,), {"name": "x"})])
def test_a_call_with_nothing_to_do_ends_at_the_gate(
    enabled: _native.EnabledFlag, arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    check = checked(enabled)
    assert check(*arguments, **keywords) is None
    enabled.on = True
    assert check(*arguments, **keywords) is not None


@pytest.mark.parametrize(
    ("arguments", "keywords", "seen"),
    [
        ((False, "x"), {}, (False, "x", False, {})),
        (([], "x"), {"a": 1}, ([], "x", False, {"a": 1})),
        ((True, "x"), {"slow": False}, (True, "x", False, {})),
        ((True, "x"), {str(b"slow", "ascii"): True}, (True, "x", True, {})),
        ((), {"condition": True, "name": "x"}, (True, "x", False, {})),
    ],
)
def test_all_other_calls_are_passed_on(
    enabled: _native.EnabledFlag, arguments: tuple[Any, ...], keywords: dict[str, Any], seen: tuple[Any, ...]
) -> None:
    assert checked(enabled)(*arguments, **keywords) == seen


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize(
    ("arguments", "keywords"),
    [
        ((), {}),
        ((True,), {}),
        ((True, "x", 1), {}),
        ((True,), {"nam": "x"}),
        ((True, "x"), {"name": "y"}),
        ((True, "x"), {"condition": False}),
        ((True,), {"condition": False, "name": "x"}),
    ],
)
def test_python_refuses_what_is_no_call(
    enabled: _native.EnabledFlag, arguments: tuple[Any, ...], keywords: dict[str, Any], on: bool
) -> None:
    enabled.on = on
    with pytest.raises(TypeError, match="check"):
        checked(enabled)(*arguments, **keywords)


@pytest.mark.parametrize(
    ("idle", "below", "same", "above"),
    [("lt", 1, 0, 0), ("le", 1, 1, 0), ("gt", 0, 0, 1), ("ge", 0, 1, 1)],
)
def test_a_comparison_that_holds_ends_at_the_gate(
    enabled: _native.EnabledFlag, idle: Any, below: int, same: int, above: int
) -> None:
    @fast_path(enabled, idle)
    def compare(left: int, right: int, name: str) -> str:
        return name

    ends = [compare(left, 2, "x") is None for left in (1, 2, 3)]
    assert ends == [bool(below), bool(same), bool(above)]


def test_an_error_of_the_condition_is_raised(enabled: _native.EnabledFlag) -> None:
    class Odd:
        def __bool__(self) -> bool:
            raise ArithmeticError("neither true nor false")

    with pytest.raises(ArithmeticError, match="neither"):
        checked(enabled)(Odd(), "x")


def test_a_fast_path_has_the_name_the_text_and_the_signature_of_its_function(enabled: _native.EnabledFlag) -> None:
    @fast_path(enabled, "nothing")
    def note(a: int, /, name: str = "n", *, b: int, c: float = 0.5, **rest: object) -> None:
        """Text."""

    assert note.__name__ == "note"
    assert note.__module__ == __name__
    assert note.__doc__ == "Text."
    assert str(inspect.signature(note)) == "(a, /, name='n', *, b, c=0.5, **rest)"
    assert copy.deepcopy(note) is note


def test_a_fast_path_is_freed_with_all_that_it_holds(enabled: _native.EnabledFlag) -> None:
    switches = sys.getrefcount(enabled)
    check = checked(enabled)
    body = weakref.ref(check(False, "x")[3].__class__)
    assert body() is dict
    assert sys.getrefcount(enabled) > switches
    del check
    gc.collect()
    assert sys.getrefcount(enabled) == switches


# -- hits that are counted on the fast path ---------------------------------------------------------------------------

KIND = 3


class Counted:
    """A function with a condition whose known names are counted; ``passed_on`` are the calls that came through."""

    def __init__(self, idle: Any = "nothing") -> None:
        self.counts = _native.HitCounts()
        self.passed_on: list[tuple[object, object]] = []
        enabled = _native.EnabledFlag()
        enabled.on = True

        @fast_path(enabled, idle, labels=("label",), counts=self.counts, kind=KIND)
        def note(condition: object, name: object, *, label: str = "", **details: object) -> None:
            self.passed_on.append((condition, name))

        self.note = note


def test_plain_hits_of_known_names_are_counted() -> None:
    one = Counted()
    one.counts.add("x", KIND)
    for condition in (True, True, False):
        one.note(condition, "x")
    one.note(True, "x", a=1)
    assert one.counts.take() == [("x", 3, 1)]
    assert one.counts.take() == []
    assert one.passed_on == []


def test_hits_that_are_not_plain_are_passed_on() -> None:
    one = Counted()
    one.counts.add("x", KIND)
    one.counts.add("other kind", KIND + 1)
    one.note(1, "x")
    one.note(False, "x", a=1)
    one.note(True, "x", label="l")
    one.note(True, "unknown")
    one.note(True, "other kind")
    one.note(True, ["no text"])
    one.note(True, name="x")
    assert len(one.passed_on) == 7
    assert one.counts.take() == []


def test_an_argument_that_is_given_twice_is_no_hit() -> None:
    one = Counted()
    one.counts.add("x", KIND)
    with pytest.raises(TypeError, match="note"):
        one.note(True, "x", name="x")  # type: ignore[misc]
    assert one.counts.take() == []


def test_a_condition_that_must_hold_is_passed_on_when_it_does_not() -> None:
    one = Counted("holds")
    one.counts.add("x", KIND)
    one.note(True, "x")
    one.note(False, "x")
    assert one.counts.take() == [("x", 1, 0)]
    assert one.passed_on == [(False, "x")]
