"""The results of named properties: how often each was seen, whether it held, and whether that is enough."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, NotRequired, TypedDict, get_args

import msgspec
import msgspec.structs
from msgspec.structs import asdict

import ordeal._native as _native
from ordeal._base.json_fields import Count
from ordeal.errors import PropertyError

PropertyType = Literal["always", "always_or_unreachable", "sometimes", "reachable", "unreachable"]
Status = Literal["PASS", "FAIL", "NOT EXERCISED"]
Snapshot = dict[str, list[dict[str, Any]]]

PROPERTY_TYPES: tuple[PropertyType, ...] = get_args(PropertyType)

#: Names are constants of the source. More than this many are probably computed at run time, without end.
PROPERTIES_MAX = 10_000


class PropertyTally(msgspec.Struct, forbid_unknown_fields=True):
    """What was seen of one property, or of one property in one cell.

    ``distance`` is the smallest one seen, for a property that compares numbers: see ``PropertyTracker.distances``.
    ``details`` belong to the first failure. ``first_run`` is the run of an exploration in which a ``sometimes`` was
    true, or a ``reachable`` was reached, for the first time.
    """

    name: str
    type: PropertyType
    operation: str | None = None
    fault: str | None = None
    declared: bool = False
    hits: int = 0
    passes: Count = 0
    failures: Count = 0
    distance: float | None = None
    details: str = ""
    first_run: int | None = None

    def __post_init__(self) -> None:
        if self.hits != self.passes + self.failures:
            raise ValueError(f"{self.hits} hits are not {self.passes} passes and {self.failures} failures")
        if self.distance is not None and not self.distance >= 0:
            raise ValueError(f"distance is {self.distance}")

    def passed(self) -> bool:
        """Return True if there is enough evidence for the property, and none against it."""
        match self.type:
            case "always":
                return self.hits > 0 and self.failures == 0
            case "always_or_unreachable":
                return self.failures == 0
            case "sometimes":
                return self.passes > 0
            case "reachable":
                return self.hits > 0
            case "unreachable":
                return self.hits == 0

    def describe(self) -> str:
        """Summarise what was seen in a few words."""
        hits = f"{self.hits} hit" if self.hits == 1 else f"{self.hits} hits"
        first = "" if self.first_run is None else f", first in run {self.first_run}"
        if self.type == "reachable":
            return f"{hits}{first}" if self.hits else "never reached"
        if self.type == "unreachable":
            return f"reached, {hits}" if self.hits else "never reached"
        if not self.hits:
            return "never checked"
        if self.type == "sometimes" and self.passes:
            return f"true in {self.passes} of {hits}{first}"
        if self.type == "sometimes":
            nearest = "" if self.distance is None else f", {self.distance:g} away at the nearest"
            return f"never true in {hits}{nearest}"
        return f"{self.failures} of {hits} failed" if self.failures else hits

    def count(self, passes: int, failures: int) -> None:
        """Add hits."""
        self.hits += passes + failures
        self.passes += passes
        self.failures += failures

    @property
    def is_yet_to_become_true(self) -> bool:
        """Whether it waits for a first pass."""
        return not self.passes and self.type in ("sometimes", "reachable")

    def come_near(self, distance: float) -> bool:
        """Keep the smaller distance. Return whether it is smaller by a rung, and so worth continuing from."""
        before = self.distance
        if before is not None and distance >= before:
            return False
        self.distance = distance
        return before is None or _native.rung_of(distance) < _native.rung_of(before)

    def add(self, other: PropertyTally) -> None:
        """Add what another worker saw."""
        self.declared = self.declared or other.declared
        self.count(other.passes, other.failures)
        self.details = self.details or other.details
        if other.distance is not None:
            self.come_near(other.distance)
        if other.first_run is not None:
            self.first_run = other.first_run if self.first_run is None else min(self.first_run, other.first_run)


class PropertyResult(msgspec.Struct, frozen=True):
    """The result of one property. ``passes`` and ``failures`` add up to ``hits``.

    ``status`` is PASS or FAIL. ``evidence_status`` is NOT EXERCISED for a declared property that was never seen, and
    ``status`` otherwise. ``details`` belong to the first failure, as text. ``first_run`` is the run of an exploration
    that first saw a ``sometimes`` true or reached a ``reachable``.
    """

    name: str
    type: PropertyType
    hits: Count
    passes: Count
    failures: Count
    status: Status
    evidence_status: Status
    summary: str
    details: str
    first_run: int | None = None

    @classmethod
    def of(cls, tally: PropertyTally) -> PropertyResult:
        """Return the result of ``tally``."""
        status: Status = "PASS" if tally.passed() else "FAIL"
        return cls(
            name=tally.name,
            type=tally.type,
            hits=tally.hits,
            passes=tally.passes,
            failures=tally.failures,
            status=status,
            evidence_status=status if tally.hits else "NOT EXERCISED",
            summary=f"{tally.name} ({tally.type}: {tally.describe()})",
            details=tally.details,
            first_run=tally.first_run,
        )


class ReliabilityCell(msgspec.Struct, frozen=True):
    """The result of one property while one operation met one fault. ``status`` may be NOT EXERCISED."""

    operation: str
    fault: str
    name: str
    type: PropertyType
    hits: Count
    passes: Count
    failures: Count
    status: Status

    @classmethod
    def of(cls, tally: PropertyTally) -> ReliabilityCell:
        """Return the cell of ``tally``, which has an operation and a fault."""
        assert tally.operation is not None
        assert tally.fault is not None
        status: Status = "PASS" if tally.passed() else "FAIL"
        return cls(
            operation=tally.operation,
            fault=tally.fault,
            name=tally.name,
            type=tally.type,
            hits=tally.hits,
            passes=tally.passes,
            failures=tally.failures,
            status=status if tally.hits else "NOT EXERCISED",
        )


Cell = tuple[str, str, str]  # operation, fault, name


class Tallies(msgspec.Struct):
    """All tallies, by name and by cell. Not thread-safe: its owner, a tracker, locks."""

    properties: dict[str, PropertyTally] = msgspec.field(default_factory=dict)
    cells: dict[Cell, PropertyTally] = msgspec.field(default_factory=dict)

    def tally(self, kind: PropertyType, name: str) -> PropertyTally:
        """Return the tally of a property, making one if needed. Raises what ``PropertyTracker.record`` does."""
        known = self.properties.get(name)
        if known is None:
            _check_name(name, len(self.properties))
            known = self.properties[name] = PropertyTally(name, kind)
        elif known.type != kind:
            raise _two_types(name, known.type, kind)
        return known

    def cell(self, kind: PropertyType, name: str, operation: str, fault: str) -> PropertyTally:
        """Return the tally of a property in a cell, making one if needed. Raises what ``tally`` does."""
        key = (operation, fault, name)
        known = self.cells.get(key)
        if known is None:
            for text in key:
                _check_name(text, len(self.cells))
            known = self.cells[key] = PropertyTally(name, kind, operation, fault)
        elif known.type != kind:
            raise _two_types(name, known.type, kind)
        return known

    def declared(self) -> Tallies:
        """Return what was declared, as if nothing had been seen of it."""
        kept = Tallies()
        for tally in self.properties.values():
            if tally.declared:
                kept.tally(tally.type, tally.name).declared = True
        for (operation, fault, name), tally in self.cells.items():
            if tally.declared:
                kept.cell(tally.type, name, operation, fault).declared = True
        return kept

    def add(self, other: Tallies) -> None:
        """Add what another worker saw. Raises what ``tally`` does, with a part of it added."""
        for tally in other.properties.values():
            self.tally(tally.type, tally.name).add(tally)
        for (operation, fault, name), tally in other.cells.items():
            self.cell(tally.type, name, operation, fault).add(tally)

    def snapshot(self) -> Snapshot:
        """Return everything in a form that JSON can hold."""
        return {
            "properties": [asdict(tally) for _, tally in sorted(self.properties.items())],
            "cells": [asdict(tally) for _, tally in sorted(self.cells.items())],
        }


class PropertyTracker:
    """Counts what the assertions of the program see. Thread-safe. ``enabled`` is a flag of the core.

    A process has one, ``ordeal.assertions.tracker``; it counts while it is ``active``. Declarations are remembered in
    any case, because modules declare their properties when they are imported.
    """

    def __init__(self, enabled: _native.EnabledFlag, counts: _native.HitCounts) -> None:
        self._enabled = enabled
        self._active = enabled.on  # the flag is for the fast paths; reading it takes longer than everything else here
        self._tallies = Tallies()
        #: The run of an exploration that goes on.
        self.run: int | None = None
        #: The properties that came nearer since the names were last taken: by a rung of the numbers they compare, or
        #: because a ``sometimes`` was true for the first time.
        self.nearer: dict[str, None] = {}
        # Fast paths count plain hits of known properties, at a fifth of the cost.
        self._counts = counts
        self._counted: set[str] = set()
        self._renew_lock()
        # Another thread may hold the lock during a fork, and does not exist in the child to release it.
        os.register_at_fork(after_in_child=self._renew_lock)

    def _collect(self) -> Tallies:
        """Return the tallies, including the counts of the fast paths. Call with the lock held."""
        for name, passes, failures in self._counts.take():
            self._tallies.properties[name].count(passes, failures)
        return self._tallies

    def _replace(self, tallies: Tallies) -> Tallies:
        """Switch to other tallies and return the previous ones. Call with the lock held."""
        before = self._collect()
        self._counts.clear()
        self._counted.clear()
        self._tallies = tallies
        return before

    def _renew_lock(self) -> None:
        # Reentrant: a finalizer or a signal handler of the program may interrupt, and check properties as well.
        self._lock = threading.RLock()

    @property
    def active(self) -> bool:
        """Whether hits are counted."""
        return self._active

    @active.setter
    def active(self, on: bool) -> None:
        self._active = self._enabled.on = bool(on)

    # -- what the assertions report -----------------------------------------------------------------------------------

    def record(
        self,
        kind: PropertyType,
        name: str,
        passed: bool,
        *,
        operation: str | None = None,
        fault: str | None = None,
        distance: float | None = None,
        details: str = "",
    ) -> None:
        """Count one hit of a property, while the tracker is active. ``ordeal.assertions`` explains the arguments.

        Raises:
            PropertyError: the name belongs to a property of another type, is not a text, or is one too many.
        """
        if not self._active:
            return
        with self._lock:
            tally = self._tallies.tally(kind, name)
            became_true = passed and tally.is_yet_to_become_true
            # A fast path does not recognise a first hit, so until then a sometimes is counted here.
            if name not in self._counted and (passed or kind != "sometimes"):
                self._counted.add(name)
                self._counts.add(name, PROPERTY_TYPES.index(kind))
            tally.count(passed, not passed)
            if became_true:
                tally.first_run = self.run
            came_near = distance is not None and tally.come_near(distance)
            if became_true or came_near:
                self.nearer[name] = None
            if not passed and not tally.details:
                tally.details = details
            if operation is not None and fault is not None:
                self._tallies.cell(kind, name, operation, fault).count(passed, not passed)

    def declare(self, name: str, kind: PropertyType, *, operation: str | None = None, fault: str | None = None) -> None:
        """List the property in the results even if it is never seen. ``ordeal.assertions`` explains the arguments.

        Raises PropertyError, as ``record`` does.
        """
        if kind not in PROPERTY_TYPES:
            raise PropertyError(f"{kind!r} is not a type of property", hint=f"write one of {', '.join(PROPERTY_TYPES)}")
        with self._lock:
            if operation is None or fault is None:
                self._tallies.tally(kind, name).declared = True
            else:
                self._tallies.cell(kind, name, operation, fault).declared = True

    # -- what is known ------------------------------------------------------------------------------------------------

    @property
    def results(self) -> list[PropertyResult]:
        """Return the properties seen or declared, by name."""
        with self._lock:
            return [PropertyResult.of(tally) for _, tally in sorted(self._collect().properties.items())]

    @property
    def failures(self) -> list[PropertyResult]:
        """Return the results that did not pass."""
        return [result for result in self.results if result.status == "FAIL"]

    @property
    def cells(self) -> list[ReliabilityCell]:
        """Return the cells seen or declared, by operation, fault and name."""
        with self._lock:
            return [ReliabilityCell.of(tally) for _, tally in sorted(self._tallies.cells.items())]

    def distances(self) -> dict[str, float]:
        """Return how near each property that compares numbers came, by name, as guidance for a search.

        For a ``sometimes`` it is the smallest distance from being true, and 0 once it was true; for an ``always`` the
        smallest distance from being violated. Values without a difference have no distance.
        """
        with self._lock:
            return {
                name: tally.distance
                for name, tally in sorted(self._tallies.properties.items())
                if tally.distance is not None
            }

    def take_nearer(self) -> list[str]:
        """Return the names in ``nearer``, and clear it."""
        with self._lock:
            names = list(self.nearer)
            self.nearer.clear()
        return names

    # -- the tallies as a whole ---------------------------------------------------------------------------------------

    def reset(self, *, declared: bool = False) -> None:
        """Forget what was seen, and with ``declared`` also what was declared."""
        with self._lock:
            self._replace(Tallies() if declared else self._tallies.declared())

    def snapshot(self) -> Snapshot:
        """Return everything known in a form that JSON can hold."""
        with self._lock:
            return self._collect().snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Replace everything known by ``snapshot``. Raises PropertyError if it is invalid."""
        tallies = tallies_of(snapshot)
        with self._lock:
            self._replace(tallies)

    def merge(self, snapshot: Snapshot) -> None:
        """Add another worker's ``snapshot``. Add each only once, because hits are summed.

        Raises:
            PropertyError: it is invalid, or a name has another type there. Then nothing of it was added.
        """
        other = tallies_of(snapshot)
        with self._lock:
            sum_of_both = tallies_of(self._collect().snapshot())
            sum_of_both.add(other)
            self._replace(sum_of_both)

    def absorb(self, snapshot: Snapshot) -> None:
        """Count ``snapshot`` as if it had been seen here just now: what comes nearer by it is in ``nearer``.

        Raises what ``merge`` does, with a part of it added.
        """
        other = tallies_of(snapshot)
        with self._lock:
            known = self._collect()
            for tally in other.properties.values():
                before = known.tally(tally.type, tally.name)
                became_true = tally.passes > 0 and before.is_yet_to_become_true
                distance, tally.distance = tally.distance, None
                before.add(tally)
                if became_true and before.first_run is None:
                    before.first_run = self.run
                came_near = distance is not None and before.come_near(distance)
                if became_true or came_near:
                    self.nearer[tally.name] = None
            for (operation, fault, name), tally in other.cells.items():
                known.cell(tally.type, name, operation, fault).add(tally)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Count from zero during the block; afterwards restore the earlier counts and activity.

        Take the results before the block ends. Declarations inside stay, because modules declare only once.
        """
        was_active = self.active
        with self._lock:
            before = self._replace(self._tallies.declared())
        self.active = True
        try:
            yield
        finally:
            self.active = was_active
            with self._lock:
                before.add(self._tallies.declared())
                self._replace(before)


def _check_name(name: object, known: int) -> None:
    if not isinstance(name, str) or not name:
        raise PropertyError(f"{name!r} cannot name a property", hint='write a text, as in `always(ok, "balance >= 0")`')
    if known >= PROPERTIES_MAX:
        raise PropertyError(
            f"there are more than {PROPERTIES_MAX:,} properties, the last one named {name[:100]!r}",
            hint="give a property one constant name, and pass what varies as keywords",
        )


def _two_types(name: str, known: str, new: str) -> PropertyError:
    return PropertyError(
        f"{name!r} is used as {known} and as {new}", hint="give each property its own name, and one type"
    )


def tallies_of(snapshot: Snapshot) -> Tallies:
    """Read ``snapshot``. Raises PropertyError if it is invalid."""
    try:
        read = msgspec.convert(snapshot, dict[Literal["properties", "cells"], list[PropertyTally]])
        return Tallies(
            {tally.name: tally for tally in read["properties"]},
            {(str(tally.operation), str(tally.fault), tally.name): tally for tally in read["cells"]},
        )
    except (KeyError, ValueError) as error:
        raise PropertyError(f"this is not a snapshot of a tracker: {type(error).__name__}: {error}") from error


class ReliabilityCoverage(TypedDict):
    """Which operations met which faults: a row for each cell, and the number of cells of each status."""

    dimensions: list[str]
    rows: list[dict[str, Any]]
    summary: dict[str, int]


class PropertyReport(TypedDict):
    """The properties that passed and those that did not, one row each, by name."""

    passed: list[dict[str, Any]]
    failed: list[dict[str, Any]]
    reliability_coverage: NotRequired[ReliabilityCoverage]


#: Whether assertions count, and the hits that are only counted: the core reads both in each call.
assertions_enabled = _native.EnabledFlag()
hit_counts = _native.HitCounts()

tracker = PropertyTracker(assertions_enabled, hit_counts)
"""Counts what the assertions of this process see, while its ``active`` is true."""
