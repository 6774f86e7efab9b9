"""What members of a store give each other: entries, edges and failures, out of a session and into it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

#: Edges are unsigned keys of so many bits.
EDGE_BITS = 64


@dataclass(frozen=True, slots=True)
class Entry:
    """One tape of a corpus, and the edges that it was the first to reach; it may have reached none first.

    ``tape`` is opaque to the store: who imports an entry checks it.
    """

    tape: bytes
    edges: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """The same for the same tape, wherever it was found: 32 hex digits."""
        return hashlib.blake2b(self.tape, digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class FailureReport:
    """What is known of a failure bucket: its shortest trace, of so many steps, and how often it was met.

    ``trace`` is JSON, opaque to the store; it is empty where only the count is known. A member that publishes a report
    counts all it has met itself so far; a report that comes from the store counts what all members have.
    """

    bucket: str
    trace: bytes
    steps: int
    count: int


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What a member has found since it last said so. Saying something again changes nothing.

    ``edges`` are all that were reached here, also through the entries of others: what was reached is not offered again.
    """

    entries: tuple[Entry, ...] = ()
    edges: frozenset[int] = frozenset()
    failures: tuple[FailureReport, ...] = ()


@dataclass(frozen=True, slots=True)
class Incoming:
    """What the others have published since the last exchange.

    Attributes:
        entries: worth a run here, as they reached edges that were not reached here; the rarest first, then the newest.
        edges: reached by others, and not told of before.
        failures: buckets of which something new is known, as all members know them.
        refused: how much of what was read or given was malformed or too large, and therefore left out.
        refusal: why, for the first of them; else empty.
        members: how many have met in the store within the last minute, this one included. 0 while it is away.
        paused: why the store could not be reached, else empty. What was to be published waits for it.
    """

    entries: tuple[Entry, ...] = ()
    edges: frozenset[int] = frozenset()
    failures: tuple[FailureReport, ...] = ()
    refused: int = 0
    refusal: str = ""
    members: int = 0
    paused: str = ""
