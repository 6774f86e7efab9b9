"""One of each kind of what members of a store tell each other."""

from __future__ import annotations

from ordeal.store import Entry, FailureReport
from ordeal.store.records import Content

SAMPLES: list[Content] = [
    Entry(b"tape of a run" * 9, (1, 2**64 - 1, 77)),
    Entry(b""),
    frozenset(range(2**40, 2**40 + 30)),
    FailureReport("KeyError in shop.till:pay", b'{"format": "ordeal-trace", "steps": [[[[]]]]}', 12, 345),
]
