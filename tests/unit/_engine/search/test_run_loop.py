"""The sample of runs: what it takes, and that it stays small however long a search is."""

from __future__ import annotations

from itertools import pairwise

from ordeal._engine.search.run_loop import EACH, KEPT_MAX, Sample


def taken(runs: int) -> list[int]:
    sample, kept = Sample(), list[int]()
    for run_id in range(1, runs + 1):
        if sample.takes(run_id, kept):
            kept.append(run_id)
    return kept


def test_it_takes_many_of_the_first_runs_then_ever_the_same_share() -> None:
    kept = taken(10_000)
    assert kept[:6] == [1, 4, 16, 64, 256, 1_024]
    assert {after - before for before, after in pairwise(kept[5:])} == {EACH}


def test_a_long_search_is_sampled_from_its_begin_to_its_end() -> None:
    kept = taken(5 * KEPT_MAX * EACH)
    assert KEPT_MAX / 2 <= len(kept) <= KEPT_MAX
    assert kept[0] == 1
    assert kept[-1] > 4.9 * KEPT_MAX * EACH
