"""What the faults of time and luck do to a call."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from ordeal.faults import timing

CHARGE, LATER = "shop_app.api.charge", "shop_app.api.charge_later"


def test_timeout_raises_at_once(api: Any, slept: list[float]) -> None:
    with (
        timing.timeout(CHARGE) as fault,
        pytest.raises(TimeoutError, match=f"^Simulated timeout after 30.0s in {CHARGE}$"),
    ):
        api.charge()
    assert (slept, fault.observation_hits) == ([], 1)


def test_timeout_with_another_error(api: Any) -> None:
    with timing.timeout(LATER, 2, ConnectionError), pytest.raises(ConnectionError, match="after 2s"):
        asyncio.run(api.charge_later())


def test_slow_sleeps_when_real(api: Any, slept: list[float]) -> None:
    with timing.slow(CHARGE, 0.25, "real"), timing.slow(LATER, 0.5, mode="real"):
        assert api.charge(3) == 3
        assert slept == [0.25]
        assert asyncio.run(api.charge_later(4)) == 4
    assert slept == [0.25, 0.5]


def test_intermittent_crash_counts_calls_until_reset(api: Any) -> None:
    fault = timing.intermittent_crash(CHARGE, 2, KeyError)
    with fault:
        assert api.charge() == 1
    api.charge()
    with fault:
        with pytest.raises(KeyError, match=rf"Simulated crash in {CHARGE} \(call #2\)"):
            api.charge()
        assert api.charge() == 1
    fault.reset()
    with fault:
        assert api.charge() == 1


def test_jitter_moves_numbers_up_and_down_in_turn(api: Any) -> None:
    with timing.jitter(CHARGE, 0.5):
        assert [api.charge(10), api.charge(-10), api.charge(0)] == [15, -15, 0.5]
        assert [api.charge(Decimal(10)), api.charge(2.0)] == [Decimal("5.0"), 3.0]


@pytest.mark.parametrize("result", [True, None, "text", [1.0]])
def test_jitter_leaves_other_results_alone(api: Any, result: Any) -> None:
    with timing.jitter(CHARGE):
        assert api.charge(result) is result


def test_jitter_starts_over_after_reset(api: Any) -> None:
    fault = timing.jitter(CHARGE, 0.5)
    with fault:
        api.charge(1)
    fault.reset()
    with fault:
        assert api.charge(10) == 15
