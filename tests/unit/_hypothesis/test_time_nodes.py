"""Plans of dates and times draw what Hypothesis draws, and there are none where a timezone is involved."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.strategies._internal.lazy import unwrap_strategies

from ordeal._hypothesis import compiled_checks
from ordeal._hypothesis.time_nodes import TIME_STRATEGIES, time_node

MOMENT = dt.datetime(2024, 2, 28, 23, 59, 58)


def node_of(strategy: Any) -> Any:
    plain = unwrap_strategies(strategy)  # type: ignore[no-untyped-call]
    assert isinstance(plain, TIME_STRATEGIES)
    return time_node(plain)


@pytest.mark.parametrize(
    "strategy",
    [
        st.dates(),
        st.dates(dt.date(2024, 2, 28), dt.date(2024, 3, 1)),
        st.dates(dt.date(2023, 12, 31), dt.date(2024, 1, 1)),
        st.times(),
        st.times(dt.time(23, 59, 59), dt.time(23, 59, 59, 5)),
        st.datetimes(),
        st.datetimes(MOMENT, MOMENT + dt.timedelta(days=2)),
        st.timedeltas(),
        st.timedeltas(dt.timedelta(-1, 5), dt.timedelta(1, 3, 7)),
    ],
    ids=repr,
)
def test_a_plan_draws_what_hypothesis_draws(strategy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given_up: list[str] = []
    monkeypatch.setattr(compiled_checks, "given_up", given_up)
    monkeypatch.setattr(compiled_checks, "PROBES", 60)
    node = node_of(strategy)
    assert node is not None
    assert compiled_checks.passes_probe(strategy, node), given_up


@pytest.mark.parametrize(
    "strategy",
    [
        st.times(timezones=st.just(dt.UTC)),
        st.datetimes(timezones=st.just(dt.UTC)),
        st.datetimes(timezones=st.none() | st.just(dt.UTC)),
        st.times(timezones=st.none().map(lambda _: None)),
    ],
    ids=["time", "datetime", "perhaps", "mapped"],
)
def test_timezones_have_no_plan(strategy: Any) -> None:
    assert node_of(strategy) is None
