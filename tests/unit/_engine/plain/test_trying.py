"""How a plain program ends, told by the process that tries it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ordeal._engine.plain.trying import outcome


@pytest.mark.parametrize("folder", ["project", "ordeal-bugs"])
def test_the_place_of_a_failure_is_in_the_program_wherever_that_lies(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "tried_till.py").write_text("def pay():\n    raise ValueError('empty')\n")
    monkeypatch.syspath_prepend(tmp_path / folder)
    monkeypatch.delitem(sys.modules, "tried_till", raising=False)
    found = outcome("from tried_till import pay\npay()\n")
    assert (found["type"], found["place"]) == ("ValueError", "pay")
