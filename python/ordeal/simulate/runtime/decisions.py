"""The decisions of one simulated run: their kinds, their labels as text, and what the core decides for each."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, Self

import ordeal._native as _native
from ordeal.simulate.errors import SimulationError

#: The kinds of decisions. Their numbers decide what a seed draws, so new ones come last.
KINDS: Final = (
    *("order", "stall", "arrival", "cancel", "packet", "cut"),
    *("datagram", "disk", "silence", "crash", "pause", "partition", "reset", "slow", "skew"),
    *("", "clog", "disk_full", "disk_error"),  # 15 is free: to close the gap would change what all seeds draw
)
ORDER, STALL, ARRIVAL, CANCEL, PACKET, CUT, DATAGRAM, DISK, SILENCE = range(9)

#: After how many callbacks of an operation the next rule of a machine begins, by the value of the decision: None for
#: when the operation has ended, which is the usual. The site of that decision.
OVERLAP = "rule"
HEAD_STARTS: Final = (None, 1, 3, 10, 30, 100)

#: How a search plans its runs, as bits of the core: drawn, a few decisions, following or changing an earlier run.
POLICIES: Final = {"auto": 0b1111, "random": 0b0001, "sparse": 0b0010}

_SEPARATOR = " | "
#: The largest value of a decision, and the largest seed.
VALUE_MAX, SEED_MAX = 2**32 - 1, 2**64 - 1

#: The texts behind the hashes that decisions carry. There are as many as names of tasks and places in the program.
#: The extension keeps such pairs too, so they have to outlive a reload of this module.
_names: dict[int, str] = vars(_native).setdefault("_names_of_keys", {})


class DecisionSource(Protocol):
    """Decides what a run leaves open, and notes what happens: a schedule, or the tape of a machine's run."""

    def decide(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Return a value from 0, which is nothing special, to below ``bound``."""

    def decide_evenly(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Return such a value for rare events: values above 0 are frequent, and equally likely."""

    def event(self, what: int) -> None:
        """Note that something happened."""


@functools.cache
def name_key(name: str) -> int:
    """Return the number that stands for the name of a task or a place; ``name_of`` reverses it."""
    key = _native.stable_hash(name)
    _names[key] = name
    return key


def name_of(key: int) -> str:
    """Return the name that ``name_key`` gave this number."""
    return _names[key]


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision whose value is not 0: its kind, actor, site, the count of decisions there before, and the value."""

    kind: str
    actor: str
    site: str
    occurrence: int
    value: int
    bound: int = VALUE_MAX

    @property
    def label(self) -> str:
        """The decision as text, without its value."""
        return _SEPARATOR.join((self.kind, self.actor, self.site, str(self.occurrence)))

    @classmethod
    def from_label(cls, label: Any, value: Any) -> Self:
        """Build a decision from its label.

        Raises:
            SimulationError: the label does not have the form of one, or the value is not a number that fits.
        """
        parts = label.split(_SEPARATOR, 2) if isinstance(label, str) else []
        site, separator, occurrence = parts[-1].rpartition(_SEPARATOR) if parts else ("", "", "")
        is_whole = len(parts) + 1 == 4 and separator and parts[0] and occurrence.isdecimal()
        if not is_whole or parts[0] not in KINDS:
            raise SimulationError(
                f"{label!r:.200} is not the label of a decision", hint="copy the decisions from the report of a failure"
            )
        if type(value) is not int or not 0 <= value <= VALUE_MAX:
            raise SimulationError(f"the value of {label!r:.200} is {value!r:.50}", hint="write a number from 0")
        return cls(parts[0], parts[1], site, min(int(occurrence), VALUE_MAX), value)

    @classmethod
    def from_fields(cls, fields: _native.DecisionFields) -> Self:
        """Build a decision from what the core recorded."""
        kind, actor, site, occurrence, bound, value = fields
        return cls(KINDS[kind], name_of(actor), name_of(site), occurrence, value, bound)

    def to_fields(self) -> _native.DecisionFields:
        """Return the decision as the core has it."""
        keys = name_key(self.actor), name_key(self.site)
        return KINDS.index(self.kind), *keys, self.occurrence, self.bound, self.value


def families(decisions: Iterable[Decided]) -> dict[int, int]:
    """Return who decides what follows from the same: for each link between hosts, a number for where it begins."""
    actors = {decision.actor for decision in decisions}
    return {name_key(actor): name_key(begin) for actor in actors for begin, to, _ in [actor.partition(" to ")] if to}


def run_seeds(seed: int, runs: int) -> Iterator[int]:
    """Yield the seeds of the runs of a search: 0, 1, 2 and so on for seed 0, else those of this search alone."""
    return (_native.schedule_run_seed(seed, number) for number in range(runs))


def drawn_schedule(seed: int) -> _native.Schedule:
    """Return a schedule whose decisions follow from ``seed``; all are 0 for seed 0."""
    return _native.drawn_schedule(seed, len(KINDS))


def planner(policy: str) -> _native.SchedulePlanner:
    """Return what plans the runs of a search in a way that ``POLICIES`` names."""
    return _native.SchedulePlanner(len(KINDS), POLICIES[policy])


def fixed_schedule(decisions: Iterable[Decided]) -> _native.Schedule:
    """Return a schedule that makes exactly these decisions, all others being 0."""
    schedule = _native.Schedule(0, [0] * len(KINDS))
    for decision in decisions:
        kind, actor, site, occurrence, _bound, value = decision.to_fields()
        schedule.set(kind, actor, site, occurrence, value)
    return schedule


def decided(schedule: _native.Schedule) -> list[Decided]:
    """Return the decisions of a run whose value was not 0, in order."""
    return [Decided.from_fields(fields) for fields in schedule.decisions if fields[-1]]
