"""What a worker knows is kept for the process that takes its place, within bounds."""

from __future__ import annotations

import pytest

import ordeal._native as _native
from ordeal._engine.parallel import known_coverage
from ordeal._engine.parallel.known_coverage import KnownCoverage

NAMES: _native.MachineNames = (["climb"], [], [], [])


def packed(count: int) -> bytes:
    return _native.encode_entries(NAMES, [_native.SharedEntry(_native.Tape()) for _ in range(count)])


def test_edges_and_finds_add_up() -> None:
    known = KnownCoverage()
    known.add([3, 1], packed(2))
    known.add([1, 2], b"")
    known.add([], packed(1))
    assert known.edges == {1, 2, 3}
    assert len(known.entries(NAMES)) == 3


def test_of_too_many_finds_the_newest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_coverage, "ENTRIES_BYTES_MAX", 2 * len(packed(3)))
    known = KnownCoverage()
    for count in (1, 2, 3, 3):
        known.add([], packed(count))
    assert len(known.entries(NAMES)) == 6
