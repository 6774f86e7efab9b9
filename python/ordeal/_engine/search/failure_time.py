"""Tells the core how much of a search's time goes to known failures that take long, so that they take a share of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ordeal import _native
from ordeal._engine.triage.findings import Finding
from ordeal._native import monotonic


class FailureTime:
    """Measures steps that hang, or end their process, in ways that are known. All times are by monotonic()."""

    def __init__(self, session: _native.Session) -> None:
        self._session = session
        self._search_began = monotonic()
        self._began = 0.0  # the run, or what follows its latest step back
        self._took_long = False  # any failure

    def continue_from(self, findings: Sequence[Finding], took: Mapping[str, float], began: float) -> None:
        """Take in what ended earlier processes of this search, which ``began`` then. Call it before the first run.

        ``took`` says how many seconds all failures of a bucket took.
        """
        self._search_began, self._took_long = began, bool(took)
        for finding in findings:
            if finding.needs_own_process:
                self._session.ended_process(finding.tape, took.get(finding.bucket, 0.0))

    def begin_run(self, now: float) -> None:
        """Note that a run begins."""
        self._began = now
        if self._took_long:
            self._session.search_took(now - self._search_began)

    def go_on(self, now: float) -> None:
        """Note that a run goes on after a step back."""
        self._began = now

    def failed(self, now: float) -> None:
        """Note that the last step failed in a way that is known and takes long."""
        self._took_long = True
        self._session.failure_took(now - self._began)
