"""Every sentence for users reads as it should: short, without the habits that readers stumble over, and said once."""

from __future__ import annotations

import ast
import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.test_docs_site import TOOL

from ordeal.cli.commands import commands
from ordeal.config.flags import flags_of
from ordeal.config.options import SECTIONS
from ordeal.config.table import keys_of

ROOT = Path(__file__).parent.parent.parent
OUTSIDE = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("examples/**/*.md")]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), *OUTSIDE])
#: Pages with tables that programs write, from descriptions elsewhere.
GENERATED = {"trophies.md", "libraries.md"}
WORDS_MAX = 35
INDEX = TOOL.sections((ROOT / "docs/index.md").read_text("utf-8"))
HABITS = re.compile(
    r"\b(so many|how many-th|of which|anew|alike|beside|told|tells|whatever|and else|of its own|apart from|dear|let go"
    r"|its time is over|is no (?!longer)|in vain|so long|by itself)\b",
    re.IGNORECASE,
)


def sentences(text: str, ends: str = ".!?:") -> Iterator[str]:
    """Yield the sentences of a page without its code; a cell of a table and an item of a list begin new ones."""
    text = re.sub(r"<!---.*?-->|^```.*?^```|^#.*?$|^!\[.*?$", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"`[^`]*`", "Code", text))
    text = re.sub(r"^\s*([-*]|\d+\.) |\|", "\n\n", text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", text):
        yield from re.split(rf"(?<=[{ends}])[\"')*]*\s+(?=[\"'(*]*(?:[A-Z]|ordeal ))", " ".join(paragraph.split()))


def test_troubleshooting_quotes_what_the_program_says() -> None:
    sources = "\n".join(path.read_text("utf-8") for path in (ROOT / "python/ordeal").rglob("*.py"))
    said = re.sub(r'"\s*\n\s*f?"', "", sources)
    page = (ROOT / "docs/guides/troubleshooting.md").read_text("utf-8")
    for message in re.findall(r"^\| `([^`]*)`", page, re.MULTILINE):
        parts = re.split(r"\s*\.\.\.\s*|: |, ", message)
        assert [part for part in parts if part not in said] == [], f"no message reads: {message}"


@pytest.mark.parametrize(("name", "most"), [("README.md", 120), ("CHANGELOG.md", 40), ("benchmarks/RESULTS.md", 600)])
def test_a_page_that_grows_stays_short(name: str, most: int) -> None:
    assert len((ROOT / name).read_text("utf-8").splitlines()) <= most


def test_the_documents_stay_short() -> None:
    words = sum(len(path.read_text("utf-8").split()) for path in ROOT.glob("docs/**/*.md"))
    assert words <= 45_000


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_sentence_is_longer_than_a_breath(path: Path) -> None:
    if path.name not in GENERATED:
        long = [each for each in sentences(path.read_text("utf-8")) if len(each.split()) > WORDS_MAX]
        assert not long, f"{path.name} has sentences of more than {WORDS_MAX} words: {long}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_page_has_no_habit_that_readers_stumble_over(path: Path) -> None:
    if path.name not in GENERATED:
        found = [line for line in path.read_text("utf-8").splitlines() if HABITS.search(line)]
        assert not found, f"{path.name}: {found}"


def syllables(word: str) -> int:
    """Return how many syllables a word has; for the words of these pages together, a dictionary says the same."""
    word = re.sub(r"[^a-z]", "", word.lower())
    groups = len(re.findall(r"[aeiouy]+", word))
    silent = re.search(r"(?<![^aeiouy]l)e$|[^td]ed$|[^aeiousxzhcg]es$", word)
    return max(groups - bool(silent), 1)


def reading_ease(text: str) -> float:
    """Return the reading ease of Flesch ("A new readability yardstick", 1948) of a page, without code and tables."""
    prose = re.sub(r"^\|.*?$", "\n\n", text.replace("`ordeal`", "ordeal"), flags=re.MULTILINE)
    said = sentences(re.sub(r"`[^`]*`", "", prose), ends=".!?")
    found = [words for each in said if (words := re.findall(r"[A-Za-z][\w'-]*", each))]
    count = sum(map(len, found))
    spoken = sum(syllables(word) for words in found for word in words)
    return 206.835 - 1.015 * count / len(found) - 84.6 * spoken / count


EASE_MIN = {"Tutorials": 60.0, "How-to": 50.0}
READ = [
    (place, EASE_MIN[section.title]) for section in INDEX if section.title in EASE_MIN for _, place in section.pages
]


@pytest.mark.parametrize(("place", "least"), READ, ids=[place for place, _ in READ])
def test_a_page_is_easy_to_read(place: str, least: float) -> None:
    ease = reading_ease((ROOT / "docs" / place).read_text("utf-8"))
    assert ease >= least, f"{place} has a reading ease of {ease:.0f}: shorten its sentences and words"


#: Words of the glossary where people use them for something else, and what to write.
OTHER_MEANINGS = {
    r"\b(many|several|different|remote|idle|build) machines?\b|\b(other|between|across) machines\b": "host",
    r"\b(reach|browser on|user of) this machine\b|\bthis machine can\b|^another machine$": "computer",
    r"\bthe targets\b": "target modules",
    r"\b(CI|pytest|test) seeds?\b": "saved failure",
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_word_of_the_glossary_has_one_meaning(path: Path) -> None:
    if path.name not in GENERATED:
        prose = " ".join(sentences(path.read_text("utf-8")))
        found = {match[0]: word for pattern, word in OTHER_MEANINGS.items() for match in re.finditer(pattern, prose)}
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


def test_no_message_has_such_a_habit_or_another_meaning() -> None:
    wrong = re.compile("|".join([HABITS.pattern, *OTHER_MEANINGS]), re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}: {text}"
        for path in sorted(ROOT.glob("python/**/*.py"))
        for text in messages(path)
        if wrong.search(text)
    ]
    found += [str(command.help) for command in commands() if wrong.search(str(command.help))]
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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
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


def test_pictures_of_terminals_are_of_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    pictures = list(ROOT.glob("docs/**/images/*.svg"))
    old = [path.name for path in pictures if not path.read_text("utf-8").startswith(f"<!-- ordeal {version} -->")]
    assert pictures
    assert not old, "run `make screens`"


#: Words of a message, with each value as one.
MESSAGE_WORDS_MAX = {"error": 30, "hint": 22}


def test_no_message_is_longer_than_a_reader_needs_to_act() -> None:
    spec = importlib.util.spec_from_file_location("messages", ROOT / "tools/messages.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    found = tool.all_messages()
    assert len(found) > 1000
    words = {each: re.sub(r"{[^}]*}", "it", each.text).split() for each in found if each.kind != "help"}
    long = [(each, len(said)) for each, said in words.items() if len(said) > MESSAGE_WORDS_MAX.get(each.kind, 35)]
    assert not long, long
