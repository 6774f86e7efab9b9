"""Quickcheck: arguments from type hints, biased towards boundaries, with errors that say what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import strategies as st

import ordeal.quickcheck
from ordeal.errors import ConfigError
from ordeal.quickcheck import quickcheck

pytestmark = pytest.mark.slow


class Unmakeable:
    def __init__(self, socket) -> None:  # type: ignore[no-untyped-def]
        self.socket = socket


def test_arguments_are_of_their_types_and_it_runs_as_often_as_it_says() -> None:
    seen: list[Any] = []

    @quickcheck(max_examples=17)
    def check(number: int, texts: list[str], flag: bool | None, plain=3) -> None:  # type: ignore[no-untyped-def]
        assert type(number) is int
        assert all(type(text) is str for text in texts)
        assert flag in (True, False, None)
        assert plain == 3
        seen.append(number)

    check()
    assert len(seen) == 17


def test_a_failure_is_shrunk() -> None:
    seen: list[list[int]] = []

    @quickcheck
    def check(xs: list[int]) -> None:
        seen.append(xs)
        assert sorted(xs) == xs

    with pytest.raises(AssertionError):
        check()
    assert sorted(map(abs, seen[-1])) == [0, 1]


def test_overrides_replace_hints_and_stand_for_missing_ones() -> None:
    @quickcheck(port=st.just(80), host=st.just("h"))
    def check(port: int, host) -> None:  # type: ignore[no-untyped-def]
        assert (port, host) == (80, "h")

    check()


class TestMethods:
    @quickcheck(max_examples=5)
    def test_self_is_left_alone(self, number: int) -> None:
        assert isinstance(self, TestMethods)
        assert type(number) is int


def test_the_module_is_the_function() -> None:
    @ordeal.quickcheck(max_examples=3)
    def check(number: int) -> None:
        assert type(number) is int

    check()
    assert ordeal.quickcheck.quickcheck is quickcheck


def unhinted(value):  # type: ignore[no-untyped-def]
    """Has no hints."""


def without_parameters() -> None:
    """Has nothing to draw."""


def hinted(value: int) -> None:
    """Is as it should be."""


def opaque(value: Unmakeable) -> None:
    """Asks for what cannot be made."""


async def coroutine(value: int) -> None:
    """Is no plain function."""


def unreadable(value: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Has a hint that names nothing."""


@pytest.mark.parametrize(
    ("use", "message", "hint"),
    [
        (
            lambda: quickcheck(unhinted),
            "unhinted: the parameter 'value' has no type hint",
            "give it one, or a strategy: @quickcheck(value=st.integers())",
        ),
        (
            lambda: quickcheck(without_parameters),
            "without_parameters has no parameter to make values for",
            "write for example `def test_sum(xs: list[int]) -> None:`",
        ),
        (
            lambda: quickcheck(valeu=st.integers())(hinted),
            "hinted has no parameter 'valeu'",
            "its parameters: value",
        ),
        (
            lambda: quickcheck(value=3)(hinted),  # type: ignore[call-overload]
            "hinted: value=3 is not a strategy",
            "write value=st.just(3)",
        ),
        (
            lambda: quickcheck(opaque),
            "opaque: the parameter 'value': no values can be made of the type 'Unmakeable'",
            "give a strategy: @quickcheck(value=st.builds(...))",
        ),
        (
            lambda: quickcheck(coroutine),  # type: ignore[arg-type]
            "coroutine is a coroutine function",
            "call asyncio.run(...) in a plain test",
        ),
        (
            lambda: quickcheck(unreadable),
            "unreadable: a type hint cannot be read: name 'Missing' is not defined",
            "import what it names",
        ),
        (
            lambda: quickcheck(max_examples=0),
            "quickcheck(max_examples=0)",
            "write a whole number from 1",
        ),
        (
            lambda: quickcheck(3),  # type: ignore[call-overload]
            "@quickcheck needs a function, got 3",
            "write @quickcheck above a test",
        ),
    ],
)
def test_wrong_use(use: Callable[[], Any], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        use()
    assert (caught.value.message, caught.value.hint) == (message, hint)
