"""The tables of machines on the page."""

from __future__ import annotations

from pathlib import Path

from tests.unit._report.test_machine_mutation import judgement

from ordeal._report.machine_tables import machine_tables
from ordeal._report.mutation_files import mutation_page
from ordeal._tools.mutation.running import Judgement
from ordeal._tools.mutation.source import Source


def test_the_page_says_who_kills_and_why_survivors_survived(tmp_path: Path) -> None:
    path = tmp_path / "shop.py"
    path.write_text("def allowed(age, n):\n    return age >= 18 and n > 2\n")
    source = Source.of(path, "shop.py")
    said = judgement(source)
    tables = {each["title"]: each["rows"] for each in machine_tables(said)["tables"]}
    assert tables["Kills by invariant"] == [["sound", 1, 1, "stock"], ["idle", 0, 0, "nothing"]]
    assert tables["Why they survived"] == [["state differs", 1, "stock 1"]]
    page = mutation_page([source], Judgement(said.verdicts), said)
    assert "state differs at step 5 of trace 3 (sell)" in page
    assert "Not read by any invariant: mails" in page
