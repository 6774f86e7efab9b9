"""The checks of values, and the words of each."""

from __future__ import annotations

import pytest

from ordeal.config.checks import (
    SWITCH,
    Check,
    as_python,
    as_toml,
    as_word,
    integer,
    number,
    one_of,
    refusal,
    shown,
    text,
)


@pytest.mark.parametrize(
    ("check", "expected", "page"),
    [
        (integer(0, example=3), "a whole number, 0 or more", "integer from 0"),
        (integer(1, 100, example=3), "a whole number from 1 to 100", "integer, 1 to 100"),
        (integer(0, 2**64 - 1, expected="a seed", example=3), "a seed", "integer, 0 to 2⁶⁴ − 1"),
        (one_of("a", "b", example="a"), 'one of "a", "b"', '`"a"`, `"b"`'),
        (one_of("a", "b", example="a", quoted=False), "one of a, b", '`"a"`, `"b"`'),
    ],
)
def test_the_words_say_the_range(check: Check, expected: str, page: str) -> None:
    assert (check.expected, check.page) == (expected, page)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (integer(1, 3, example=2), [1, 3], [0, 4, True, 2.0, "2", None]),
        (number("", 1, "", lambda value: value > 0), [1, 0.5], [0, True, "1", float("nan"), float("inf"), 10**400]),
        (one_of("a", "b", example="a"), ["a", "b"], ["c", "", 1, None]),
        (text("", ""), ["a"], ["", "a\0b", 1]),
        (text("", "", pattern=r"[^\0]*\.svg"), [".svg", "a.svg"], ["a.png", "a\0.svg"]),
        (SWITCH, [True, False], [0, 1, "true"]),
    ],
)
def test_values(check: Check, good: list[object], bad: list[object]) -> None:
    assert [check.accept(value) for value in good] == good
    assert [check.accept(value) for value in bad] == [None] * len(bad)


def test_seconds_may_have_no_end_in_python_alone() -> None:
    check = number("", 1, "", endless=True)
    assert check.endless
    assert check.accept(float("inf")) is None


@pytest.mark.parametrize(
    ("value", "toml", "python", "word"),
    [
        (True, "true", "True", "True"),
        ("a", '"a"', '"a"', "a"),
        (("a",), '["a"]', '("a",)', "a"),
        (60, "60", "60", "60"),
        (60.0, "60.0", "60.0", "60"),
        (0.1, "0.1", "0.1", "0.1"),
    ],
)
def test_literals(value: object, toml: str, python: str, word: str) -> None:
    assert (as_toml(value), as_python(value), as_word(value)) == (toml, python, word)


def test_a_long_value_is_cut() -> None:
    assert shown("x" * 199) == f'"{"x" * 96}...'
    assert shown(10**400) == "a number of 1329 bits"


def test_an_error_is_one_line() -> None:
    error = refusal("a\nb", "c\x1bd")
    assert (error.message, error.hint) == (r"a\nb", r"c\x1bd")
