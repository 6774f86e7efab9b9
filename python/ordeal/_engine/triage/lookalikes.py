"""Lookalikes: runs that failed in a known bucket and may show another mistake than the one that is known.

Two mistakes may break one ``assert`` after the same rule, or raise the same exception at the same place. While the
search goes on, nothing tells them apart. So a few runs of each bucket are kept, as different as can be, and compared
once the search is over and the first failure of the bucket is minimal; see ``telling_apart``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Literal, Protocol

import msgspec

import ordeal._native as _native
from ordeal._engine.execution.driver import FAULT_ON, RULE
from ordeal._engine.replay.trace_builder import Provenance

#: Why a run was kept: without something that all earlier ones had, with new code, or for its number.
Reason = Literal["", "lacking", "new", "numbered"]
_ORDER: tuple[Reason, ...] = ("", "lacking", "new", "numbered")

#: How many runs of one bucket are kept because they lacked something, and because they reached new code.
LACKING_MAX = 16
NEW_MAX = 6


class FailingRun(Protocol):
    """A run that failed in a bucket."""

    bucket: str
    tape: _native.Tape
    origin: Provenance
    lookalike: Reason


class _Seen(msgspec.Struct):
    """What the runs of a bucket that were kept had in common, and how many of them lacked something."""

    common: frozenset[int]
    lacking: int = 0


class Lookalikes[Run: FailingRun](msgspec.Struct):
    """Chooses the runs of each bucket that are kept: by counts and by what they had, so a seed always chooses alike.

    Kept are runs without a rule or a fault that all earlier ones had, since they fail without it; the latest runs that
    reached new code; and the second, fourth, eighth run, and so on. Steps that pass are not looked at.
    """

    kept: dict[tuple[str, int], Run] = msgspec.field(default_factory=dict)
    _seen: dict[str, _Seen] = msgspec.field(default_factory=dict)

    def offer(
        self,
        bucket: str,
        first: _native.Tape,
        number: int | None,
        *,
        new: bool,
        lacks: Callable[[Collection[int]], bool],
        made: Callable[[], Run],
    ) -> Run | None:
        """Keep the failing run ``number`` in its bucket if it may be another failure; return it if it is kept.

        It has no number if it failed there before. ``first`` is the tape that stands for the bucket. ``new`` says that
        the run reached new code. ``lacks`` says whether its tape is without a step of one of some codes. It is ``made``
        only where it is kept: runs that meet a known failure are many.
        """
        seen = self._seen.get(bucket)
        if seen is None:
            seen = self._seen[bucket] = self._resumed(bucket, first)
        reason: Reason = ""
        if seen.lacking < LACKING_MAX and lacks(seen.common):
            reason = "lacking"
        elif new:
            reason = "new"
        elif number is not None and number & (number - 1) == 0:
            reason = "numbered"
        if not reason:
            return None
        run = made()
        run.lookalike = reason
        if reason == "lacking":
            seen.common &= frozenset(run.tape.codes())
            seen.lacking += 1
        self.add(run)
        return run

    def add(self, run: Run) -> None:
        """Keep a run that was chosen, here or elsewhere."""
        self.kept.setdefault((run.bucket, run.tape.hash()), run)

    def of(self, bucket: str) -> list[Run]:
        """Return the runs of ``bucket`` to compare, the most promising first."""
        runs = sorted(
            (run for run in self.kept.values() if run.bucket == bucket),
            key=lambda run: (_ORDER.index(run.lookalike), run.origin.run_id, run.tape.hash()),
        )
        new = [run for run in runs if run.lookalike == "new"][-NEW_MAX:]
        return [run for run in runs if run.lookalike != "new" or run in new]

    def told(self) -> Sequence[Run]:
        """Return the runs that turned out to be failures of their own."""
        return [run for run in self.kept.values() if not run.lookalike]

    def all(self) -> Sequence[Run]:
        """Return all runs that were kept."""
        return list(self.kept.values())

    def _resumed(self, bucket: str, first: _native.Tape) -> _Seen:
        """Return what is known from the runs of an earlier process, if there are any."""
        lacking = [run for run in self.of(bucket) if run.lookalike == "lacking"]
        common = _optional_codes(first)
        for run in lacking:
            common &= _optional_codes(run.tape)
        return _Seen(common, len(lacking))


def _optional_codes(tape: _native.Tape) -> frozenset[int]:
    return optional(tape.codes())


def optional(codes: Iterable[int]) -> frozenset[int]:
    """Return the codes of rules, and of faults that are switched on: what a run may do without."""
    return frozenset(code for code in codes if code & 7 in (RULE, FAULT_ON))
