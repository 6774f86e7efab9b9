"""What became of properties, as lines of text."""

from __future__ import annotations

from ordeal._base.property_text import property_lines, reliability_lines
from ordeal.assertions import PropertyReport, always, declare, reachable, report, sometimes, tracker, unreachable


def test_each_property_has_a_line_and_those_that_failed_come_last() -> None:
    before = tracker.snapshot()
    tracker.reset(declared=True)
    with tracker.recording():
        always(True, "ok")
        always(False, "balance\n>= 0", mute=True, balance=-3)
        sometimes(False, "retried")
        unreachable("no such state", mute=True)
        declare("never seen", "reachable")
        declare("charged once", "always", operation="refund", fault="timeout")
        reachable("charged", operation="charge", fault="timeout")
        seen = report()
    tracker.restore(before)
    assert property_lines(seen) == [
        "  PASS  charged (reachable: 1 hit)",
        "  PASS  ok (always: 1 hit)",
        "  FAIL  balance\\n>= 0 (always: 1 of 1 hit failed)  {'balance': -3}",
        "  FAIL  never seen (reachable: never reached)",
        "  FAIL  no such state (unreachable: reached, 1 hit)",
        "  FAIL  retried (sometimes: never true in 1 hit)",
        "",
        "  4/6 properties FAILED",
    ]
    assert reliability_lines(seen) == [
        "  PASS  charge under timeout: charged (reachable)",
        "  NOT EXERCISED  refund under timeout: charged once (always)",
        "",
        "  1 of 2 cells exercised, 0 failed",
    ]


def test_where_all_pass_the_summary_says_so() -> None:
    with tracker.recording():
        reachable("only here")
        seen = report()
    passed = [row for row in seen["passed"] if row["name"] == "only here"]
    assert property_lines({"passed": passed, "failed": []}) == [
        "  PASS  only here (reachable: 1 hit)",
        "",
        "  1/1 properties passed",
    ]


def test_without_properties_there_is_nothing_to_say() -> None:
    nothing: PropertyReport = {"passed": [], "failed": []}
    assert property_lines(nothing) == []
    assert reliability_lines(nothing) == []
