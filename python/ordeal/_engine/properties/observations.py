"""Reports to a session what runs tell Hypothesis, events and the highest values of targets, and how tasks went on."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Protocol

from ordeal._engine.properties.watch import PropertyWatch
from ordeal._native import Session

#: Hypothesis itself reports how often a filter made it draw again, which says nothing about the machine.
OWN_EVENTS = ("Retried draw from ", "Aborted test because ", "invalid because")


class ObservedRun(Protocol):
    """A run, here or in another process."""

    @property
    def events(self) -> Mapping[str, object]:
        """The payloads of ``hypothesis.event()``, by label, in the order of the calls."""

    @property
    def targets(self) -> Mapping[str, int | float]:
        """The values of ``hypothesis.target()``, by label, in the order of the calls."""

    def take_interleaved(self) -> list[int]:
        """Return what was new in the order of the machine's tasks since the last call."""


class Observations:
    """Passes on each observation of the current run once. Used by one exploration; not thread-safe.

    An event is a feature by its label, and by its payload if that is text. A new maximum of a target is one of the
    things that came ``nearer``, like a distance of a property.
    """

    def __init__(self, session: Session, watch: PropertyWatch) -> None:
        self._session = session
        self._watch = watch
        self._events = 0
        self._targets = 0

    def begin_run(self) -> None:
        """Forget the previous run."""
        self._events = self._targets = 0

    def look(self, run: ObservedRun) -> None:
        """Pass on what is new since the last call."""
        interleaved = run.take_interleaved()
        if interleaved:
            self._session.interleaved(interleaved)
        events, targets = run.events, run.targets
        if len(events) > self._events:
            for label, payload in islice(events.items(), self._events, None):
                if not label.startswith(OWN_EVENTS):
                    self._session.event(f"{label}: {payload}" if isinstance(payload, str) and payload else label)
            self._events = len(events)
        if len(targets) > self._targets:
            for label, value in islice(targets.items(), self._targets, None):
                if self._session.target(label, value):
                    self._watch.nearer[f"target({label})"] = None
            self._targets = len(targets)
