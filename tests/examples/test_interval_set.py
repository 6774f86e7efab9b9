"""The interval set of the examples: the pair finds the planted bug, and nothing once it is repaired."""

from pathlib import Path

import pytest

from ordeal.explore import Explorer

from .conftest import EXAMPLES, changed, imported

PROJECT = EXAMPLES / "interval_set"
REPAIR = (("            last += 1", "            end, last = max(end, self._intervals[last][1]), last + 1"),)


@pytest.mark.parametrize("repaired", [False, True])
def test_the_pair_finds_what_is_planted_and_nothing_else(repaired: bool, tmp_path: Path) -> None:
    changed(PROJECT / "intervals.py", REPAIR if repaired else (), tmp_path)
    modules = {"intervals"}
    with imported(PROJECT / "test_intervals_pair.py", path=[tmp_path], modules=modules) as module:
        failures = Explorer(module.IntervalsPair).run(max_runs=200).failures
    assert (not failures) if repaired else "the views differ" in "".join(str(failure.error) for failure in failures)
