"""The lines of progress: at once, then every two seconds."""

from __future__ import annotations

import pytest

from ordeal.cli import terminal
from ordeal.cli.progress import ProgressLine
from ordeal.result import ProgressSnapshot, ShrinkSnapshot


def at(elapsed: float, runs: int = 1) -> ProgressSnapshot:
    return ProgressSnapshot(elapsed, runs, 10, 3, 2, 0, 5.0)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is said."""
    texts: list[str] = []
    monkeypatch.setattr(terminal, "say", texts.append)
    return texts


def test_a_wait_for_a_hang_is_told_at_once(said: list[str]) -> None:
    line = ProgressLine()
    line(at(1.0))
    line.shrinking(ShrinkSnapshot(1.5, 1, 1, 11, 5, 12, waits=30.0))
    assert said[1].split("] ")[1] == "failure 1 of 1 hangs after 4 steps: watching whether that takes 30 s"
