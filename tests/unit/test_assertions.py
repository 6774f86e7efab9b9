"""The assertions raise what must not be, count the rest, and do nothing else."""

from __future__ import annotations

import gc
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest

from ordeal.assertions import (
    always,
    always_ge,
    always_gt,
    always_le,
    always_lt,
    always_or_unreachable,
    declare,
    reachable,
    report,
    sometimes,
    sometimes_all,
    sometimes_ge,
    sometimes_gt,
    sometimes_le,
    sometimes_lt,
    tracker,
    unreachable,
)
from ordeal.errors import PropertyError

pytestmark = pytest.mark.usefixtures("undeclared")


@pytest.fixture(params=[False, True], ids=["inactive", "active"])
def any_tracker(request: pytest.FixtureRequest) -> Iterator[None]:
    """The tracker as it is in production, and as it is in a test."""
    with tracker.recording():
        tracker.active = request.param
        yield


@pytest.fixture
def tracked() -> Iterator[None]:
    with tracker.recording():
        yield


def hits(name: str) -> tuple[int, int]:
    """Passes and failures of a property."""
    (result,) = [each for each in tracker.results if each.name == name]
    return result.passes, result.failures


# -- what raises ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("any_tracker")
@pytest.mark.parametrize("check", [always, always_or_unreachable])
def test_always_raises_whether_tracked_or_not(check: Callable[..., None]) -> None:
    check(True, "balance >= 0")
    check([1], "not empty", mute=True, anything=3)
    with pytest.raises(AssertionError, match=r"^always violated: balance >= 0$"):
        check(False, "balance >= 0")
    with pytest.raises(AssertionError, match=r"^always violated: balance >= 0 \| \{'balance': -3\}$"):
        check(False, "balance >= 0", balance=-3)
    with pytest.raises(AssertionError):
        check([], name="not empty")
    check(False, "balance >= 0", mute=True)


@pytest.mark.usefixtures("any_tracker")
def test_unreachable_raises_whether_tracked_or_not() -> None:
    with pytest.raises(AssertionError, match=r"^unreachable code reached: no such state$"):
        unreachable("no such state")
    with pytest.raises(AssertionError, match=r"^unreachable code reached: no such state \| \{'state': 7\}$"):
        unreachable("no such state", state=7)
    unreachable("no such state", mute=True)


@pytest.mark.usefixtures("any_tracker")
@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (always_gt, (3, 2), (2, 2)),
        (always_ge, (2, 2), (1, 2)),
        (always_lt, (2, 3), (2, 2)),
        (always_le, (2, 2), (3, 2)),
    ],
)
def test_comparisons_raise_with_both_sides(
    check: Callable[..., None], good: tuple[int, int], bad: tuple[int, int]
) -> None:
    check(*good, "size")
    left, right = bad
    details = rf"\{{'left': {left}, 'right': {right}, 'node': 'a'\}}"
    with pytest.raises(AssertionError, match=rf"^always violated: size \| {details}$"):
        check(*bad, "size", node="a")
    check(*bad, "size", mute=True)


@pytest.mark.usefixtures("any_tracker")
def test_attempts_ask_here_and_now() -> None:
    answers = iter([False, 0, "yes", False])
    sometimes(lambda: next(answers), "delivered", attempts=5)
    assert next(answers) is False
    with pytest.raises(AssertionError, match=r"^sometimes: never true in 3 attempts: delivered$"):
        sometimes(lambda: False, "delivered", attempts=3)


@pytest.mark.usefixtures("any_tracker")
@pytest.mark.parametrize(
    ("condition", "attempts", "message"),
    [(lambda: True, 0, "attempts is 0"), (False, 3, "attempts needs a condition that can be asked again")],
)
def test_attempts_that_make_no_sense(condition: Any, attempts: int, message: str) -> None:
    with pytest.raises(PropertyError, match=message):
        sometimes(condition, "p", attempts=attempts)


