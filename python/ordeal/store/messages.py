"""What members of a store exchange: entries, edges and failures, out of a session and into it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

#: Edges are unsigned keys with this many bits.
EDGE_BITS = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One tape of a corpus, and the edges that it was the first to reach, if any.

    ``tape`` is opaque to the store: the importer checks it.
    """

    tape: bytes
    edges: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """32 hex digits that are the same for the same tape, wherever it was found."""
        return hashlib.blake2b(self.tape, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class FailureReport:
    """What is known about a failure bucket: its shortest trace, the number of its steps, and how often it was met.

    ``trace`` is JSON, opaque to the store; it is empty if only the count is known, and ``shrunk`` says that nobody need
    make it shorter. A member publishes its own total count so far; a report from the store counts what all have met.
    """

    bucket: str
    trace: bytes
    steps: int
    count: int
    shrunk: bool = True


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a member has found since its last exchange. Repeating something changes nothing.

    ``edges`` are all that were reached here, also through the entries of others: they are not offered again.
    """

    entries: tuple[Entry, ...] = ()
    edges: frozenset[int] = frozenset()
    failures: tuple[FailureReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Incoming:
    """What the others have published since the last exchange.

    Attributes:
        entries: worth a run here, as they reached edges that were not reached here; the rarest first, then
            what was distilled, then the newest.
        edges: reached by others, and not reported before.
        failures: buckets about which something new is known, as all members know them.
        refused: how many records or inputs were malformed or too large, and therefore ignored.
        refusal: why, for the first of them; else empty.
        members: how many were active in the store within the last minute, including this one. 0 while it is away.
        paused: why the store could not be reached, else empty. What was to be published waits for it.
    """

    entries: tuple[Entry, ...] = ()
    edges: frozenset[int] = frozenset()
    failures: tuple[FailureReport, ...] = ()
    refused: int = 0
    refusal: str = ""
    members: int = 0
    paused: str = ""
