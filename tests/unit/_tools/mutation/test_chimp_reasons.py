"""Why no test notices a broken node, in a small project whose tests are a script."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from ordeal._tools.mutation.chimp_reasons import Reasons
from ordeal._tools.mutation.mutants import CHIMP, Mutant, mutants_of
from ordeal._tools.mutation.source import Source

PROGRAM = """\
import os


def put(coins, cents):
    spare = cents * 2
    coins.append(cents)
    cents + 1
    if cents > 90:
        coins.clear()
    return len(coins)


def nobody_asks():
    return 1 + 2
"""
TESTS = """\
import shop
coins = []
for cents in range(30):
    shop.put(coins, cents)
"""


class Project:
    """The program, and its copy beside it."""

    def __init__(self, folder: Path) -> None:
        self.copy = folder / "copy"
        for each in (folder / "own", self.copy):
            each.mkdir()
            (each / "shop.py").write_text(PROGRAM)
            (each / "check.py").write_text(TESTS)
        self.source = Source.of(folder / "own" / "shop.py", "shop.py")
        self.mutants = mutants_of(self.source, [CHIMP])
        path = self.copy / "shop.py"
        self.reasons = Reasons([self.source], {"shop.py": path}, [*self.copy.iterdir()], folder, self.run)

    def run(self, mutant: Mutant | None, is_broken: bool, more: Mapping[str, str]) -> str:
        text = self.source.text if mutant is None or not is_broken else mutant.applied(self.source.text)
        (self.copy / "shop.py").write_bytes(text)
        line = [sys.executable, "-B", "check.py"]
        return "failed" if subprocess.run(line, cwd=self.copy, env=dict(more), check=False).returncode else "passed"

    def said(self, start: str) -> tuple[str, str]:
        mutant: Mutant = next(each for each in self.mutants if each.original.startswith(start))
        return self.reasons.of(self.source, mutant)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("chimp"))


def test_what_nothing_names_or_reads_is_asked_about(project: Project) -> None:
    assert project.said("import os") == ("DEAD?", "nothing else names `os`")
    assert project.said("def nobody_asks") == ("DEAD?", "nothing else names `nobody_asks`")
    assert project.said("spare =") == ("DEAD?", "`spare` is stored and never read")
    assert project.said("cents * 2") == ("DEAD?", "`spare` is stored and never read")


def test_what_runs_often_and_changes_nothing_is_asked_about_with_the_observations(project: Project) -> None:
    same = "30 calls returned, raised and changed the arguments as before"
    assert project.said("cents + 1") == ("DEAD?", f"ran 30 times, and {same}")


def test_what_differs_unobserved_is_named_and_what_never_runs(project: Project) -> None:
    word, why = project.said("coins.append")
    assert (word, why) == ("UNCOVERED", "ran 30 times, no test fails: put(): returned 0, was: returned 1")
    assert project.said("coins.clear") == ("UNCOVERED", "never run")
