"""Where a failure happened: the line of the machine, the line that raised, and the values of the assertion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ordeal._base.formatting import MESSAGE_CHARS_MAX, one_line

PlaceKind = Literal["rule", "initialize", "invariant", "teardown", "constructor", "other"]


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of a source file. The path is relative to the current folder, or to that of installed packages."""

    file: str
    line: int
    function: str
    code: str

    def __str__(self) -> str:
        return one_line(f"{self.file}:{self.line} in {self.function}", limit=2 * MESSAGE_CHARS_MAX)


@dataclass(frozen=True, slots=True)
class FailurePlace:
    """Where a failure happened.

    ``name`` is the rule or invariant that failed, as ``kind`` says, and ``at`` its line that failed. ``raised_at`` is
    the last line outside the machine, as in the library under test; None if the machine raised itself. ``asserted``
    holds the lines of a failed ``assert`` with its values; it is empty for other failures.
    """

    kind: PlaceKind
    name: str
    at: CodeLine
    raised_at: CodeLine | None = None
    asserted: tuple[str, ...] = ()


def place_lines(place: FailurePlace | None) -> list[str]:
    """Return the lines of a report that say where a failure happened; nothing if that is unknown."""
    if place is None:
        return []
    kind = "" if place.kind == "other" else f" ({place.kind})"
    lines = [f"At: {place.at}{kind}"]
    if place.raised_at is not None:
        code = f": {one_line(place.raised_at.code)}" if place.raised_at.code else ""
        lines.append(f"Raised at: {place.raised_at}{code}")
    return lines + [f"{'' if number else 'Asserted: '}{one_line(text)}" for number, text in enumerate(place.asserted)]
