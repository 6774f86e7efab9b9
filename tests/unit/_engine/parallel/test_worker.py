"""What a worker goes by: its share of the runs, its seed, when it tells its news, and what it shares memory for."""

from __future__ import annotations

import pytest

from ordeal._engine.parallel.worker import (
    EXCHANGE_RUNS,
    ByRuns,
    ProcessIdentity,
    share_of_runs,
)


class TestShares:
    @pytest.mark.parametrize(
        ("runs", "made", "shares"),
        [
            (9, 0, [3, 3, 3]),
            (10, 0, [4, 3, 3]),
            (11, 0, [4, 4, 3]),
            (2, 0, [1, 1, 0]),
            (0, 0, [0, 0, 0]),
            (10, 4, [2, 2, 2]),
            (10, 10, [0, 0, 0]),
            (10, 12, [0, 0, 0]),  # resumed with fewer than were made
        ],
    )
    def test_all_runs_are_somebodys_and_nobody_has_two_more_than_another(
        self, runs: int, made: int, shares: list[int]
    ) -> None:
        assert [share_of_runs(runs, made, 3, number) for number in range(3)] == shares


def always() -> bool:
    return True


def rounds(schedule: ByRuns, runs: int) -> list[int]:
    return [run for run in range(runs) if schedule.is_due(run, always)]


class TestByRuns:
    def test_one_that_goes_on_ends_its_rounds_where_one_without_a_break_does(self) -> None:
        far = 50_000
        whole = rounds(ByRuns(), far)
        for before in (1, EXCHANGE_RUNS - 1, EXCHANGE_RUNS, EXCHANGE_RUNS + 1, 20_001):
            resumed = [before + run for run in rounds(ByRuns(before), far - before)]
            assert resumed == [run for run in whole if run > before]


class TestPlaces:
    def test_each_other_one_has_a_seed_of_its_own_each_time_the_same(self) -> None:
        identities = [ProcessIdentity(m, n, i) for m in range(3) for n in range(3) for i in range(3)]
        seeds = [identity.seed_of(42) for identity in identities]
        assert len(set(seeds)) == len(identities)
        assert seeds == [identity.seed_of(42) for identity in identities]
        assert all(0 <= seed < 2**64 for seed in seeds)
        assert set(seeds).isdisjoint(identity.seed_of(43) for identity in identities)
