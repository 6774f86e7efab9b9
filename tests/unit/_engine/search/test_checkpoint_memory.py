"""Copies of states take no more memory than they may: the older ones are given up, and their runs stay the same."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule

from ordeal._base.limits import MEBIBYTE
from ordeal._base.memory_limit import data_bytes
from ordeal._engine.search import checkpoints
from ordeal._engine.search.checkpoints import Checkpoints
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer


class Growing(ChaosTest):
    """Comes to many states."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    @rule(number=st.integers(0, 9))
    def see(self, number: int) -> None:
        self.seen.append(number)
        if len(set(self.seen)) == 8:
            raise ValueError("eight")

    def state_hash(self) -> int:
        return len(set(self.seen)) + 1


def explored() -> tuple[Any, ...]:
    result = Explorer(Growing, seed=5).run(max_runs=400)
    return result.total_runs, result.total_steps, [(each.bucket, each.run_id, each.count) for each in result.failures]


def test_copies_are_given_up_and_nothing_else_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = explored()
    size = [0]
    kept: list[int] = []
    make_room = Checkpoints._make_room

    def watched(self: Checkpoints) -> None:
        make_room(self)
        kept.append(len(self._copies))

    def growing() -> int:
        size[0] += 1
        return size[0]

    monkeypatch.setattr(checkpoints, "LOOK_PERIOD", 1)
    monkeypatch.setattr(checkpoints, "COPIES_BYTES_MAX", 0)
    monkeypatch.setattr(checkpoints, "resident_bytes", growing)
    monkeypatch.setattr(Checkpoints, "_make_room", watched)
    assert explored() == before
    assert kept
    assert max(kept) <= 2


class Heavy(ChaosTest):
    """Has states of 10 MB of which no two are alike."""

    def __init__(self) -> None:
        super().__init__()
        self.number, self.held = 1, b""

    @rule(by=st.integers(1, 1000))
    def hold(self, by: int) -> None:
        self.number = self.number * 31 + by
        self.held = bytes([by % 256]) * 10**7

    def state_hash(self) -> int:
        return self.number % 2**61


@pytest.mark.skipif(not data_bytes(), reason="the system does not say what the process has")
def test_copies_leave_the_rules_most_of_what_a_limit_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else what they take would be a MemoryError of a rule that asks for little."""
    held: list[int] = []
    make_room = Checkpoints._make_room
    # Copies would fill what other tests have freed, and the process would seem not to grow.
    ctypes.CDLL(None).malloc_trim(0)

    def watched(self: Checkpoints) -> None:
        make_room(self)
        held.append(10**7 * len(self._copies))

    monkeypatch.setattr(Checkpoints, "_make_room", watched)
    result = Explorer(Heavy, seed=1, max_memory=data_bytes() // MEBIBYTE + 400).run(max_runs=150)
    assert not result.failures
    assert len(held) > 20
    assert 3 * 10**7 < max(held) < 200 * MEBIBYTE
