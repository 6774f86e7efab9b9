"""The words that reports are made of: nothing that a program says can break a line or rewrite the screen."""

from __future__ import annotations

import pytest

from ordeal._base.formatting import (
    aligned,
    describe_error,
    one_line,
    percent,
    program_lines,
    runnable_program,
    safe_lines,
    short_names,
    weights_text,
)


def test_columns_are_as_wide_as_their_longest_cell_and_numbers_end_together() -> None:
    assert aligned([("step", "calls", "growth"), ("go", "1,000", "")], [1]) == ["step  calls  growth", "go    1,000"]
    assert aligned([("a", "1"), ("b", "22")], [1]) == ["a   1", "b  22"]
    assert aligned([]) == []


class TestDescribeError:
    def test_exception_whose_text_raises_is_still_reported(self) -> None:
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        assert describe_error(Mute()) == "Mute: <Mute whose text raises>"


class TestOneLine:
    @pytest.mark.parametrize("limit", [10, 11, 40])
    def test_never_longer_than_its_limit(self, limit: int) -> None:
        for text in ("x" * 100, "\x1b" * 100, "\n", ""):
            assert len(one_line(text, limit=limit)) <= limit

    @pytest.mark.parametrize("char", ["\x1b", "\r", "\u202e", "\ud800", "\u2028", "\x85"])
    def test_what_could_move_the_cursor_is_escaped(self, char: str) -> None:
        assert one_line(f"a{char}b") == "a" + char.encode("unicode_escape").decode("ascii") + "b"

    def test_an_escape_that_does_not_fit_is_cut(self) -> None:
        assert one_line("x" * 9 + "\x1b", limit=10) == "x" * 7 + "..."


@pytest.mark.parametrize(
    ("text", "shown"),
    [("::error::x", "\\x3a:error::x"), ("a\n  ::x", "a\n  \\x3a:x"), ("##[group]", "\\x23#[group]"), ("a::b", "a::b")],
)
def test_no_line_is_a_command_to_a_service(text: str, shown: str) -> None:
    assert safe_lines(text) == shown


def test_names_of_faults_are_shortened_only_where_they_stay_apart() -> None:
    assert short_names(["timeout(a, 1s)", "timeout(b, 1s)", "full(disk)"]) == ["timeout(a)", "timeout(b)", "full"]
    assert short_names(["timeout(x.a, 1s)", "timeout(y.a, 1s)"]) == ["timeout(x.a)", "timeout(y.a)"]
    assert short_names(["timeout(a, 1s)", "timeout(a, 2s)"]) == ["timeout(a, 1s)", "timeout(a, 2s)"]
    assert short_names([]) == []


@pytest.mark.parametrize(
    ("lines", "last"), [(60, "x = 59"), (61, "# ... and 1 more line"), (62, "# ... and 2 more lines")]
)
def test_a_program_has_sixty_lines_at_most(lines: int, last: str) -> None:
    shown = program_lines("\n".join(f"x = {number}" for number in range(lines)) + "\n")
    assert shown[-1] == last
    assert len(shown) == min(lines, 61)


def test_a_separator_inside_a_string_of_a_program_breaks_no_line() -> None:
    assert program_lines('x = "a\u2028b"\n') == ['x = "a\\u2028b"']


def test_weights_are_told_heaviest_first_and_what_is_left_out_last() -> None:
    assert weights_text({"a": 1, "b": 0, "c": 5, "d": 1}) == "c 5, a 1, d 1; without b"
    assert weights_text({"a": 1}) == "a 1"


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0%"), (0.00001, "0.001%"), (0.0449, "4.5%"), (0.5, "50%"), (0.9999, "99%"), (1, "100%")]
)
def test_a_share_is_all_or_none_only_if_it_is(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("shop:Cart", "from shop import Cart\nimport os\nstate = Cart()\nstate.go()"),
        ("shop:make", "from shop import make\nimport os\nstate = make()\nstate.go()"),
        ("shop:Box.Inner", "from shop import Box\nimport os\nstate = Box.Inner()\nstate.go()"),
        ("__main__:Cart", "import os\nstate = Cart()\nstate.go()"),
    ],
)
def test_a_program_imports_what_makes_its_machine(path: str, expected: str) -> None:
    assert runnable_program(["import os", "state = Cart()", "state.go()"], path) == expected