@pytest.mark.usefixtures("tracked")
def test_details_that_cannot_be_shown_hide_no_violation() -> None:
    class Odd:
        def __repr__(self) -> str:
            raise KeyError("x")

    with pytest.raises(AssertionError, match=r"^always violated: p \| <details whose repr raises KeyError>$"):
        always(False, "p", odd=Odd())
    assert hits("p") == (0, 1)


def test_a_violation_points_at_the_line_that_checks() -> None:
    try:
        always(False, "p")
    except AssertionError as error:
        frames = traceback.extract_tb(error.__traceback__)
        hidden = [frame.f_locals.get("__tracebackhide__") for frame, _ in traceback.walk_tb(error.__traceback__)]
    assert frames[0].line == 'always(False, "p")'
    assert hidden == [None, True, True]


# -- what counts ------------------------------------------------------------------------------------------------------


def test_nothing_is_said_and_nothing_is_kept_while_inactive(capfd: pytest.CaptureFixture[str]) -> None:
    with tracker.recording(), warnings.catch_warnings():
        warnings.simplefilter("error")
        tracker.active = False
        always(True, "a")
        sometimes(True, "s")
        sometimes(lambda: 1 / 0, "not even asked")
        reachable("r")
        assert report() == {"passed": [], "failed": []}
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("tracked")
def test_plain_hits_count_like_all_others() -> None:
    for number in range(10):
        always(True, "a")
        always(1, "a", number=number)
        sometimes(number == 3, "s")
        sometimes(lambda: number == 3, "s")  # noqa: B023 - asked at once
        reachable("r")
        always_or_unreachable(True, "o", number=number)
    with pytest.raises(AssertionError):
        always(False, "a")
    assert [hits(name) for name in "asro"] == [(20, 1), (2, 18), (10, 0), (10, 0)]
    tracker.reset()
    always(True, "a")
    always(True, "a")
    assert hits("a") == (2, 0)


@pytest.mark.usefixtures("tracked")
def test_muted_violations_count() -> None:
    always(False, "a", mute=True, why="first")
    always(False, "a", mute=True, why="second")
    unreachable("u", mute=True)
    rows = {row["name"]: row for row in report()["failed"]}
    assert (rows["a"]["failures"], rows["a"]["details"]) == (2, "{'why': 'first'}")
    assert rows["u"]["hits"] == 1


@pytest.mark.usefixtures("tracked")
def test_a_finalizer_may_check_properties_while_results_are_read() -> None:
    class Checks:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            always(True, "freed")
            reachable(f"freed {len(tracker.results)}")

    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for number in range(50):
            Checks()
            always(True, f"p{number}")
            assert tracker.snapshot()["properties"]
    finally:
        gc.set_threshold(*threshold)
    gc.collect()
    assert hits("freed") == (50, 0)


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(
    ("check", "pairs", "distance", "counts"),
    [
        (always_gt, [(9, 2), (5, 2), (7, 2)], 3.0, (3, 0)),
        (always_le, [(2, 4.5)], 2.5, (1, 0)),
        (sometimes_gt, [(1, 100), (60, 100), (30, 100)], 40.0, (0, 3)),
        (sometimes_gt, [(1, 100), (101, 100)], 0.0, (1, 1)),
        (sometimes_ge, [(99, 100)], 1.0, (0, 1)),
        (sometimes_lt, [(7, 4)], 3.0, (0, 1)),
        (sometimes_le, [(4, 4)], 0.0, (1, 0)),
        (sometimes_gt, [(1, Fraction(3, 2))], 0.5, (0, 1)),
    ],
)
def test_the_smallest_distance_is_kept(
    check: Callable[..., None], pairs: list[tuple[Any, Any]], distance: float, counts: tuple[int, int]
) -> None:
    for left, right in pairs:
        check(left, right, "n")
    assert tracker.distances() == {"n": distance}
    assert hits("n") == counts


