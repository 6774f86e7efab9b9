"""Source on the page: coloured, numbered, and never markup of its own."""

from __future__ import annotations

import re

from ordeal._report.html.finding import CHARS_MAX, highlighted


def plain(html: object) -> str:
    return re.sub(r"<[^>]+>", "", str(html))


def test_lines_have_numbers_and_one_a_mark() -> None:
    shown = highlighted("def f():\n    return 1", first=9, mark=10)
    assert plain(shown).split("\n") == [" 9  def f():", "10      return 1"]
    assert str(shown).count('class="hit"') == 1


def test_markup_is_escaped_however_long_the_text() -> None:
    for text in ("<script>", "<script>" + "x" * CHARS_MAX):
        assert "<script" not in str(highlighted(text))
