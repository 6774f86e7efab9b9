"""Each word of the glossary names files that exist and speak of it, so that a reader finds them by the word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
ROW = re.compile(r"\| \*\*(.+?)\*\*.* \| .* \| (.*) \|")
ROWS = [
    (match[1].replace("`", ""), re.findall(r"`([^`]+)`", match[2]))
    for match in map(ROW.fullmatch, (ROOT / "docs/glossary.md").read_text("utf-8").splitlines())
    if match
]


def files_of(place: str) -> list[Path]:
    """The source files at a place as the glossary writes it."""
    path = ROOT / re.sub(r"^core/", "cpp/core/", re.sub(r"^ordeal/", "python/ordeal/", place))
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in {".py", ".h", ".cpp"}]


def plain(text: str) -> str:
    """The text without case, and with one space for all that joins or separates words."""
    return re.sub(r"[\s_#/*-]+", " ", text).lower()


@pytest.mark.parametrize(
    ("words", "places"), [pytest.param(words, places, id=words) for words, places in ROWS if words != "face" and places]
)
def test_a_word_of_the_glossary_is_found_where_it_says(words: str, places: list[str]) -> None:
    texts = []
    for place in places:
        files = files_of(place)
        assert files, f"there is no {place}"
        texts.append(plain(" ".join(f"{place} {file.read_text('utf-8')}" for file in files)))
    for word in words.split(", "):
        assert any(all(part in text for part in plain(word).split()) for text in texts), (
            f"none of {', '.join(places)} speaks of {word}"
        )


def test_the_glossary_was_read() -> None:
    assert len(ROWS) > 80
