"""Weak points of the public project, turned round: a seed is one file for one failure, and says what it shows."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ordeal.trace import Trace

from ..projects import Project

pytestmark = pytest.mark.slow

TILL = {
    "till/__init__.py": """
        class Till:
            def __init__(self):
                self.cents = 0

            def pay(self, cents):
                self.cents += cents
                if self.cents > 500:
                    raise RuntimeError("deep bug")

            def refund(self, cents):
                if cents > 90:
                    raise ValueError("refund too large")
                self.cents -= cents
                if self.cents < -120:
                    raise AssertionError("below zero")
    """,
    "chaos.py": """
        from hypothesis import strategies as st
        from ordeal import ChaosTest, rule

        from till import Till

        class TillChaos(ChaosTest):
            def __init__(self):
                super().__init__()
                self.till = Till()

            @rule(cents=st.integers(0, 100))
            def pay(self, cents):
                self.till.pay(cents)

            @rule(cents=st.integers(0, 100))
            def refund(self, cents):
                self.till.refund(cents)
    """,
    "ordeal.toml": """
        [explorer]
        target_modules = ["till"]
        max_runs = 300
        [[tests]]
        class = "chaos:TillChaos"
    """,
}


@pytest.fixture
def till(project: Project) -> Project:
    project.write(TILL)
    return project


@pytest.fixture(scope="module")
def explored_once(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that was explored; no test changes it."""
    project = Project(tmp_path_factory.mktemp("explored"))
    project.write(TILL)
    assert project.explore("--seed", "1").returncode == 1
    return project


@pytest.fixture
def explored(explored_once: Project, project: Project) -> Project:
    """What was explored, for a test to do with as it likes."""
    shutil.copytree(explored_once.root, project.root, dirs_exist_ok=True)
    return project


def seeds(project: Project) -> list[Path]:
    return sorted((project.root / ".ordeal/seeds/TillChaos").iterdir())


def listed(project: Project, *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code of ``ordeal seeds``, and the seeds by name."""
    done = project.python("-m", "ordeal", "seeds", "--json", *options)
    assert "Traceback" not in done.stderr
    return done.returncode, {seed["name"]: seed for seed in json.loads(done.stdout)["seeds"]}


def change(project: Project, file: str, old: str, new: str) -> None:
    path = project.root / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_finding_10_three_bugs_are_three_seeds_of_the_same_names_whatever_runs_met_them(
    till: Project, explored_once: Project
) -> None:
    names = []
    for seed in ("2", "3"):
        assert till.explore("--seed", seed).returncode == 1
        names.append([path.name for path in seeds(till)])
        shutil.rmtree(till.root / ".ordeal/seeds")
    assert names == [[path.name for path in seeds(explored_once)]] * 2
    traces = [Trace.load(path) for path in seeds(explored_once)]
    types = {trace.failure.error_type for trace in traces if trace.failure is not None}
    assert (types, len(traces)) == ({"AssertionError", "RuntimeError", "ValueError"}, 3)


def test_finding_10_each_seed_replays_as_the_failure_that_it_records(explored: Project) -> None:
    code, listing = listed(explored)
    assert (code, len(listing)) == (1, 3)
    for seed in listing.values():
        assert seed["status"] == "reproduced"
        assert seed["recorded_error"] == f"{seed['error_type']}: {seed['error_message']}"


def test_finding_10_seeds_are_not_saved_again_when_they_are_known(explored: Project) -> None:
    before = {path: path.read_bytes() for path in seeds(explored)}
    assert explored.explore("--seed", "2").returncode == 1
    assert {path: path.read_bytes() for path in seeds(explored)} == before


class TestFinding22:
    def test_a_seed_that_reproduces_shows_in_the_exit_code(self, explored: Project) -> None:
        assert listed(explored)[0] == 1
        shutil.rmtree(explored.root / ".ordeal")
        assert listed(explored) == (0, {})

    def test_a_renamed_rule_reproduces_nothing_and_is_not_pruned(self, explored: Project) -> None:
        number = len(seeds(explored))
        change(explored, "chaos.py", "def pay(", "def pay_in(")
        change(explored, "chaos.py", "def refund(", "def pay_out(")
        code, listing = listed(explored, "--prune-fixed")
        assert code == 0
        assert {seed["status"] for seed in listing.values()} == {"no_longer_applies"}
        assert all("has no rule" in seed["reason"] for seed in listing.values())
        assert len(seeds(explored)) == number

    def test_another_type_of_error_is_not_called_the_same_failure(self, explored: Project) -> None:
        change(explored, "till/__init__.py", "RuntimeError", "OSError")
        code, listing = listed(explored)
        assert code == 1
        found = {seed["recorded_error"].partition(":")[0]: seed["status"] for seed in listing.values()}
        assert found == {
            "RuntimeError": "fails_differently",
            "ValueError": "reproduced",
            "AssertionError": "reproduced",
        }

    def test_a_missing_test_module_is_no_traceback(self, explored: Project) -> None:
        (explored.root / "chaos.py").unlink()
        code, listing = listed(explored)
        assert code == 2
        assert {seed["reason"] for seed in listing.values()} == {"no module named `chaos`"}

    def test_pruning_keeps_what_still_fails(self, explored: Project) -> None:
        change(explored, "till/__init__.py", "if cents > 90", "if cents > 900")
        code, listing = listed(explored, "--prune-fixed")
        assert code == 1
        kept = {path.stem for path in seeds(explored)}
        assert kept == {name for name, seed in listing.items() if seed["status"] == "reproduced"}
        assert {name for name, seed in listing.items() if seed["pruned"]} == set(listing) - kept
        assert len(listing) - len(kept) == 1
