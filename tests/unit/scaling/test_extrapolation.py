"""Extrapolation: which numbers of workers, the law carried on, hosts side by side, and the arithmetic of a store."""

from __future__ import annotations

import pytest

from ordeal.scaling.extrapolation import Assumptions, Extrapolation, extrapolate
from ordeal.scaling.law import Law, Measurement, analyse

LAW = Law(0.05, 0.002)


def carried_on(most: int, assumptions: Assumptions | None = None) -> Extrapolation:
    fit = analyse([Measurement(n, (LAW.capacity(n), LAW.capacity(n))) for n in (1, 2, 4, 8)]).fit
    assert fit is not None
    return extrapolate(fit, 8, most, assumptions)


@pytest.mark.parametrize(
    ("most", "counts"),
    [(10, [10]), (50, [10, 50]), (1000, [10, 100, 1000]), (100_000, [10, 100, 1000, 10_000, 100_000])],
)
def test_tenfold_up_to_what_was_asked_for(most: int, counts: list[int]) -> None:
    assert [projection.workers for projection in carried_on(most).projections] == counts


def test_one_pool_follows_the_law_past_its_peak() -> None:
    first, *_, last = carried_on(100_000).projections
    assert first.capacity == pytest.approx(LAW.capacity(10))
    assert last.capacity == pytest.approx(LAW.capacity(100_000))
    assert last.capacity < 0.01 < first.capacity
    assert first.capacity_interval is not None
    assert first.capacity_interval.low <= first.capacity <= first.capacity_interval.high


def test_hosts_explore_side_by_side_and_pay_for_imports() -> None:
    (row,) = carried_on(20).projections[1:]
    assert row.hosts == 3
    assert row.fleet_capacity == pytest.approx(0.95 * (2 * LAW.capacity(8) + LAW.capacity(4)))


def test_one_host_pays_for_nothing() -> None:
    fit = analyse([Measurement(n, (LAW.capacity(n),)) for n in (1, 2, 4, 16)]).fit
    assert fit is not None
    (row,) = extrapolate(fit, 16, 10).projections
    assert row.hosts == 1
    assert row.fleet_capacity == pytest.approx(LAW.capacity(10))
    full = extrapolate(fit, 16, 16).projections[-1]
    assert full.fleet_capacity == pytest.approx(LAW.capacity(16))


def test_the_store_by_arithmetic() -> None:
    rows = {row.workers: row for row in carried_on(100_000).projections}
    assert rows[10].store_load == pytest.approx(10 / 5780)
    assert rows[1000].store_load == pytest.approx(1000 / 5 / 5780)
    assert rows[1000].fan_out_bytes == 1000 * 20 * 1024
    assert rows[10].cold_start_bytes == 10 * 10_000 * 1024
    assert rows[100_000].usd_per_hour == pytest.approx(4000)


def test_relays_stand_in_where_there_are_too_many_connections() -> None:
    rows = {row.workers: row for row in carried_on(100_000).projections}
    assert (rows[10_000].connections, rows[100_000].connections) == (10_000, 1000)
    assert rows[100_000].store_load == pytest.approx(1000 / 30 / 5780)
    assert carried_on(10_001).projections[-1].connections == 101


def test_more_workers_ask_the_store_less_often() -> None:
    assumed = Assumptions()
    assert [assumed.sync_interval_s(each) for each in (100, 101, 1000, 1001)] == [1.0, 5.0, 5.0, 30.0]


def test_other_assumptions_give_other_numbers() -> None:
    assumed = Assumptions(new_entries_early=1.0, import_s=0.001, core_hour_usd=1.0)
    result = carried_on(1000, assumed)
    assert result.assumptions is assumed
    assert assumed.import_share == pytest.approx(0.001)
    assert result.projections[-1].usd_per_hour == 1000
    assert result.projections[-1].fleet_capacity == pytest.approx(125 * LAW.capacity(8) * 0.999)
