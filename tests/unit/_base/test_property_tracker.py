"""The tracker counts properties, says whether that is enough, and adds up what workers saw."""

from __future__ import annotations

import json
import os
import threading
import warnings
from typing import Any

import pytest

import ordeal._native as _native
from ordeal._base.property_tracker import PROPERTIES_MAX, PropertyTracker, PropertyType
from ordeal.errors import PropertyError


@pytest.fixture
def tracker() -> PropertyTracker:
    tracker = PropertyTracker(_native.EnabledFlag(), _native.HitCounts())
    tracker.active = True
    return tracker


def statuses(tracker: PropertyTracker) -> dict[str, str]:
    return {result.name: result.status for result in tracker.results}


@pytest.mark.parametrize(
    ("kind", "unseen", "true", "false", "both"),
    [
        ("always", "FAIL", "PASS", "FAIL", "FAIL"),
        ("always_or_unreachable", "PASS", "PASS", "FAIL", "FAIL"),
        ("sometimes", "FAIL", "PASS", "FAIL", "PASS"),
        ("reachable", "FAIL", "PASS", "PASS", "PASS"),
        ("unreachable", "PASS", "FAIL", "FAIL", "FAIL"),
    ],
)
def test_what_passes(
    tracker: PropertyTracker, kind: PropertyType, unseen: str, true: str, false: str, both: str
) -> None:
    for name, hits in {"unseen": [], "true": [True], "false": [False], "both": [True, False]}.items():
        tracker.declare(name, kind)
        for passed in hits:
            tracker.record(kind, name, passed)
    assert statuses(tracker) == {"unseen": unseen, "true": true, "false": false, "both": both}
    assert {result.name for result in tracker.failures} == {
        name for name, status in statuses(tracker).items() if status == "FAIL"
    }


@pytest.mark.parametrize(
    ("kind", "hits", "summary"),
    [
        ("always", [True], "p (always: 1 hit)"),
        ("always", [True, False], "p (always: 1 of 2 hits failed)"),
        ("always", [], "p (always: never checked)"),
        ("sometimes", [False, False], "p (sometimes: never true in 2 hits)"),
        ("sometimes", [False, True], "p (sometimes: true in 1 of 2 hits)"),
        ("sometimes", [], "p (sometimes: never checked)"),
        ("reachable", [True, True], "p (reachable: 2 hits)"),
        ("reachable", [], "p (reachable: never reached)"),
        ("unreachable", [], "p (unreachable: never reached)"),
        ("unreachable", [False], "p (unreachable: reached, 1 hit)"),
    ],
)
def test_a_result_says_what_was_seen(
    tracker: PropertyTracker, kind: PropertyType, hits: list[bool], summary: str
) -> None:
    tracker.declare("p", kind)
    for passed in hits:
        tracker.record(kind, "p", passed)
    (result,) = tracker.results
    assert result.summary == summary
    assert (result.hits, result.passes, result.failures) == (len(hits), sum(hits), len(hits) - sum(hits))
    assert result.evidence_status == (result.status if hits else "NOT EXERCISED")


def test_names_made_at_run_time_are_refused_before_they_fill_the_memory(tracker: PropertyTracker) -> None:
    for number in range(PROPERTIES_MAX):
        tracker.record("reachable", f"order {number}", True)
    with pytest.raises(PropertyError, match="more than 10,000 properties, the last one named 'order 10000'"):
        tracker.record("reachable", f"order {PROPERTIES_MAX}", True)
    tracker.record("reachable", "order 0", True)


# -- as a whole -------------------------------------------------------------------------------------------------------


def filled(tracker: PropertyTracker) -> None:
    tracker.record("always", "a", True, operation="read", fault="slow")
    tracker.record("sometimes", "s", False, distance=4.0, details="d")
    tracker.declare("r", "reachable")
    tracker.declare("a", "always", operation="write", fault="slow")


