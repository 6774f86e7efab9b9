"""Every sentence for users reads as it should: short, without the habits that readers stumble over, and said once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from ordeal.cli.commands import commands
from ordeal.config.flags import flags_of
from ordeal.config.options import SECTIONS
from ordeal.config.table import keys_of

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"])
#: Pages with tables that programs write, from descriptions elsewhere.
GENERATED = {"trophies.md", "libraries.md"}
WORDS_MAX = 35
HABITS = re.compile(
    r"\b(so many|how many-th|of which|anew|alike|beside|told|tells|whatever|and else|of its own|apart from|dear|let go"
    r"|its time is over|is no (?!longer)|in vain|so long|by itself)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page without its code; a cell of a table and an item of a list begin new ones."""
    text = re.sub(r"<!---.*?-->|^```.*?^```|^#.*?$|^!\[.*?$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "Code", text))
    text = re.sub(r"^\s*([-*]|\d+\.) |\|", "\n\n", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        yield from re.split(r"(?<=[.!?:])[\"')*]*\s+(?=[\"'(*]*(?:[A-Z]|ordeal ))", " ".join(paragraph.split()))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_sentence_is_longer_than_a_breath(path: Path) -> None:
    if path.name not in GENERATED:
        long = [each for each in sentences(path.read_text("utf-8")) if len(each.split()) > WORDS_MAX]
        assert not long, f"{path.name} has sentences of more than {WORDS_MAX} words: {long}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_has_no_habit_that_readers_stumble_over(path: Path) -> None:
    if path.name not in GENERATED:
        found = [line for line in path.read_text("utf-8").splitlines() if HABITS.search(line)]
        assert not found, f"{path.name}: {found}"


def messages(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are not docstrings, in which people read messages and help."""
    tree = ast.parse(path.read_text("utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in alone
            and " " in node.value
        ):
            yield node.value


def test_no_message_has_such_a_habit() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in sorted(ROOT.glob("python/**/*.py"))
        for text in messages(path)
        if HABITS.search(text)
    ]
    assert not found, "\n".join(found)


def test_no_option_is_described_twice() -> None:
    flags = {flag for command in commands() for flag in flags_of(str(command.name))}
    known = flags | {key for declared in SECTIONS.values() for key in keys_of(declared)}
    # A table that says when to change an option does not describe it. Options of pytest stand in its guide alone.
    for path in ROOT.glob("docs/guides/*.md"):
        for table in re.findall(r"^\|.*?(?=^[^|])", path.read_text("utf-8"), re.DOTALL | re.MULTILINE):
            if "change it when" not in table and path.name != "pytest.md":
                named = set(re.findall(r"^\| `([\w-]+)[^|]*`[^|]*\|", table, re.MULTILINE)) & known
                assert len(named) < 2, f"{path.name} describes {sorted(named)} again: link to docs/reference"


def headings(path: Path) -> set[str]:
    """Return the anchors of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    found = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE))
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in found}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_to_headings_that_exist(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for name, anchor in re.findall(r"\]\(([^)\s:#]*)#([^)\s]+)\)", text):
        target = path.parent / name if name else path
        if target.suffix == ".md":
            assert anchor in headings(target), f"{path.name} links to {name}#{anchor}"


def test_every_picture_is_shown() -> None:
    text = "".join(path.read_text("utf-8") for path in PAGES)
    unused = [path.name for path in ROOT.glob("docs/**/images/*") if path.name not in text]
    assert not unused
