"""A failure that was met and is not reported, because the user declared it as known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ordeal._base.formatting import MESSAGE_CHARS_MAX, counted, one_line


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A known failure: the ``entry`` of ``known`` or ``--ignore`` that names it, and how many runs met it.

    It was neither confirmed nor shrunk. ``count`` is 0 if only a saved seed showed it.
    """

    entry: str
    bucket: str
    error_type: str
    error_message: str
    count: int


def known_lines(known: Sequence[KnownFailure]) -> list[str]:
    """Return what was met and is not reported, one line for each kind; nothing if there is none."""
    if not known:
        return []
    total = counted(sum(each.count for each in known), "time")
    lines = [f"Known, not reported: {counted(len(known), 'kind')}, {total}"]
    for each in known:
        error = f"{each.error_type}: {each.error_message}" if each.error_message else each.error_type
        what = one_line(error, limit=MESSAGE_CHARS_MAX)
        lines.append(f"  {counted(each.count, 'run')}: {what} (known as {one_line(each.entry)!r})")
    return lines
