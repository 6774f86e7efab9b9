"""Opens Python's debugger where the user's code failed, below the frames that ran it."""

from __future__ import annotations

import pdb
import sys
from types import TracebackType

_MACHINERY = frozenset({"hypothesis", "ordeal"})


def can_debug() -> bool:
    """Return whether a person or a script can type commands."""
    return sys.stdin is not None and not sys.stdin.closed


def post_mortem(error: BaseException) -> None:
    """Open the debugger at the frame of the user's code that raised ``error``, until it is quit."""
    pdb.post_mortem(_own_frames(error.__traceback__))


def _own_frames(tb: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first to the last frame of the user's code; all of it when there is none."""
    entries = []
    while tb is not None:
        entries.append(tb)
        tb = tb.tb_next
    own = [at for at, entry in enumerate(entries) if not _is_machinery(entry)]
    kept = entries[own[0] : own[-1] + 1] if own else entries
    for entry in reversed(kept):
        tb = TracebackType(tb, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return tb


def _is_machinery(entry: TracebackType) -> bool:
    return str(entry.tb_frame.f_globals.get("__name__", "")).partition(".")[0] in _MACHINERY
