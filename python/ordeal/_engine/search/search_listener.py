"""What the owner of a search is told."""

from __future__ import annotations

from typing import Protocol

from ordeal._engine.triage.findings import Finding, Verdict
from ordeal.result import StoppedReason


class SearchListener(Protocol):
    """The owner of a search: a process that explores alone, or a worker among others."""

    def begin(self) -> None:
        """Called before the first run, to pass on what others know. What it replays is hidden."""

    def between_runs(self) -> StoppedReason | None:
        """Called before each run; returns why the search must end now, if it must."""

    def run_made(self) -> None:
        """Called after each run."""

    def failing(self, finding: Finding) -> None:
        """Called when a run failed in an unknown bucket, before its confirmation, which may take long."""

    def checked(self, finding: Finding, verdict: Verdict) -> None:
        """Called when the finding was confirmed, or not."""

    def looks_alike(self, finding: Finding) -> None:
        """Called when the failure of a run is kept because it may be another one than that of its bucket."""

    def cut_off(self) -> None:
        """Called when time is up in the middle of a run."""
