"""The failure buckets that members have met, merged so that order and repetition make no difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ordeal._base.limits import INPUT_BYTES_MAX
from ordeal.store.records import FailureReport, RecordError

#: Ten times what one exploration keeps.
BUCKETS_MAX = 10_000


@dataclass(slots=True)
class _Bucket:
    """``counts`` holds how often each member has met it. A present trace is better than a missing one."""

    steps: int
    trace: bytes
    shrunk: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    def is_beaten_by(self, report: FailureReport) -> bool:
        return bool(report.trace) and (
            not self.trace or _rank(report.steps, report.trace, shrunk=report.shrunk) < self.rank
        )

    @property
    def rank(self) -> tuple[int, bool, int, bytes]:
        return _rank(self.steps, self.trace, shrunk=self.shrunk)


def _rank(steps: int, trace: bytes, *, shrunk: bool) -> tuple[int, bool, int, bytes]:
    """Return a rank; the lowest wins: the fewest steps, then one that was shrunk.

    The rest only makes all members choose the same.
    """
    return steps, not shrunk, len(trace), trace


class FailureBuckets:
    """All buckets of a namespace, by name; tokens identify members. Owned by one thread."""

    def __init__(self) -> None:
        self._buckets: dict[str, _Bucket] = {}
        self._traces_size = 0

    def would_learn(self, member: str, report: FailureReport) -> bool:
        """Return True if ``report``, from ``member``, contains anything new."""
        known = self._buckets.get(report.bucket)
        return known is None or known.counts.get(member, -1) < report.count or known.is_beaten_by(report)

    def wants_trace(self, report: FailureReport) -> bool:
        """Return True if the trace of ``report`` is better than the known one."""
        known = self._buckets.get(report.bucket)
        return known is None or known.is_beaten_by(report)

    def add(self, member: str, report: FailureReport) -> bool:
        """Merge a report of ``member``. Return whether anything is new.

        Raises:
            RecordError: there are too many buckets, or their traces are too large.
        """
        if not self.would_learn(member, report):
            return False
        known = self._buckets.get(report.bucket)
        if known is None:
            if len(self._buckets) >= BUCKETS_MAX:
                raise RecordError(f"is one bucket too many; at most {BUCKETS_MAX} are known")
            known = self._buckets[report.bucket] = _Bucket(report.steps, b"")
        known.counts[member] = max(known.counts.get(member, 0), report.count)
        if known.is_beaten_by(report):
            size = self._traces_size + len(report.trace) - len(known.trace)
            if size > INPUT_BYTES_MAX:
                raise RecordError(f"has a trace too many; all together may have {INPUT_BYTES_MAX} bytes")
            self._traces_size = size
            known.steps, known.trace, known.shrunk = report.steps, report.trace, report.shrunk
        return True

    def report(self, bucket: str) -> FailureReport:
        """Return what is known about an existing bucket."""
        known = self._buckets[bucket]
        return FailureReport(bucket, known.trace, known.steps, sum(known.counts.values()), known.shrunk)

    def __iter__(self) -> Iterator[FailureReport]:
        """Iterate over all reports, by name."""
        return map(self.report, sorted(self._buckets))
