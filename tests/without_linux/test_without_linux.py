"""Other systems lack what Linux alone has: a search has one process there, and what needs more ends with an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contract.projects import Project

pytestmark = pytest.mark.slow

MACHINE = """
from ordeal import ChaosTest
from hypothesis import strategies as st
from hypothesis.stateful import rule

class Counter(ChaosTest):
    def __init__(self):
        super().__init__()
        self.total = 0

    @rule(amount=st.integers(1, 5))
    def add(self, amount):
        self.total += amount
        assert self.total < 12
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose commands run without what Linux alone has."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    project = Project(tmp_path)
    project.write({"counted.py": MACHINE})
    return project


def test_one_process_finds_and_replays(elsewhere: Project) -> None:
    found = elsewhere.new_python("-m", "ordeal", "explore", "counted:Counter", "-w", "2", "--max-runs", "50")
    assert found.returncode == 1, found.stderr
    note = "Explored in this process, with one worker and no protection from what rules do: processes are forked on"
    assert note in " ".join(found.stdout.split())
    replay = found.stdout.partition("Replay: ordeal replay ")[2].split()[0]
    assert elsewhere.new_python("-m", "ordeal", "replay", replay).returncode == 1


def test_states_are_not_held(elsewhere: Project) -> None:
    lines = "from ordeal.explore import Explorer, Tuning\nimport counted\n"
    lines += "found = Explorer(counted.Counter, seed=1, tuning=Tuning(checkpoint_kind='fork')).run(max_runs=50)\n"
    ended = elsewhere.new_python("-c", f"{lines}print(len(found.failures), found.notes)")
    assert ended.stdout.startswith("1 "), ended.stderr
    assert "processes are forked on Linux only" in ended.stdout


def test_mutation_names_what_is_missing(elsewhere: Project) -> None:
    ended = elsewhere.new_python("-m", "ordeal", "mutate", "counted.py")
    assert ended.returncode == 3
    assert "this system cannot isolate mutants" in ended.stderr
    assert "hint: use Linux" in ended.stderr
