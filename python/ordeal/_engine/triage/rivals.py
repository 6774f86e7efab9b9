"""Looks for a shorter way to a failure that stayed long: shrinks it and other runs of its bucket.

What shrinking leaves depends on where it begins. A failure of many steps mostly has shorter ones on other ways, which
no step of its own leads to, while one of few steps rarely has. So only the former is worth the replays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ordeal._native as _native
from ordeal._engine.replay.replayer import Replayer, ShrinkProgress
from ordeal._engine.triage.findings import Finding
from ordeal._native import monotonic

#: Limits for one failure: runs that are shrunk, and replays in all.
RIVALS_MAX, CANDIDATES_MAX = 8, 3_000


def shorter_tapes(
    replayer: Replayer,
    finding: Finding,
    rivals: Sequence[_native.Tape],
    deadline: float,
    tick: Callable[[ShrinkProgress], None] | None = None,
) -> list[_native.Tape]:
    """Return what shrinking leaves of ``finding`` and ``rivals``, if that has fewer steps, the shortest first.

    ``tick`` is called after each replay.

    Raises:
        KeyboardInterrupt: Ctrl-C was pressed.
        CheckError: a check of the core failed.
    """
    left, found = CANDIDATES_MAX, list[_native.Tape]()
    for rival in [finding.tape, *rivals[:RIVALS_MAX]]:
        seconds = deadline - monotonic()
        if left <= 0 or seconds <= 0:
            break
        shrunk = replayer.shrink(rival, finding.bucket, seconds, tick, candidates_max=left)
        left -= shrunk.candidates
        if shrunk.interrupted:
            raise KeyboardInterrupt
        if shrunk.failed_check is not None:
            raise shrunk.failed_check
        if len(shrunk.tape) < len(finding.tape):
            found.append(shrunk.tape)
    return sorted(found, key=len)
