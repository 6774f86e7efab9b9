"""What tests and machines say of the same mutants, together: who notices what."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal

from ordeal._tools.mutation.verdicts import DETECTED, Verdict, Word

Who = Literal["both", "only tests", "only machines", "nobody"]
WHO: tuple[Who, ...] = ("both", "only tests", "only machines", "nobody")


def together(by_tests: Sequence[Verdict], by_machines: Sequence[Verdict]) -> list[Verdict]:
    """Return one verdict of each mutant: that of whoever notices it, the tests first."""
    return [_of(tests, machines) for tests, machines in zip(by_tests, by_machines, strict=True)]


def _of(tests: Verdict, machines: Verdict) -> Verdict:
    for each in (tests, machines):
        if each.word in DETECTED:
            return each
    if tests.word == "survived" or machines.word == "not run":
        return tests
    if machines.word == "survived":
        return machines
    return dataclasses.replace(tests, word="uncovered", note="") if tests.word == "not run" else tests


def who_notices(by_tests: Mapping[str, Word], by_machines: Mapping[str, Word]) -> dict[Who, list[str]]:
    """Return the ids of the mutants by who notices them, in their order; without those that nobody judged."""
    found: dict[Who, list[str]] = {who: [] for who in WHO}
    for name, word in by_tests.items():
        other = by_machines.get(name, "not run")
        if word == other == "not run":
            continue
        ours, theirs = word in DETECTED, other in DETECTED
        who: Who = "nobody"
        if ours or theirs:
            who = "both" if ours and theirs else "only tests" if ours else "only machines"
        found[who].append(name)
    return found
