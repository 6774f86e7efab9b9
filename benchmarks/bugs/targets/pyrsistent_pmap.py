"""pyrsistent 0.19.1: entries of a persistent map cannot be read any more after it has grown.

Changelog of 0.19.2: "Fix #263, pmap regression in 0.19.1. Element access sometimes unreliable after insert."
"""

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from pyrsistent import pmap

from bugs.ranges import within

KEYS = 100

keys = st.integers(0, KEYS - 1)


class Machine(RuleBasedStateMachine):
    """A map that is never changed in place beside a dictionary that is."""

    def __init__(self) -> None:
        super().__init__()
        self.persistent = pmap()
        self.plain: dict[int, int] = {}

    @rule(key=keys, value=st.integers(0, 9))
    def write(self, key: int, value: int) -> None:
        key = within(key, KEYS)
        self.persistent = self.persistent.set(key, value)
        self.plain[key] = value

    @rule(key=keys)
    def discard(self, key: int) -> None:
        key = within(key, KEYS)
        self.persistent = self.persistent.discard(key)
        self.plain.pop(key, None)

    @rule(entries=st.dictionaries(keys, st.integers(0, 9), max_size=6))
    def update(self, entries: dict[int, int]) -> None:
        entries = {within(key, KEYS): value for key, value in entries.items()}
        self.persistent = self.persistent.update(entries)
        self.plain.update(entries)

    @rule(key=keys)
    def read(self, key: int) -> None:
        key = within(key, KEYS)
        assert self.persistent.get(key) == self.plain.get(key), "another value than was written"

    @rule()
    def count(self) -> None:
        assert len(self.persistent) == len(self.plain), "the number of entries differs"


def reproduce() -> None:
    persistent = pmap()
    for key in range(0, 104, 8):
        persistent = persistent.set(key, "kept")
    persistent = persistent.set(9, "lost")
    assert persistent.get(9) == "lost", "the entry is in the map and cannot be read"
