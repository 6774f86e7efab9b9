"""The table of rules by faults, and what it says in words."""

from __future__ import annotations

from typing import Any

from ordeal._report.html.chart import RULES_MAX, rule_heat

SLOW, LOST = "timeout(bank.ask, 30.0s)", "timeout(bank.pay, 30.0s)"


def rule(name: str, *counts: tuple[int, int]) -> dict[str, Any]:
    cells = zip((None, SLOW, LOST), counts, strict=True)
    return {"name": name, "cells": [{"fault": f, "steps": s, "failures": n} for f, (s, n) in cells]}


def test_what_never_ran_and_what_failed_come_first() -> None:
    heat = rule_heat([
        rule("look", (9000, 0), (40, 0), (0, 0)),
        rule("pay", (1200, 0), (7, 1), (30, 12)),
        rule("close", (0, 0), (0, 0), (0, 0)),
        rule("open", (50, 5), (7, 0), (3, 0)),
    ])  # fmt: skip
    assert [column["name"] for column in heat["columns"]] == ["no fault", "timeout(ask)", "timeout(pay)"]
    assert [(row["name"], [(c["text"], c["kind"]) for c in row["cells"]]) for row in heat["rows"]] == [
        ("close", [("never", "none")] * 3),
        ("pay", [("1,200", "good"), ("1 of 7 failed", "bad"), ("12 of 30 failed", "bad")]),
        ("open", [("5 of 50 failed", "bad"), ("7", "good"), ("3", "good")]),
        ("look", [("9,000", "good"), ("40", "good"), ("never", "dim")]),
    ]
    assert heat["says"] == [
        "close never ran to the end: ordeal doctor says why.",
        "pay failed only with a fault on: in 12 of 30 steps with timeout(pay) on, in none of 1,200 without.",
        "open failed without a fault, in 5 of 50 steps.",
    ]
    assert rule_heat([rule("pay", (1000, 2), (50, 1), (10, 0))])["says"] == [
        "pay failed more with a fault on: in 1 of 50 steps with timeout(ask) on, in 2 of 1,000 without."
    ]


def test_a_rule_that_never_ran_without_a_fault_is_not_compared() -> None:
    assert rule_heat([rule("pay", (0, 0), (7, 1), (0, 0))])["says"] == [
        "pay failed in 1 of 7 steps with timeout(ask) on. It never ran without a fault."
    ]


def test_there_may_be_no_table_or_a_long_one() -> None:
    assert rule_heat([]) == {}
    heat = rule_heat([rule(f"rule_{number}", (1, 0), (0, 0), (0, 0)) for number in range(RULES_MAX + 3)])
    assert (len(heat["rows"]), heat["more"]) == (RULES_MAX, 3)
