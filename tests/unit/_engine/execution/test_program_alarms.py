"""The alarms of a program are its own, during a run and no longer."""

from __future__ import annotations

import signal
import time

import pytest

from ordeal import ChaosTest, rule
from ordeal.explore import Explorer


def ring(_number: int, _frame: object) -> None:
    raise TimeoutError


class Waits(ChaosTest):
    @rule()
    def wait(self) -> None:
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        with pytest.raises(TimeoutError):
            time.sleep(60)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


class Leaves(ChaosTest):
    """Each run ends before its alarm, which would kill the process."""

    @rule()
    def leave(self) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, 1)


@pytest.mark.parametrize("machine", [Waits, Leaves])
def test_an_alarm_of_a_run_is_no_failure(machine: type[ChaosTest]) -> None:
    assert Explorer(machine, seed=1).run(max_runs=30, steps_per_run=5).failures == []
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class Works(ChaosTest):
    @rule()
    def work(self) -> None: ...


class Hangs(ChaosTest):
    rule_timeout = 0.2

    @rule()
    def hang(self) -> None:
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        time.sleep(60)


def test_a_rule_that_ignores_alarms_is_ended_at_its_limit() -> None:
    before = signal.getsignal(signal.SIGALRM)
    try:
        (failure,) = Explorer(Hangs, seed=1).run(max_runs=1, steps_per_run=5).failures
    finally:
        signal.signal(signal.SIGALRM, before)
    assert (type(failure.error).__name__, failure.flaky) == ("RuleTimeoutError", False)


def test_an_alarm_that_rings_for_a_test_around_the_search_stays() -> None:
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _frame: rung.append(number))
    try:
        signal.setitimer(signal.ITIMER_REAL, 30)
        Explorer(Works, seed=1).run(max_runs=5)
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
