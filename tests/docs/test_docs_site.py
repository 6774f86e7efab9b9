"""The sources of the site: every page is in the index, links lead to the same files, each public name has one place."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent.parent


def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_site", ROOT / "tools/docs_site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_site"] = module  # dataclasses look there for the module of a class
    spec.loader.exec_module(module)
    return module


TOOL = load_tool()


def test_the_index_names_every_page() -> None:
    known = TOOL.places()
    index, _ = TOOL.relinked((ROOT / "docs/index.md").read_text("utf-8"), "docs/index.md", known)
    named = {place for section in TOOL.sections(index) for _, place in section.pages}
    below_others = {place for place in known.values() if place.startswith("examples/")} - {"examples/index.md"}
    assert named == set(known.values()) - {"index.md"} - below_others


def test_the_index_has_the_four_kinds_of_pages() -> None:
    titles = [section.title for section in TOOL.sections((ROOT / "docs/index.md").read_text("utf-8"))]
    assert titles[:4] == ["Tutorials", "How-to", "Reference", "Explanation"]


def test_the_index_opens_with_a_run_and_its_report() -> None:
    opening = (ROOT / "docs/index.md").read_text("utf-8").partition("\n## ")[0]
    assert "images/found.svg" in opening
    assert "images/report.png" in opening


@pytest.mark.parametrize(
    ("link", "there"),
    [
        ("../../README.md#install", "../project/readme.md#install"),
        ("../../examples/shop/README.md", "../examples/shop.md"),
        ("../../examples/shop", "../examples/shop.md"),
        ("images/live.svg", "images/live.svg"),
        ("../../action.yml", "../files/action.yml"),
        ("https://example.com/a.md", "https://example.com/a.md"),
        ("#here", "#here"),
        ("nowhere.md", "nowhere.md"),
    ],
)
def test_links_lead_to_the_same_files(link: str, there: str) -> None:
    text, _ = TOOL.relinked(f"See [it]({link}).\n", "docs/guides/ci.md", TOOL.places())
    assert text == f"See [it]({there}).\n"


def test_links_in_blocks_stay() -> None:
    block = "```text\n[it](../../README.md)\n```\n"
    assert TOOL.relinked(block, "docs/guides/ci.md", TOOL.places()) == (block, {})


def test_files_that_are_no_pages_come_along() -> None:
    _, files = TOOL.relinked("[a](schemas/event.schema.json)", "docs/reference/runs.md", TOOL.places())
    assert files == {
        "docs/reference/schemas/event.schema.json": "reference/schemas/event.schema.json",
    }


def test_pictures_follow_the_light_of_the_reader() -> None:
    folder = ROOT / "docs/guides"
    text, files = TOOL.in_both_lights("A.\n\n![it](images/report.png)\n\n![x](images/world.png)\n", folder)
    assert "```{image} images/report.png\n:alt: it\n:class: only-light\n```" in text
    assert "```{image} images/report-dark.png\n:alt: it\n:class: only-dark\n```" in text
    assert "![x](images/world.png)" in text
    assert [path.name for path in files] == ["report.png", "report-dark.png"]


#: What somebody new asks, and the heading below which the answer stands.
QUESTIONS = {
    "Where do I start?": "docs/guides/quickstart.md",
    "How do I install it?": "README.md#install",
    "What does it do that Hypothesis does not?": "docs/guides/when-to-use.md#compared-with-other-tools",
    "How do I test my own service?": "docs/guides/service.md#a-first-machine",
    "What should I assert?": "docs/guides/what-must-hold.md",
    "What is a seed?": "docs/glossary.md",
    "How do I make the disk full, or a call time out?": "docs/guides/faults.md#input-and-output-ordealfaultsio",
    "How do I ignore a failure?": "docs/guides/failures.md#known-failures",
    "It finds nothing: what now?": "docs/guides/troubleshooting.md#it-finds-nothing",
    "How do I run it in CI?": "docs/guides/ci.md#start-here",
    "What do I commit, and what is .ordeal?": "docs/reference/files.md",
    "What does exit code 2 mean?": "docs/reference/cli.md#exit-codes",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_answered_within_two_clicks(question: str) -> None:
    """One click leads from the front page to a page of its lists, and one more to a heading of that."""
    name, _, anchor = QUESTIONS[question].partition("#")
    known = TOOL.places()
    index, _ = TOOL.relinked((ROOT / "docs/index.md").read_text("utf-8"), "docs/index.md", known)
    assert f"]({known[name]})" in index or f"]({known[name]}#{anchor})" in index
    headings = [line.lstrip("# ") for line in (ROOT / name).read_text("utf-8").splitlines() if line.startswith("#")]
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert not anchor or anchor in slugs


def test_every_public_name_is_described_once() -> None:
    modules = list(TOOL.public_modules())
    assert {"ordeal.explore", "ordeal.faults.io", "ordeal.invariants", "ordeal.simulate"} <= set(modules)
    assert not any("._" in name for name in modules)
    assert "ExplorationResult" in TOOL.described_elsewhere("ordeal.explore", modules)
    assert "Explorer" not in TOOL.described_elsewhere("ordeal.explore", modules)


def test_the_sources_of_the_site_are_whole(tmp_path: Path) -> None:
    TOOL.stage(tmp_path)
    index = (tmp_path / "index.md").read_text("utf-8")
    assert ":caption: Tutorials" in index
    assert "API <api/index>" in index
    for page in tmp_path.rglob("*.md"):
        assert page.read_text("utf-8").startswith(("# ", "<!--")), page
    compile((tmp_path / "conf.py").read_text("utf-8"), "conf.py", "exec")
