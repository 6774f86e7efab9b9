"""What machines said is kept for the mutants that they judged, and for no others."""

from __future__ import annotations

from pathlib import Path

from tests.unit._report.test_machine_mutation import judgement

from ordeal._tools.mutation.machines.kept_judgement import forget, keep, of_last
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.verdicts import Verdict


def test_it_is_kept_until_it_is_forgotten_or_others_are_judged(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text("def allowed(age, n):\n    return age >= 18 and n > 2\n")
    source = Source.of(path, "shop.py")
    said = judgement(source)
    keep(tmp_path, said)
    found = of_last(tmp_path, said.verdicts)
    assert found is not None
    assert (found.findings, found.machines) == (said.findings, said.machines)
    others = [Verdict(each, "killed") for each in mutants_of(source, ["boundary"])]
    assert of_last(tmp_path, others) is None
    (tmp_path / ".ordeal" / "mutate" / "machines.json").write_text('{"findings": [1]}')
    assert of_last(tmp_path, said.verdicts) is None
    forget(tmp_path)
    forget(tmp_path)
    assert of_last(tmp_path, []) is None
