"""Failure buckets are merged alike in whatever order and however often their parts arrive."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ordeal.store import FailureReport
from ordeal.store.failure_buckets import FailureBuckets
from ordeal.store.records import RecordError

REPORTS = st.builds(
    FailureReport, st.sampled_from("ab"), st.binary(max_size=2), st.integers(0, 3), st.integers(0, 5), st.booleans()
)
PARTS = st.lists(st.tuples(st.sampled_from("xyz"), REPORTS))


def merged(parts: list[tuple[str, FailureReport]]) -> list[FailureReport]:
    buckets = FailureBuckets()
    for member, report in parts:
        buckets.add(member, report)
    return list(buckets)


@given(PARTS, st.randoms(use_true_random=False))
def test_order_and_repetition_make_no_difference(parts: list[tuple[str, FailureReport]], chance: Random) -> None:
    again = parts * 2
    chance.shuffle(again)
    with_traces = [report for report in merged(parts) if report.trace]
    assert [report for report in merged(again) if report.trace] == with_traces
    assert [(report.bucket, report.count) for report in merged(again)] == [
        (report.bucket, report.count) for report in merged(parts)
    ]


@given(PARTS)
def test_counts_are_maxima_of_members_and_the_trace_is_the_shortest(parts: list[tuple[str, FailureReport]]) -> None:
    for report in merged(parts):
        mine = [(member, each) for member, each in parts if each.bucket == report.bucket]
        highest = {member: max(each.count for who, each in mine if who == member) for member, _ in mine}
        assert report.count == sum(highest.values())
        assert all(each.steps >= report.steps for _, each in mine if each.trace and report.trace)
        assert bool(report.trace) == any(each.trace for _, each in mine)
        shortest = [each for _, each in mine if each.trace and each.steps == report.steps]
        assert not report.trace or report.shrunk == any(each.shrunk for each in shortest)


@given(PARTS)
def test_only_what_is_new_is_said_to_be(parts: list[tuple[str, FailureReport]]) -> None:
    buckets = FailureBuckets()
    for member, report in parts:
        before = list(buckets)
        would = buckets.would_learn(member, report)
        assert buckets.add(member, report) == would
        if not would:
            assert list(buckets) == before
        assert not buckets.would_learn(member, report)


def test_there_is_a_limit_of_buckets_and_of_their_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal.store.failure_buckets.BUCKETS_MAX", 2)
    monkeypatch.setattr("ordeal.store.failure_buckets.INPUT_BYTES_MAX", 10)
    buckets = FailureBuckets()
    buckets.add("x", FailureReport("a", b"8 bytes.", 5, 1))
    with pytest.raises(RecordError, match="10 bytes"):
        buckets.add("x", FailureReport("b", b"8 bytes.", 5, 1))
    # A better trace gives the room of the old one back.
    buckets.add("x", FailureReport("a", b"10 bytes..", 4, 1))
    with pytest.raises(RecordError, match="at most 2"):
        buckets.add("x", FailureReport("c", b"", 5, 1))
    assert [report.bucket for report in buckets] == ["a", "b"]