def test_a_reset_keeps_what_modules_declared_when_they_were_imported(tracker: PropertyTracker) -> None:
    filled(tracker)
    tracker.record("reachable", "r", True)
    tracker.reset()
    assert [(result.name, result.hits) for result in tracker.results] == [("r", 0)]
    assert [(cell.operation, cell.status) for cell in tracker.cells] == [("write", "NOT EXERCISED")]
    tracker.reset(declared=True)
    assert (tracker.results, tracker.cells) == ([], [])


def test_a_snapshot_is_json_and_can_be_restored(tracker: PropertyTracker) -> None:
    filled(tracker)
    snapshot = json.loads(json.dumps(tracker.snapshot()))
    before = (tracker.results, tracker.cells, tracker.distances())
    tracker.record("always", "later", True)
    tracker.restore(snapshot)
    assert (tracker.results, tracker.cells, tracker.distances()) == before
    assert tracker.snapshot() == snapshot


def test_workers_add_up(tracker: PropertyTracker) -> None:
    filled(tracker)
    other = PropertyTracker(_native.EnabledFlag(), _native.HitCounts())
    other.active = True
    other.record("sometimes", "s", True, distance=0.0)
    other.record("reachable", "r", True)
    other.record("unreachable", "u", False, details="why")
    tracker.merge(other.snapshot())
    rows = {result.name: (result.hits, result.passes, result.status, result.details) for result in tracker.results}
    assert rows == {
        "a": (1, 1, "PASS", ""),
        "r": (1, 1, "PASS", ""),
        "s": (2, 1, "PASS", "d"),
        "u": (1, 0, "FAIL", "why"),
    }
    assert tracker.distances() == {"s": 0.0}
    cells = tracker.cells
    tracker.merge(PropertyTracker(_native.EnabledFlag(), _native.HitCounts()).snapshot())
    assert tracker.cells == cells


def test_of_a_worker_that_fits_not_nothing_is_added(tracker: PropertyTracker) -> None:
    filled(tracker)
    before = tracker.snapshot()
    other = PropertyTracker(_native.EnabledFlag(), _native.HitCounts())
    other.active = True
    other.record("always", "0", True)
    other.record("always", "s", True)
    with pytest.raises(PropertyError, match="'s' is used as sometimes and as always"):
        tracker.merge(other.snapshot())
    assert tracker.snapshot() == before


@pytest.mark.parametrize(
    "change",
    [
        {"hits": -1, "passes": -1},
        {"hits": True},
        {"hits": 2},
        {"type": "never"},
        {"name": 3},
        {"distance": "near"},
        {"declared": 1},
        {"more": 1},
    ],
)
def test_what_is_no_snapshot_is_refused(tracker: PropertyTracker, change: dict[str, Any]) -> None:
    filled(tracker)
    snapshot = tracker.snapshot()
    snapshot["properties"][0] |= change
    with pytest.raises(PropertyError, match="this is not a snapshot of a tracker"):
        tracker.restore(snapshot)
    shapes: list[Any] = [{}, {"properties": [3], "cells": []}, {"properties": None, "cells": []}]
    for wrong in shapes:
        with pytest.raises(PropertyError, match="this is not a snapshot of a tracker"):
            tracker.merge(wrong)


def test_a_recording_starts_from_zero_and_leaves_no_trace_but_declarations(tracker: PropertyTracker) -> None:
    tracker.active = False
    tracker.declare("known", "sometimes")
    with tracker.recording():
        tracker.record("sometimes", "known", True)
        tracker.record("always", "inner", True)
        tracker.declare("imported", "reachable")
        assert statuses(tracker) == {"imported": "FAIL", "inner": "PASS", "known": "PASS"}
    assert not tracker.active
    assert statuses(tracker) == {"imported": "FAIL", "known": "FAIL"}


def test_a_fork_while_another_thread_counts_does_not_hang_the_child(tracker: PropertyTracker) -> None:
    held, go = threading.Event(), threading.Event()

    def hold() -> None:
        with tracker._lock:
            held.set()
            go.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads is the point here
        child = os.fork()
    if child == 0:
        tracker.record("always", "p", True)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    go.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
