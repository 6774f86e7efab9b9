"""The archetypes of the examples: the first failing case is a small one, and all cases pass once it is repaired."""

from pathlib import Path

import pytest

from .conftest import EXAMPLES, imported

PROJECT = EXAMPLES / "archetypes"
BROKEN = "            self.entities[row] = last\n"
REPAIRED = f"{BROKEN}            self.row_of[last] = row\n"


@pytest.mark.parametrize("repaired", [False, True])
def test_all_cases_find_what_is_planted_and_nothing_else(repaired: bool, tmp_path: Path) -> None:
    text = (PROJECT / "archetypes.py").read_text("utf-8")
    assert BROKEN in text
    (tmp_path / "archetypes.py").write_text(text.replace(BROKEN, REPAIRED) if repaired else text, "utf-8")
    with imported(PROJECT / "test_archetypes.py", path=[tmp_path], modules={"archetypes"}) as module:
        test = module.test_a_moved_entity_keeps_what_both_archetypes_have
        if repaired:
            test()
            return
        with pytest.raises((IndexError, KeyError, AssertionError)) as caught:
            test()
    assert caught.value.__notes__[0].startswith("choices [0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]")
