"""Each word of the glossary names files that exist and speak of it, so that a reader finds them by the word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
ROW = re.compile(r"\| \*\*(.+?)\*\*.* \| (.*) \| (.*) \|")
ROWS = [
    (match[1].replace("`", ""), match[2], re.findall(r"`([^`]+)`", match[3]))
    for match in map(ROW.fullmatch, (ROOT / "docs/glossary.md").read_text("utf-8").splitlines())
    if match
]

#: Words for a part of something else, and that: it names the file, and whoever looks the word up reads of it.
PART_OF = {
    "location": "edge",
    "hit bucket": "coverage map",
    "novelty": "feature",
    "step back": "session",
    "calm phase": "world",
    "escape": "simulated",
    "misaligned": "choice",
    "provenance": "trace",
    "flaky": "failure",
    "regression": "seed",
    "fixed": "seed",
    "no longer applies": "seed",
    "restart count": "worker",
    "round": "synchronize",
    "capacity": "scaling",
    "member": "store",
    "lease": "store",
    "namespace": "store",
    "reaper": "child",
    "inconclusive": "result",
}


def files_of(place: str) -> list[Path]:
    """The source files at a place as the glossary writes it."""
    path = ROOT / re.sub(r"^core/", "cpp/core/", re.sub(r"^ordeal/", "python/ordeal/", place))
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in {".py", ".h", ".cpp"}]


def plain(text: str) -> str:
    """The text without case, and with one space for all that joins or separates words."""
    return re.sub(r"[\s_#/*-]+", " ", text).lower()


@pytest.mark.parametrize(
    ("words", "places"),
    [pytest.param(words, places, id=words) for words, _, places in ROWS if words != "face" and places],
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


def stems(text: str) -> list[str]:
    """How the words of a text or a path begin, where that is enough to know them by."""
    return [word[:6] if len(word) > 5 else word.removesuffix("s") for word in re.findall(r"[^\W_]+", text.lower())]


@pytest.mark.parametrize(
    ("words", "meaning", "places"),
    [pytest.param(*row, id=row[0]) for row in ROWS if row[0] not in ("room", "face")],
)
def test_a_file_or_folder_has_the_name_of_the_word(words: str, meaning: str, places: list[str]) -> None:
    host = PART_OF.get(words)
    assert host is None or set(stems(host)) <= set(stems(meaning)), (
        f"the glossary does not say what {words} is a part of"
    )
    named = [name for place in places for name in stems(place)]
    wanted = stems(host or words)
    assert any(stem.startswith(name) or name.startswith(stem) for stem in wanted for name in named if len(name) > 2), (
        f"no name in {', '.join(places)} leads to {host or words}"
    )


def test_the_glossary_was_read() -> None:
    assert len(ROWS) > 80
