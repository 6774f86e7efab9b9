"""The radio link of the examples: the distance leads to the planted bug, which without it stays out of reach."""

from pathlib import Path

import pytest

from ordeal.explore import Explorer

from .conftest import EXAMPLES, changed, imported

PROJECT = EXAMPLES / "radio_link"
# Says whether the numbers start over, and no more how far away that is.
BLIND = (("sometimes_ge(number, NUMBERS - 1,", "sometimes(number >= NUMBERS - 1,"), ("sometimes_ge", "sometimes"))
NEXT = "        self._next = (number + 1)"
SKIP = "        while number in self.waiting:\n            number = (number + 1) % NUMBERS\n"
REPAIR = ((NEXT, SKIP + NEXT),)


@pytest.mark.parametrize(
    ("changes", "max_runs", "found"),
    [((), 30, ["AssertionError"]), (BLIND, 30, []), (REPAIR, 200, [])],
    ids=["told", "blind", "repaired"],
)
def test_the_distance_leads_to_the_bug(
    changes: tuple[tuple[str, str], ...], max_runs: int, found: list[str], tmp_path: Path
) -> None:
    changed(PROJECT / "link.py", changes, tmp_path)
    with imported(PROJECT / "test_link_chaos.py", path=[tmp_path], modules={"link"}) as module:
        explorer = Explorer(module.LinkChaos, target_modules=["link"])
        result = explorer.run(max_runs=max_runs, max_time=3600.0, shrink=False)
    assert [type(failure.error).__name__ for failure in result.failures] == found
