"""The live line: at once, then every two seconds, over itself on a terminal and as lines elsewhere."""

from __future__ import annotations

import pytest

from ordeal.cli import terminal
from ordeal.cli.progress import ProgressLine
from ordeal.result import ProgressSnapshot, ShrinkSnapshot


def at(elapsed: float, runs: int = 1) -> ProgressSnapshot:
    return ProgressSnapshot(elapsed, runs, 10, 3, 2, 0, 5.0)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """What is said, and whether a line ends with it."""
    texts: list[tuple[str, bool]] = []

    def say(text: str, *, newline: bool = True) -> None:
        texts.append((text, newline))

    monkeypatch.setattr(terminal, "say", say)
    return texts


def test_the_first_is_shown_and_the_next_two_seconds_later(said: list[tuple[str, bool]]) -> None:
    line = ProgressLine()
    for elapsed in (0.1, 1.0, 2.05, 2.1, 4.0, 4.2):
        line(at(elapsed, runs=int(10 * elapsed)))
    assert [text.split()[1] for text, _ in said] == ["runs=1", "runs=21", "runs=42"]


def test_in_a_file_each_is_a_line_without_blanks_at_its_end(said: list[tuple[str, bool]]) -> None:
    line = ProgressLine()
    line(at(0.0))
    line.close()
    ((text, newline),) = said
    assert text == text.rstrip()
    assert newline


def test_on_a_terminal_it_covers_the_longer_one_before_it(
    said: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    line = ProgressLine()
    line(at(0.0, runs=10**12))
    line(at(2.0))
    (first, open_one), (second, open_two) = said
    assert first.startswith("\r")
    assert len(first) == len(second)
    assert (open_one, open_two) == (False, False)


def test_shrinking_takes_its_turn_in_the_same_line(said: list[tuple[str, bool]]) -> None:
    line = ProgressLine()
    line(at(1.0))
    line.shrinking(ShrinkSnapshot(2.0, 1, 2, 30, 9, 80))
    assert len(said) == 1, "it is not two seconds later"
    line.shrinking(ShrinkSnapshot(3.0, 1, 2, 30, 9, 80))
    assert "9" in said[1][0]
    assert "30" in said[1][0]


def test_a_wait_for_a_hang_is_told_at_once(said: list[tuple[str, bool]]) -> None:
    line = ProgressLine()
    line(at(1.0))
    line.shrinking(ShrinkSnapshot(1.5, 1, 1, 11, 5, 12, waits=30.0))
    assert said[1][0].split("] ")[1] == "failure 1 of 1 hangs after 4 steps: watching whether that takes 30 s"


def test_the_line_is_cleared_once_and_only_where_it_is_open(
    said: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    line = ProgressLine()
    line.close()
    assert said == []
    line(at(0.0))
    line.close()
    line.close()
    ((cleared, newline),) = said[1:]
    assert cleared.split(" ", 1)[0] == "\r"
    assert cleared.strip() == ""
    assert len(cleared) == len(said[0][0]) + 1
    assert not newline


def test_a_terminal_shows_nothing_before_a_run_has_come_to_its_end(
    said: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "is_terminal", lambda: True)
    line = ProgressLine()
    line(at(0.0, runs=0))
    assert said == []
