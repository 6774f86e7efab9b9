"""Tests that ordeal works when names of Hypothesis go that it does not document."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ordeal

FINDS = "['add', 'add', 'add', 'add', 'use'] True"


def _places() -> list[str]:
    """Return the names that ordeal asks for, as ``module:name``, from its source."""
    trees = (ast.parse(path.read_text()) for path in sorted(Path(ordeal.__file__).parent.rglob("*.py")))
    texts = {
        node.value
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return sorted(text for text in texts if text.startswith("hypothesis.") and text.partition(":")[2].isidentifier())


def _search_without(*places: str) -> list[str]:
    program = Path(__file__).with_name("without_names.py")
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, program, *places], env=environment, capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


def test_nothing_is_said_where_all_names_are_there() -> None:
    assert _search_without() == [FINDS, ""]


def test_a_search_without_any_of_the_names_finds_the_same_and_says_what_is_missing() -> None:
    found, note = _search_without(*_places())
    assert found == FINDS
    assert "BuildContext, ConjectureData" in note
    assert "Runs may be slower with Hypothesis" in note


@pytest.mark.nightly
@pytest.mark.parametrize("place", _places())
def test_a_search_without_one_of_the_names_finds_the_same(place: str) -> None:
    assert _search_without(place)[0] == FINDS


def test_every_name_of_hypothesis_that_it_does_not_document_is_asked_for_in_one_way() -> None:
    documented = {"", "database", "errors", "extra", "stateful", "strategies"}
    for path in Path(ordeal.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "hypothesis":
                imported = (node.module or "").partition(".")[2]
                assert imported.partition(".")[0] in documented or path.name == "register.py", path
                assert "_internal" not in imported, path
