"""Counts what the rules of a machine do under its faults in the runs of a search, but not in replays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ordeal._native as _native
from ordeal._engine.triage.records import writable_text
from ordeal.result import RuleUse, UnderFault

#: For each rule by name the steps and failures, two numbers each: without a fault, then under each fault by its number.
Counts = dict[str, list[int]]


class RuleUses:
    """What the core has counted, and what earlier processes have. Used for one search."""

    def __init__(self, session: _native.Session, rules: Sequence[str]) -> None:
        self._session = session
        self._rules = [writable_text(rule) for rule in rules]
        self._before: Counts = {}

    def counts(self) -> Counts:
        """Return the counts."""
        total: Counts = {}
        for rule, numbers in zip(self._rules, self._session.rule_uses(), strict=True):
            add_counts(total, {rule: numbers})
        add_counts(total, self._before)
        return total

    def restore(self, counts: Mapping[str, Sequence[int]]) -> None:
        """Continue from the counts of another process of the same machine; those of other machines are left out."""
        width = {len(numbers) for numbers in self._session.rule_uses()}
        self._before = {
            rule: list(numbers) for rule, numbers in counts.items() if rule in self._rules and {len(numbers)} == width
        }


def add_counts(total: Counts, counts: Mapping[str, Sequence[int]]) -> None:
    """Add ``counts``, of another process of the same machine, to ``total``."""
    for rule, more in counts.items():
        before = total.get(rule) or [0] * len(more)
        total[rule] = [one + other for one, other in zip(before, more, strict=False)]


def uses_of(counts: Counts, faults: Sequence[str]) -> list[RuleUse]:
    """Return the counts as a result holds them, in the order of the class. ``faults`` are the names of its faults."""
    columns = [None, *faults]
    return [
        RuleUse(
            rule,
            tuple(
                UnderFault(fault, *pair)
                for fault, pair in zip(columns, zip(numbers[::2], numbers[1::2], strict=True), strict=True)
            ),
        )
        for rule, numbers in counts.items()
        if len(numbers) == 2 * len(columns)
    ]
