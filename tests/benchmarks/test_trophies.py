"""The page of the trophies is what its script writes, and needs no library for that."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from trophies import page

ROOT = Path(__file__).parent.parent.parent
MEASURED = json.loads((ROOT / "benchmarks/trophies/measured.json").read_text("utf-8"))
SEARCHED = json.loads((ROOT / "benchmarks/trophies/searched.json").read_text("utf-8"))


def test_the_page_is_written_from_the_data() -> None:
    assert (ROOT / "docs/trophies.md").read_text("utf-8") == page.page(MEASURED, SEARCHED)


def test_each_trophy_has_a_name_of_its_own_and_pins_its_library() -> None:
    found = page.entries()
    names = [entry.name for entry in found]
    assert len(set(names)) == len(names) >= 10
    assert all("==" in entry.requirements[0] for entry in found)
    assert set(MEASURED["runs"]) <= set(names)


def test_machines_that_found_nothing_are_listed_with_their_steps() -> None:
    found = page.searches()
    assert all("==" in search.requirements[0] for search in found)
    steps = {search.module: sorted(SEARCHED["machines"].get(search.module, {})) for search in found}
    assert steps == {search.module: sorted(search.machines) for search in found}
    text = page.page(MEASURED, {"seconds": 7.0, "machines": {"networkx_structures": {"Heaps": 12345}}})
    assert "for 7 s each: 12,345 operations" in text.replace("\n", " ")


@pytest.mark.nightly
def test_each_reproduction_still_shows_its_bug() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks/trophy_page.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
