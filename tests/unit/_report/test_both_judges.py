"""The report of tests and machines together."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit._report.test_machine_mutation import judgement

from ordeal._report.both_judges import both_json, both_text
from ordeal._tools.mutation.machines.beside_tests import together
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "shop.py"
    path.write_text("def allowed(age, n):\n    return age >= 18 and n > 2\n")
    return Source.of(path, "shop.py")


def test_what_only_machines_notice_is_named(source: Source) -> None:
    machines = judgement(source)
    first, second = (each.mutant for each in machines.verdicts)
    tests = Judgement([Verdict(first, "survived", tests=3), Verdict(second, "uncovered")], tests=3)
    verdicts = together(tests.verdicts, machines.verdicts)
    text = both_text([source], verdicts, tests, machines)
    assert f"only machines             1  shop.py:2 {first.id}\n" in text
    assert "  no test runs this\n  state differs at step 5 of trace 3 (sell)" in text
    assert text.endswith("score 1/2 (50.0 %)\n")
    assert both_json([source], verdicts, tests, machines)["noticed_by"] == {
        "both": [],
        "only tests": [],
        "only machines": [first.id],
        "nobody": [second.id],
    }


def test_what_recorded_runs_and_examples_of_hypothesis_notice_is_compared(source: Source) -> None:
    machines = judgement(source)
    first, second = (each.mutant for each in machines.verdicts)
    tests = Judgement(
        [Verdict(first, "survived", tests=3), Verdict(second, "uncovered")], tests=3, apart=["t::runTest"]
    )
    examples = Judgement([Verdict(first, "survived", tests=1), Verdict(second, "killed", tests=1)])
    verdicts = together(together(tests.verdicts, examples.verdicts), machines.verdicts)
    text = both_text([source], verdicts, tests, machines, examples)
    assert f"only examples               1  shop.py:2 {second.id}\n" in text
    assert f"only recorded runs          1  shop.py:2 {first.id}\n" in text
    assert "not asked, as their machines judge" not in text
    assert "--hypothesis asks them: t::runTest\n" in both_text([source], verdicts, tests, machines)
    noticed = both_json([source], verdicts, tests, machines, examples)["machines_noticed_by"]
    assert (noticed["only examples"], noticed["only runs"]) == ([second.id], [first.id])


def test_what_is_dead_is_so_for_each_judge(source: Source) -> None:
    machines = judgement(source)
    first, second = (each.mutant for each in machines.verdicts)
    tests = Judgement([Verdict(first, "killed"), Verdict(second, "survived")], tests=3)
    verdicts = [Verdict(first, "killed"), Verdict(second, "dead", note="it is stored, and never read")]
    found = both_json([source], verdicts, tests, machines)
    for judge in ("tests", "machines"):
        mutant = found[judge]["mutants"][1]
        assert (mutant["verdict"], mutant["note"]) == ("dead", "it is stored, and never read")
        assert found[judge]["score"]["undetected"] == 0
    assert found["dead"] == {second.id: "it is stored, and never read"}