@pytest.mark.usefixtures("tracked")
def test_all_at_the_same_time() -> None:
    sometimes_all({"full": True, "locked": False, "late": 0}, "worst case")
    assert tracker.distances() == {"worst case": 2.0}
    sometimes_all({"full": True, "locked": False, "late": 1}, "worst case")
    assert tracker.distances() == {"worst case": 1.0}
    assert report()["failed"][0]["details"] == "{'false': ['locked', 'late']}"
    sometimes_all({"full": True, "locked": [0]}, "worst case")
    assert (tracker.distances(), hits("worst case")) == ({"worst case": 0.0}, (1, 2))


# -- expectations -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tracked")
def test_what_is_declared_fails_until_it_is_seen() -> None:
    declare("retried", "sometimes")
    declare("cache hit", "reachable")
    assert [(row["name"], row["status"], row["evidence_status"]) for row in report()["failed"]] == [
        ("cache hit", "FAIL", "NOT EXERCISED"),
        ("retried", "FAIL", "NOT EXERCISED"),
    ]
    sometimes(True, "retried")
    reachable("cache hit")
    assert report()["failed"] == []


@pytest.mark.parametrize("kind", ["always", "unreachable"])
def test_only_what_must_happen_can_be_declared_without_a_cell(kind: Any) -> None:
    with pytest.raises(PropertyError, match=f"'p' cannot be declared as '{kind}' without a cell"):
        declare("p", kind)


@pytest.mark.usefixtures("tracked")
def test_operations_and_faults_make_cells() -> None:
    declare("charged once", "always", operation="refund", fault="timeout")
    always(True, "charged once", operation="charge", fault="timeout")
    always(True, "charged once", operation="charge", fault="timeout")
    sometimes(False, "retried", operation="charge", fault="reset")
    coverage = report()["reliability_coverage"]
    assert coverage["dimensions"] == ["operation", "fault"]
    assert [(row["operation"], row["fault"], row["hits"], row["status"]) for row in coverage["rows"]] == [
        ("charge", "reset", 1, "FAIL"),
        ("charge", "timeout", 2, "PASS"),
        ("refund", "timeout", 0, "NOT EXERCISED"),
    ]
    assert coverage["summary"] == {"cells": 3, "passed": 1, "failed": 1, "not_exercised": 1}


@pytest.mark.usefixtures("tracked")
@pytest.mark.parametrize(
    "call",
    [
        lambda **labels: always(True, "p", **labels),
        lambda **labels: sometimes(True, "p", **labels),
        lambda **labels: reachable("p", **labels),
        lambda **labels: unreachable("p", mute=True, **labels),
        lambda **labels: always_gt(2, 1, "p", **labels),
        lambda **labels: sometimes_gt(2, 1, "p", **labels),
        lambda **labels: sometimes_all({}, "p", **labels),
        lambda **labels: declare("p", "sometimes", **labels),
    ],
)
def test_a_cell_needs_both_labels(call: Callable[..., None]) -> None:
    with pytest.raises(ValueError, match=r"operation= is given without fault=\nhint: a cell needs both"):
        call(operation="charge")
    with pytest.raises(PropertyError, match="fault= is given without operation="):
        call(fault="timeout")
    call(operation=None, fault=None)


# -- what is printed --------------------------------------------------------------------------------------------------


def test_warn_prints_only_what_no_tracker_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    with tracker.recording():
        sometimes(True, "kept", warn=True)
        tracker.active = False
        sometimes(True, "it's true", warn=True)
        sometimes(lambda: False, "p", warn=True)
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        '  ordeal: sometimes("it\'s true"): PASS',
        "  ordeal: sometimes('p'): OBSERVE",
    ]


def test_production_code_that_checks_properties_loads_no_engine_and_no_hypothesis() -> None:
    code = (
        "import sys; from ordeal import always, sometimes, buggify; always(True, 'x'); buggify();"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('hypothesis', 'pytest', 'numpy', 'click')),"
        "'ordeal.reporting' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[] False"


@pytest.mark.usefixtures("any_tracker")
@pytest.mark.parametrize("check", [always, sometimes, always_or_unreachable])
def test_a_name_that_is_given_twice_is_refused(check: Callable[..., None]) -> None:
    with pytest.raises(TypeError, match="name"):
        check(True, "a", name="b")
