"""Machines of a project judge from the outside, and the answers are refused where they would not be true."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit._tools.mutation.machines import till

from ordeal._tools.mutation.machines.evidence import MachineFinding, MachineOptions, table_of
from ordeal._tools.mutation.machines.running import judge_with_machines, verdict_of
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.operators import PRESETS
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.sandbox import NoVerdictError
from ordeal._tools.mutation.source import Source


def judged(folder: Path, *, workers: int = 1, machine: str = "till:Till") -> Judgement:
    (folder / "till.py").write_text(Path(till.__file__).read_text())
    source = Source.of(folder / "till.py", "till.py")
    mutants = [each for each in mutants_of(source, PRESETS["essential"]) if each.name.startswith("Drawer.")]
    options = MachineOptions((machine,), ("till",), runs=60, seconds=20, workers=workers)
    return judge_with_machines([source], mutants, options, folder=folder)


@pytest.mark.nightly
def test_verdicts_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    one, two = judged(tmp_path), judged(tmp_path, workers=2)
    assert one.findings == two.findings
    words = {(each.mutant.name, each.mutant.replacement): each.word for each in one.verdicts}
    assert words["Drawer.put", "-="] == "killed"
    assert words["Drawer.give_back", "-="] == "survived"
    assert one.machines[0].unread == ("drawer.given_back",)
    assert table_of(one.findings.values(), one.machines).invariants["coins_are_right"].kills >= 1
    assert not list(tmp_path.glob("__pycache__"))


LEAKY = """
import os
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from ordeal.chaos import ChaosTest

SEEN = []

def doubled(n):
    return n + n

def note(n):
    if n > 1000:
        SEEN.append(n)

def leave(n):
    if n > 2000:
        os._exit(3)

def unread(n):
    return n + 4

class Leaky(ChaosTest):
    @rule(n=st.integers(1, 9))
    def add(self, n):
        note(n)
        leave(n)
        unread(n)
        assert doubled(n) == 2 * n

    @invariant()
    def nothing_is_seen(self):
        assert not SEEN
"""


@pytest.mark.slow
def test_what_a_mutant_leaves_behind_or_ends_changes_no_other_verdict(tmp_path: Path) -> None:
    (tmp_path / "leaky.py").write_text(LEAKY)
    source = Source.of(tmp_path / "leaky.py", "leaky.py")
    mutants = mutants_of(source, ["negate", "arithmetic"])
    options = MachineOptions(("leaky:Leaky",), ("leaky",), runs=30, seconds=20)
    found = judge_with_machines([source], mutants, options, folder=tmp_path)
    assert {each.mutant.name: (each.word, each.note) for each in found.verdicts} == {
        "doubled": ("killed", ""),
        "note": ("not run", "the trace that notices it fails on the original afterwards"),
        "leave": ("killed", "it ends the process"),
        "unread": ("survived", "nothing differs"),
    }


@pytest.mark.nightly
def test_a_machine_that_cannot_be_imported_gives_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(NoVerdictError):
        judged(tmp_path, machine="till:Gone")


def test_a_finding_as_a_verdict_of_the_reports() -> None:
    source = Source.of(Path(till.__file__), "till.py")
    mutant = mutants_of(source, PRESETS["essential"])[0]
    verdict = verdict_of(mutant, MachineFinding(mutant.id, "survived", traces=9, replays=3))
    assert (verdict.word, verdict.route, verdict.tests, verdict.note) == ("survived", "machine", 3, "nothing differs")
