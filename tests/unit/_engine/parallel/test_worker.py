"""What a worker goes by: its share of the runs, its seed, when it tells its news, and what it shares memory for."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._engine.parallel import worker
from ordeal._engine.parallel.worker import (
    EXCHANGE_RUNS,
    EXCHANGE_SECONDS,
    EXCHANGE_SHARE,
    SOON_SECONDS,
    SOON_SHARE,
    ByClock,
    ByRuns,
    ProcessIdentity,
    settings_of,
    share_of_runs,
)

from ...samples.triaged import settings_for


class Clock:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(worker, "monotonic", made.monotonic)
    return made


class Plain(RuleBasedStateMachine):
    @rule()
    def go(self) -> None: ...


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

    def test_no_limit_is_no_share(self) -> None:
        assert share_of_runs(None, 5, 3, 0) is None


def always() -> bool:
    return True


def rounds(schedule: ByRuns, runs: int) -> list[int]:
    return [run for run in range(runs) if schedule.is_due(run, always)]


class TestByRuns:
    def test_rounds_end_after_the_same_numbers_of_runs(self) -> None:
        due = rounds(ByRuns(), 5 * EXCHANGE_RUNS)
        assert due == [EXCHANGE_RUNS * number for number in range(1, 5)]

    def test_one_that_goes_on_ends_its_rounds_where_one_without_a_break_does(self) -> None:
        far = 50_000
        whole = rounds(ByRuns(), far)
        for before in (1, EXCHANGE_RUNS - 1, EXCHANGE_RUNS, EXCHANGE_RUNS + 1, 20_001):
            resumed = [before + run for run in rounds(ByRuns(before), far - before)]
            assert resumed == [run for run in whole if run > before]

    def test_very_many_runs_have_longer_rounds(self) -> None:
        due = rounds(ByRuns(), 100_000)
        lengths = [after - before for before, after in itertools.pairwise(due)]
        assert lengths == sorted(lengths)
        assert lengths[-1] == pytest.approx(100_000 / EXCHANGE_SHARE, rel=0.05)


class TestByClock:
    def due(self, schedule: ByClock, *, entries: bool) -> bool:
        return schedule.is_due(0, lambda: entries)

    def test_without_finds_it_is_due_after_its_time(self, clock: Clock) -> None:
        schedule = ByClock()
        assert not self.due(schedule, entries=False)
        clock.now += EXCHANGE_SECONDS - 0.001
        assert not self.due(schedule, entries=False)
        clock.now += SOON_SECONDS
        assert self.due(schedule, entries=False)

    def test_finds_are_told_soon(self, clock: Clock) -> None:
        schedule = ByClock()
        schedule.exchanged(0.0)
        clock.now += SOON_SECONDS * 0.9
        assert not self.due(schedule, entries=True)
        clock.now += SOON_SECONDS * 0.2
        assert self.due(schedule, entries=True)

    def test_an_exchange_that_takes_long_comes_less_often_but_still_as_often_as_without_finds(
        self, clock: Clock
    ) -> None:
        schedule = ByClock()
        took = 2 * SOON_SECONDS / SOON_SHARE
        schedule.exchanged(took)
        clock.now += SOON_SECONDS * 1.5
        assert not self.due(schedule, entries=True)
        clock.now += SOON_SECONDS
        assert self.due(schedule, entries=True)
        schedule.exchanged(60.0)
        clock.now += EXCHANGE_SECONDS * 0.9
        assert not self.due(schedule, entries=True)
        clock.now += EXCHANGE_SECONDS * 0.2
        assert self.due(schedule, entries=False)


class TestPlaces:
    def test_the_first_of_all_has_the_seed_of_the_exploration(self) -> None:
        assert ProcessIdentity(0, 0, 0).seed_of(42) == 42

    def test_each_other_one_has_a_seed_of_its_own_each_time_the_same(self) -> None:
        identities = [ProcessIdentity(m, n, i) for m in range(3) for n in range(3) for i in range(3)]
        seeds = [identity.seed_of(42) for identity in identities]
        assert len(set(seeds)) == len(identities)
        assert seeds == [identity.seed_of(42) for identity in identities]
        assert all(0 <= seed < 2**64 for seed in seeds)
        assert set(seeds).isdisjoint(identity.seed_of(43) for identity in identities)


class TestSettings:
    def test_a_worker_searches_and_does_nothing_else(self, tmp_path: Path) -> None:
        whole = settings_for(
            Plain, shrink=True, confirm_fresh=True, progress=print, shrink_progress=print, corpus_dir=tmp_path,
            save_state_to=tmp_path / "a", resume_from=tmp_path / "b", steps_per_run=7, seed=5, max_runs=100,
        )  # fmt: skip
        own = settings_of(whole, ProcessIdentity(0, 1, 0), None, 33, 2.5)
        expected: dict[str, Any] = {
            "session_seed": ProcessIdentity(0, 1, 0).seed_of(5), "max_runs": 33, "max_time": 2.5, "shrink": False,
            "confirm_fresh": False, "progress": None, "shrink_progress": None, "corpus_dir": None,
            "save_state_to": None, "resume_from": None,
        }  # fmt: skip
        assert own == whole.replaced(**expected)

    def test_the_seed_of_the_exploration_stays_and_a_session_goes_on_with_its_own(self) -> None:
        whole = settings_for(Plain, seed=5)
        own = settings_of(whole, ProcessIdentity(0, 1, 0), 77, None, 1.0)
        assert (own.seed, own.session_seed, own.max_runs) == (5, 77, None)
        assert settings_of(whole, ProcessIdentity(0, 1, 0), 0, None, 1.0).session_seed == 0  # a seed like any other
