"""Counts what the rules and faults of a machine do in the runs of a search, but not in replays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ordeal._native as _native
from ordeal._base.formatting import writable_text
from ordeal._base.world_reach import WorldReach
from ordeal.faults import Fault
from ordeal.result import FaultUse, RuleUse, UnderFault

#: Numbers by the name of what they count.
#:
#: For a fault: the runs in which it was on, the calls that met it, and the calls that it changed. For a rule: steps and
#: failures without a fault, then the same two under each fault by its number.
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


class FaultUses:
    """What the faults have done since this was made, except while paused. Used for one search."""

    def __init__(self, faults: Sequence[Fault], world: WorldReach | None = None) -> None:
        """``world`` counts what the faults of the machine's simulated worlds do."""
        self._faults = faults
        self._world = world or WorldReach()
        self._world.counts.clear()
        self._world.is_paused = False
        self._in_the_end: list[list[int]] | None = None
        self._left_out = self._now()
        self._is_paused = False
        self._at_begin: list[int] = []  # of the current run: the runs that were counted

    def stop(self) -> None:
        """Stop counting."""
        self._in_the_end = self._now()
        self._world.is_paused = True

    def set_paused(self, paused: bool) -> None:
        """Pause or resume counting."""
        if paused == self._is_paused:
            return
        self._is_paused = self._world.is_paused = paused
        for fault in self._faults:
            (fault.pause_observed if paused else fault.resume_observed)()

    def begin_run(self) -> None:
        """Begin a run, which may make several machines."""
        self._world.begin_run()
        if self._faults:
            self._at_begin = self._runs()

    def count_once(self) -> None:
        """Count the current run once for each fault that was on in it, with however many machines."""
        for left_out, then, now in zip(self._left_out, self._at_begin, self._runs(), strict=True):
            left_out[0] += max(0, now - then - 1)

    def _runs(self) -> list[int]:
        return [fault.runs_on - left_out[0] for fault, left_out in zip(self._faults, self._left_out, strict=True)]

    def counts(self) -> Counts:
        """Return the counts. Faults that do not know which calls they meet are left out."""
        counted = zip(self._faults, self._now(), self._left_out, strict=True)
        own = {
            fault.name: [end - begin for end, begin in zip(now, left_out, strict=True)]
            for fault, now, left_out in counted
            if fault.counts_calls
        }
        return own | {name: list(numbers) for name, numbers in self._world.counts.items()}

    def remarks(self) -> list[str]:
        """Return what the faults have been found not to reach."""
        return [f"{remark}." for fault in self._faults for remark in fault.remarks]

    def restore(self, counts: Mapping[str, Sequence[int]]) -> None:
        """Continue from the counts of another process."""
        for fault, left_out in zip(self._faults, self._left_out, strict=True):
            for place, count in enumerate(counts.get(fault.name, ())[: len(left_out)]):
                left_out[place] -= count
        own = {fault.name for fault in self._faults}
        self._world.counts.update((name, list(numbers)) for name, numbers in counts.items() if name not in own)

    def _now(self) -> list[list[int]]:
        if self._in_the_end is not None:
            return self._in_the_end
        uses = [fault.observed for fault in self._faults]
        return [[use.runs, use.calls, use.hits] for use in uses]


def add_counts(total: Counts, counts: Mapping[str, Sequence[int]]) -> None:
    """Add ``counts``, of another process of the same machine, to ``total``."""
    for name, more in counts.items():
        before = total.get(name) or [0] * len(more)
        total[name] = [one + other for one, other in zip(before, more, strict=False)]


def fault_uses_of(counts: Counts) -> list[FaultUse]:
    """Return the counts of faults as a result holds them, in the order of the class."""
    return [FaultUse(name, *numbers[:3]) for name, numbers in counts.items() if len(numbers) == 3]


def rule_uses_of(counts: Counts, faults: Sequence[str]) -> list[RuleUse]:
    """Return the counts of rules as a result holds them, in the order of the class; ``faults`` are names."""
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
