"""The glossary explains words that the pages use, and each of them once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
GLOSSARY = DOCS / "glossary.md"
WORDS = re.findall(r"^\| \*\*(.+?)\*\*", GLOSSARY.read_text("utf-8"), re.MULTILINE)
PAGES = " ".join(path.read_text("utf-8").lower() for path in DOCS.rglob("*.md") if path != GLOSSARY)


def test_the_words_are_in_order() -> None:
    assert sorted(WORDS) == WORDS
    assert len(set(WORDS)) == len(WORDS) <= 20


@pytest.mark.parametrize("word", [word for row in WORDS for word in row.split(", ")])
def test_a_word_is_used_on_a_page(word: str) -> None:
    assert word.lower().replace(" ", "") in PAGES.replace(" ", "").replace("_", "").replace("\n", "")
