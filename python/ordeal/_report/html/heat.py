"""The table of rules by faults: how often each rule ran under each fault and failed then, with the same in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ordeal._base.formatting import short_names

#: A table with more rules than this is not read; the JSON report has all.
RULES_MAX = 100
#: So many sentences say what is in the table.
SENTENCES_MAX = 6
#: A fault that makes a rule fail so many times as often is worth a word.
RISE_MIN = 3
WITHOUT = "no fault"


def rule_heat(rules: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of the rules of a result, and sentences on what stands out; empty without rules.

    Rules that never ran come first: they are the commonest reason for finding nothing. Then those that failed.
    """
    if not rules or not rules[0]["cells"]:
        return {}
    faults = [cell["fault"] for cell in rules[0]["cells"] if cell["fault"] is not None]
    shown = sorted(rules, key=lambda rule: (_ran(rule), -_failed(rule)))[:RULES_MAX]
    rows = [{"name": rule["name"], "cells": [_cell(cell, rule) for cell in rule["cells"]]} for rule in shown]
    columns = [{"name": WITHOUT, "title": ""}]
    columns += [{"name": short, "title": name} for short, name in zip(short_names(faults), faults, strict=True)]
    return {"columns": columns, "rows": rows, "says": _sentences(rules, faults), "more": max(0, len(rules) - RULES_MAX)}


def _ran(rule: Mapping[str, Any]) -> bool:
    return any(cell["steps"] for cell in rule["cells"])


def _failed(rule: Mapping[str, Any]) -> int:
    return max(int(cell["failures"]) for cell in rule["cells"])


def _cell(cell: Mapping[str, Any], rule: Mapping[str, Any]) -> dict[str, str]:
    steps, failures = cell["steps"], cell["failures"]
    if failures:
        return {"text": f"{failures:,} of {steps:,} failed", "kind": "bad"}
    if steps:
        return {"text": f"{steps:,}", "kind": "good"}
    return {"text": "never", "kind": "dim" if _ran(rule) else "none"}


def _sentences(rules: Sequence[Mapping[str, Any]], faults: Sequence[str]) -> list[str]:
    never = [f"{rule['name']} never ran to the end: ordeal doctor says why." for rule in rules if not _ran(rule)]
    short = dict(zip(faults, short_names(faults), strict=True))
    failed = sorted((rule for rule in rules if _failed(rule)), key=lambda rule: -_rate(_worst(rule)))
    return (never + [_failure_sentence(rule, short) for rule in failed])[:SENTENCES_MAX]


def _rate(cell: Mapping[str, Any]) -> float:
    return float(cell["failures"] / max(1, cell["steps"]))


def _worst(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    worst: Mapping[str, Any] = max(rule["cells"], key=_rate)
    return worst


def _steps(cell: Mapping[str, Any]) -> str:
    return f"{cell['steps']:,} step{'' if cell['steps'] == 1 else 's'}"


def _failure_sentence(rule: Mapping[str, Any], short: Mapping[str, str]) -> str:
    name, worst = rule["name"], _worst(rule)
    plain = next(cell for cell in rule["cells"] if cell["fault"] is None)
    if plain["failures"] and _rate(worst) < RISE_MIN * _rate(plain):
        return f"{name} failed without a fault, in {plain['failures']:,} of {_steps(plain)}."
    most = f"{worst['failures']:,} of {_steps(worst)} with {short[worst['fault']]} on"
    if not plain["steps"]:
        return f"{name} failed in {most}. It never ran without a fault."
    if plain["failures"]:
        return f"{name} failed more with a fault on: in {most}, in {plain['failures']:,} of {plain['steps']:,} without."
    return f"{name} failed only with a fault on: in {most}, in none of {plain['steps']:,} without."
