"""What an exploration found: each failure confirmed from fresh machines, counted by its bucket, and shrunk."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from ordeal import _native
from ordeal.bucket import traceback_text
from ordeal.recorder import RunRecorder
from ordeal.replayer import Replayer
from ordeal.result import Failure
from ordeal.trace_file import TraceFailure
from ordeal.tracer import Origin, TraceMaker

#: More distinct failures than this are a flood; the rest is only counted.
BUCKETS_MAX = 1_000
#: How often the same failure may turn out to be a copy's fault before it is no longer tried.
UNFAITHFUL_MAX = 3


class Verdict(Enum):
    """What became of a failing run."""

    KNOWN = "known"  # the bucket was found before
    CONFIRMED = "confirmed"  # it fails from a fresh machine as well
    FLAKY = "flaky"  # it does not fail each time
    UNFAITHFUL = "unfaithful"  # it fails only from a copied machine, so the copy is wrong
    DROPPED = "dropped"  # not looked at: too many


@dataclass(slots=True)
class Finding:
    """A bucket with the tape that fails in it."""

    bucket: str
    tape: _native.Tape
    origin: Origin
    error: BaseException
    count: int = 1
    flaky: bool = False
    shrunk: bool = False
    necessary_faults: dict[str, bool] | None = None
    error_traceback: str = ""  # of an error of an earlier process, whose frames are gone


class Findings:
    """The findings of one exploration, in the order of their discovery."""

    def __init__(self, replayer: Replayer, maker: TraceMaker) -> None:
        self._replayer = replayer
        self._maker = maker
        self._by_bucket: dict[str, Finding] = {}
        self._unfaithful: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._by_bucket)

    def count(self, bucket: str) -> bool:
        """Count one more run in ``bucket``; False when it is not known."""
        known = self._by_bucket.get(bucket)
        if known is not None:
            known.count += 1
        return known is not None

    def add(self, finding: Finding, *, from_copy: bool) -> Verdict:
        """Confirm a new failure by replays from fresh machines, and keep it unless it is the fault of a copy."""
        tries = self._unfaithful.get(finding.bucket, 0)
        if len(self) >= BUCKETS_MAX or tries >= UNFAITHFUL_MAX:
            return Verdict.DROPPED
        replays = self._replayer.confirm(finding.tape)
        seen = [replayed.bucket for replayed in replays]
        steady = bool(seen[0]) and len(set(seen)) == 1
        if not steady and finding.bucket not in seen and from_copy:
            self._unfaithful[finding.bucket] = tries + 1
            return Verdict.UNFAITHFUL
        if steady:
            # The same failure from every fresh machine, if not the one that the run showed: that one is the truth.
            finding.bucket = seen[0]
            finding.tape = replays[0].tape
        finding.flaky = not steady
        if self.count(finding.bucket):
            return Verdict.KNOWN
        self._by_bucket[finding.bucket] = finding
        return Verdict.FLAKY if finding.flaky else Verdict.CONFIRMED

    def all(self) -> list[Finding]:
        """The findings, in the order of their discovery."""
        return list(self._by_bucket.values())

    def unfaithful(self) -> dict[str, int]:
        """How often the failure of each bucket turned out to be a copy's fault."""
        return dict(self._unfaithful)

    def restore(self, findings: Sequence[Finding], unfaithful: Mapping[str, int]) -> None:
        """Go on with what an earlier process had found and confirmed."""
        self._by_bucket.update((finding.bucket, finding) for finding in findings)
        self._unfaithful.update(unfaithful)

    def shrink(self, seconds: float) -> Iterator[str]:
        """Shrink each finding and see which faults it needs, for at most ``seconds`` each.

        Yields the buckets whose shrinking was not finished.
        """
        for finding in self._by_bucket.values():
            if finding.flaky:
                continue
            deadline = time.monotonic() + seconds
            shrunk = self._replayer.shrink(finding.tape, finding.bucket, seconds)
            finding.tape = shrunk.tape
            finding.shrunk = True
            if not shrunk.finished:
                yield finding.bucket
            left = deadline - time.monotonic()
            finding.necessary_faults = self._replayer.ablate(finding.tape, finding.bucket, left) or None

    def failures(self) -> list[Failure]:
        """The findings as the user gets them, each run once more to write down what happens."""
        return [self._failure(finding) for finding in self._by_bucket.values()]

    def _failure(self, finding: Finding) -> Failure:
        recorder = RunRecorder()
        replayed = self._replayer.run(finding.tape, recorder)
        now = replayed.outcome.error if replayed.bucket == finding.bucket else None
        error = now or finding.error
        step = len(recorder.steps)
        trace = self._maker.make(finding.origin, replayed.tape, recorder)
        trace.failure = TraceFailure.of(error, step, finding.bucket)
        return Failure(
            error=error,
            step=step,
            run_id=finding.origin.run_id,
            active_faults=recorder.active_faults,
            rule_log=[recorded.name for recorded in recorder.steps],
            trace=trace,
            necessary_faults=finding.necessary_faults,
            error_traceback=traceback_text(error) if now else finding.error_traceback or traceback_text(error),
            bucket=finding.bucket,
            count=finding.count,
            flaky=finding.flaky or now is None,
            shrunk=finding.shrunk,
            program="\n".join(recorder.finished_program()),
        )
