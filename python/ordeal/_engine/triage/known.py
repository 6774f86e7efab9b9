"""Failures that the user declares as known: the search goes past them, and they are counted and named, not reported."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

from ordeal._base.untrusted import error_message, type_name
from ordeal._engine.execution.bucket import place_of, whole_bucket
from ordeal._engine.triage.findings import Finding
from ordeal.result import KnownFailure
from ordeal.result.failure import failure_id

#: What separates the place of a failure from the text that names it.
_BY_TEXT = " [known as "


class KnownFailures:
    """The entries of ``known``: buckets, ids of reports, and texts of messages."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._entries = tuple(dict.fromkeys(entries))

    def __bool__(self) -> bool:
        return bool(self._entries)

    def entry_of(self, finding: Finding) -> str | None:
        """Return the entry that names the failure of ``finding``, if there is one."""
        return self._by_bucket(finding.bucket) or self._by_text(finding.error)

    def claim(self, finding: Finding) -> bool:
        """Return whether an entry names the failure of a run. It counts by that entry, where a text names it.

        Other failures in its bucket may have another message, and are not known.
        """
        if self._by_bucket(finding.bucket):
            return True
        entry = self._by_text(finding.error)
        if entry is not None:
            finding.bucket = f"{place_of(finding.bucket)}{_BY_TEXT}{entry}]"
        return entry is not None

    def split(
        self, findings: Iterable[Finding], count_of: Callable[[Finding], int]
    ) -> tuple[list[Finding], list[KnownFailure]]:
        """Return the findings to report, and what is known of the others: by entry and place, whatever bucket."""
        unknown: list[Finding] = []
        known: dict[tuple[str, str], KnownFailure] = {}
        for finding in findings:
            entry = self.entry_of(finding) if self else None
            if entry is None:
                unknown.append(finding)
                continue
            place = place_of(finding.bucket.partition(_BY_TEXT)[0])
            error_type, message = type_name(type(finding.error)), error_message(finding.error)
            one = KnownFailure(entry, finding.bucket, error_type, message, count_of(finding))
            first = known.setdefault((entry, place), one)
            if first is not one:
                known[entry, place] = dataclasses.replace(first, count=first.count + one.count)
        return unknown, list(known.values())

    def _by_bucket(self, bucket: str) -> str | None:
        names = {bucket, whole_bucket(bucket), place_of(bucket)}
        names |= {failure_id(name) for name in names}
        return next((entry for entry in self._entries if entry in names), None)

    def _by_text(self, error: BaseException) -> str | None:
        if not self._entries:
            return None
        text = f"{type_name(type(error))}: {error_message(error)}"
        return next((entry for entry in self._entries if entry in text), None)
