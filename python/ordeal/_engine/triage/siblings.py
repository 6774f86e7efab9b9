"""Siblings: failures of one invariant at one place after different steps. Once shrunk, some turn out to be one failure.

Two mistakes shown by one ``assert`` are distinguished by the step after which it fails, but one mistake may show after
many steps. So siblings that need the same steps and faults, in any order, become one failure again. So do the many that
differ only in the last step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import msgspec
import msgspec.structs

from ordeal._engine.execution.bucket import place_of
from ordeal._engine.triage.findings import Finding
from ordeal.result import Failure

#: Fewer rules that break an invariant after the same steps are shown separately: each may have its own mistake.
MANY = 5

Judged = tuple[Finding, Failure]


class Family(msgspec.Struct):
    """The findings at one place. ``first`` is the one whose steps are tried for all others: it always fails."""

    first: Finding
    size: int = 0

    @property
    def is_large(self) -> bool:
        """Return True if these are probably one bug with many symptoms."""
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


def joined(judged: Sequence[Judged]) -> list[Judged]:
    """Join findings that turned out to be one failure, in the place of the first of them.

    Failures of one place are one if they need the same steps, or if many of them differ only in the last step. Only
    shrunk findings are joined, because only their needs are known.
    """
    needs = [_what_it_needs(*each) for each in judged]
    apart = _merged(judged, [need and (need[0], tuple(sorted(need[1]))) for need in needs])
    starts = [need and (need[0], need[1][:-1]) for need in (_what_it_needs(*each) for each in apart)]
    sizes = Counter(starts)
    return _merged(apart, [start if sizes[start] >= MANY else None for start in starts])


def _merged(judged: Sequence[Judged], keys: Sequence[Hashable]) -> list[Judged]:
    """Return one for each key, and each whose key is None."""
    groups: dict[Hashable, list[Judged]] = {}
    for number, (each, key) in enumerate(zip(judged, keys, strict=True)):
        groups.setdefault(number if key is None else key, []).append(each)
    merged = []
    for group in groups.values():
        # A finding kept as a seed remains one.
        finding, failure = next((each for each in group if each[0].seed is not None), group[0])
        if len(group) > 1:
            finding.count = sum(other.count for other, _ in group)
            steps = dict.fromkeys(step for _, each in [(finding, failure), *group] for step in each.broken_by)
            failure = msgspec.structs.replace(failure, count=finding.count, broken_by=list(steps))
        merged.append((finding, failure))
    return merged


def _what_it_needs(finding: Finding, failure: Failure) -> tuple[str, tuple[tuple[int, int], ...]] | None:
    """Return its place and its steps by kind and target; None if it was not shrunk, so what it needs is unknown."""
    if not failure.shrunk or failure.flaky or finding.needs_own_process:
        return None
    return place_of(finding.bucket), tuple((kind, target) for kind, target, *_ in finding.tape.steps())
