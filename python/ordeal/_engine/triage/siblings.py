"""Siblings: failures of one invariant at one place after different steps. Once shrunk, some turn out to be one failure.

Two mistakes shown by one ``assert`` are distinguished by the step after which it fails, but one mistake may show after
many steps. So siblings that need the same steps and faults, in any order, become one failure again; and so do the many
siblings of a mistake that shows whichever rule comes next.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import msgspec

from ordeal._engine.execution.bucket import place_of
from ordeal._engine.execution.driver import INITIALIZE, RULE
from ordeal._engine.triage.findings import Finding
from ordeal._hypothesis import MachineDefinition
from ordeal.result import Failure

#: Fewer rules that break an invariant after nearly the same steps are shown separately: each may have its own mistake.
MANY = 5

Judged = tuple[Finding, Failure]


class Family(msgspec.Struct):
    """The findings at one place. ``first`` is the one whose steps are tried for all others: it always fails."""

    first: Finding
    size: int = 0

    @property
    def is_large(self) -> bool:
        """Whether it is rather one mistake that shows in many ways."""
        return self.size >= MANY


def families(findings: Iterable[Finding]) -> dict[str, Family]:
    """Return the findings by place."""
    found: dict[str, Family] = {}
    for finding in findings:
        family = found.setdefault(place_of(finding.bucket), Family(finding))
        family.size += 1
        if family.first.flaky and not finding.flaky:
            family.first = finding
    return found


def joined(judged: Iterable[Judged], definition: MachineDefinition) -> list[Judged]:
    """Join findings that turned out to be one failure, in the place of the first of them; mark the others.

    Only shrunk findings are joined, because only their needs are known.
    """
    alike = merged([(each, _what_it_needs(*each)) for each in judged])
    firsts: dict[str, Judged] = {}
    steps: Counter[str] = Counter()
    keyed = []
    for finding, failure in alike:
        place = place_of(finding.bucket)
        is_near = _what_it_needs(finding, failure) is not None and _are_near(
            firsts.setdefault(place, (finding, failure))[0], finding, definition
        )
        steps[place] += len(failure.broken_by) if is_near else 0
        keyed.append(((finding, failure), place if is_near else None))
    many = max(MANY, (len(definition.rules) + 1) // 2)
    return merged([(each, key if key is not None and steps[key] >= many else None) for each, key in keyed])


def merged(keyed: Iterable[tuple[Judged, Hashable]]) -> list[Judged]:
    """Return one for each key, and each without a key."""
    groups: dict[Hashable, list[Judged]] = {}
    for number, (each, key) in enumerate(keyed):
        groups.setdefault(("alone", number) if key is None else key, []).append(each)
    return [_one(group) for group in groups.values()]


def _one(group: Sequence[Judged]) -> Judged:
    # A finding kept as a seed remains one.
    finding, failure = next((each for each in group if each[0].seed is not None), group[0])
    if len(group) == 1:
        return finding, failure
    for other, _ in group:
        other.joined = other is not finding
    finding.count = sum(other.count for other, _ in group)
    steps = dict.fromkeys(step for _, each in [(finding, failure), *group] for step in each.broken_by)
    return finding, dataclasses.replace(failure, count=finding.count, broken_by=list(steps))


def _what_it_needs(finding: Finding, failure: Failure) -> Hashable:
    """Return its place and its steps in any order; None if that is unknown."""
    if not failure.shrunk or failure.flaky or finding.needs_own_process:
        return None
    return place_of(finding.bucket), tuple(sorted(_steps(finding)))


def _are_near(finding: Finding, other: Finding, definition: MachineDefinition) -> bool:
    """Return whether they share all steps but one, including one that does more than make values."""
    steps, others = Counter(_steps(finding)), Counter(_steps(other))
    shared = steps & others
    if steps.total() != others.total() or shared.total() < steps.total() - 1:
        return False
    return any(
        kind != INITIALIZE and not (kind == RULE and definition.rules[target].targets) for kind, target in shared
    )


def _steps(finding: Finding) -> list[tuple[int, int]]:
    """Return each step as its kind and its target."""
    return [(kind, target) for kind, target, *_ in finding.tape.steps()]
