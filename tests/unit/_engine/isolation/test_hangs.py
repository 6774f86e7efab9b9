"""How long a rule may take in a replay: many times what it has taken, never more than its limit."""

from __future__ import annotations

import math

import pytest

from ordeal._engine.isolation import hangs
from ordeal._engine.isolation.hangs import (
    GAP_SECONDS_MAX,
    GROWTH,
    SECONDS_MIN,
    TIMES,
    HangPolicy,
    WatchedClock,
)


def test_adapted_it_is_many_times_the_slowest_step_between_the_least_and_the_full_one() -> None:
    limits = HangPolicy(30.0)
    limits.learn({"act": 0.1, "tiny": 0.0001, "slow": 20.0})
    limits.learn({"act": 0.05})
    with limits.adapted():
        assert limits.limit_of("act") == TIMES * 0.1
        assert limits.limit_of("tiny") == SECONDS_MIN
        assert limits.limit_of("slow") == 30.0
        assert limits.limit_of("unknown") == 30.0, "it may be as slow as the slowest"
        with limits.full():
            assert limits.limit_of("tiny") == 30.0
        assert limits.limit_of("tiny") == SECONDS_MIN
    assert limits.limit_of("act") == 30.0


def test_a_rule_that_is_known_to_hang_is_adapted_alone() -> None:
    limits = HangPolicy(30.0)
    limits.learn({"act": 0.0001, "wait": 0.0001})
    before = limits.expects_hangs
    limits.expect_hang("wait")
    assert (before, limits.expects_hangs) == (False, True)
    assert (limits.limit_of("wait"), limits.limit_of("act")) == (SECONDS_MIN, 30.0)


@pytest.mark.parametrize(
    ("full", "max_time", "max_runs", "waits"),
    [
        (30.0, 20.0, None, 2.0),
        (30.0, 1.0, None, 1.0),
        (30.0, 100.0, None, 10.0),
        (30.0, 400.0, None, 30.0),
        (30.0, 20.0, 1_000, 30.0),
        (0.5, 20.0, None, 0.5),
        (0.0, 20.0, None, math.inf),
    ],
    ids=["short", "at least", "longer", "long enough", "by runs", "low limit", "no limit"],
)
def test_a_short_search_does_not_wait_for_the_full_limit_of_its_steps(
    full: float, max_time: float, max_runs: int | None, waits: float
) -> None:
    limits = HangPolicy(full)
    limits.begin_search(max_time, max_runs)
    assert limits.is_short == (waits < (full or math.inf))
    with limits.hurried():
        assert limits.limit_of("act") == waits
        assert limits.limit_of("__init__") == limits.limit_of("teardown") == (full or math.inf)
        with limits.full(limits.looks_for):
            assert limits.limit_of("act") == waits
    assert limits.limit_of("act") == (full or math.inf)


def test_a_search_waits_longer_where_runs_that_ended_well_took_long_or_a_step_was_suspected_wrongly() -> None:
    limits = HangPolicy(30.0)
    limits.begin_search(20.0, None)
    with limits.hurried():
        limits.learn_run(4.0)
        assert limits.limit_of("act") == 4.0
        limits.grow()
        assert limits.limit_of("act") == GROWTH * 2.0


def test_a_rule_that_took_its_full_limit_is_only_glanced_at_again_where_nothing_has_passed() -> None:
    limits = HangPolicy(30.0)
    limits.ended_in = "act"
    assert limits.limit_of("act") == 30.0
    with limits.adapted():
        assert limits.limit_of("act") == limits.glance == 3.0
        assert limits.limit_of("another") == 30.0


def test_many_rules_that_hang_leave_a_search_most_of_its_time() -> None:
    limits = HangPolicy(30.0)
    limits.begin_search(100.0, None)
    waited = 0.0
    rules = [f"act_{number}" for number in range(9)]
    with limits.hurried():
        for rule in rules:
            waited += limits.limit_of(rule) + limits.looks_for
            limits.expect_hang(rule)
            limits.expect_hang(rule)
    assert waited < 0.5 * 100.0
    assert limits.looks_for == 1.0


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [50.0]
    monkeypatch.setattr(hangs, "monotonic", lambda: now[0])
    return now


def test_a_watched_clock_goes_on_a_little_for_a_long_time_without_a_look(now: list[float]) -> None:
    clock = WatchedClock()
    now[0] += 3_600.0
    assert clock.seconds() == GAP_SECONDS_MAX
    now[0] += 0.125
    assert clock.seconds() == GAP_SECONDS_MAX + 0.125


def test_a_search_hardly_waits_for_a_step_that_hangs_again_and_half_as_long_for_others() -> None:
    limits = HangPolicy(30.0)
    limits.begin_search(100.0, None)
    assert limits.patience("act") == 10.0
    limits.expect_hang("act")
    assert limits.patience("act") == SECONDS_MIN
    assert limits.patience("other") == 5.0
    limits.learn_run(0.02)
    assert limits.patience("act") == TIMES * 0.02
