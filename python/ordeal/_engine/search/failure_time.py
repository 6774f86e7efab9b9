"""Tells the core how much of a search's time goes to known failures that take long, so that they take a share of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ordeal._native as _native
from ordeal._engine.triage.findings import Finding
from ordeal._native import monotonic


class FailureTime:
    """Counts steps that hang, or end their process, in ways that are known.

    Attributes:
        took_long: whether any has.
    """

    def __init__(self, session: _native.Session) -> None:
        self.took_long = False
        self._session = session
        self._began = monotonic()

    def continue_from(self, findings: Sequence[Finding], took: Mapping[str, float], began: float) -> None:
        """Take in what ended earlier processes of this search. Call it before the first run.

        ``took`` says how many seconds all failures of a bucket took. The search ``began`` then, by monotonic().
        """
        self._began, self.took_long = began, bool(took)
        for finding in findings:
            if finding.needs_own_process:
                self._session.ended_process(finding.tape, took.get(finding.bucket, 0.0))

    def begin_run(self, now: float) -> None:
        """Note that a run begins ``now``, by monotonic(). It need not be told before any failure took long."""
        self._session.search_took(now - self._began)

    def failed(self, seconds: float) -> None:
        """Note that the last step failed in a way that is known and takes long, after so many ``seconds``."""
        self.took_long = True
        self._session.failure_took(seconds)
