"""Machines of a project judge from the outside, and the answers are refused where they would not be true."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit._engine.mutation.machines import till

from ordeal._engine.mutation.machines.evidence import Finding
from ordeal._engine.mutation.machines.running import (
    MachineJudgement,
    MachineOptions,
    judge_with_machines,
    verdict_of,
)
from ordeal._engine.mutation.mutants import mutants_of
from ordeal._engine.mutation.operators import PRESETS
from ordeal._engine.mutation.running import NoVerdictError
from ordeal._engine.mutation.source import Source


def judged(folder: Path, *, workers: int = 1, machine: str = "till:Till") -> MachineJudgement:
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
    assert one.table.invariants["coins_are_right"].kills >= 1
    assert not list(tmp_path.glob("__pycache__"))


@pytest.mark.nightly
def test_a_machine_that_cannot_be_imported_gives_no_verdict(tmp_path: Path) -> None:
    with pytest.raises(NoVerdictError):
        judged(tmp_path, machine="till:Gone")


def test_a_finding_as_a_verdict_of_the_reports() -> None:
    source = Source.of(Path(till.__file__), "till.py")
    mutant = mutants_of(source, PRESETS["essential"])[0]
    verdict = verdict_of(mutant, Finding(mutant.id, "survived", traces=9, replays=3))
    assert (verdict.word, verdict.route, verdict.tests, verdict.note) == ("survived", "machine", 3, "nothing differs")
