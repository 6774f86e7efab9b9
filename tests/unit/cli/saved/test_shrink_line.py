"""The line that tells how far shrinking is: at most five times a second, and ended once."""

from __future__ import annotations

import pytest

from ordeal._engine.replay.replayer import ShrinkProgress
from ordeal.cli import terminal
from ordeal.cli.saved.shrink_line import ShrinkLine


class Time:
    """Stands still until it is set."""

    now_s = 100.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr("ordeal.cli.saved.shrink_line.monotonic", lambda: found.now_s)
    return found


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is written, with the ends of lines."""
    texts: list[str] = []

    def say(text: str, *, newline: bool = True) -> None:
        texts.append(text + "\n" * newline)

    monkeypatch.setattr(terminal, "say", say)
    return texts


def test_it_is_written_over_itself_five_times_a_second(clock: Time, said: list[str]) -> None:
    line = ShrinkLine()
    for tried, seconds in enumerate((0.0, 0.19, 0.21, 0.4, 0.42)):
        clock.now_s = 100 + seconds
        line(ShrinkProgress("chunks", 9 - tried, tried))
    assert [text.split(",")[0] for text in said] == [f"\r  chunks: {steps} steps left" for steps in (9, 7, 5)]
    assert not any(text.endswith("\n") for text in said)


@pytest.mark.usefixtures("clock")
def test_the_line_is_ended_once_and_only_where_it_is_open(said: list[str]) -> None:
    line = ShrinkLine()
    line.close()
    assert said == []
    line(ShrinkProgress("chunks", 1, 1))
    line.close()
    line.close()
    assert said[1:] == ["\n"]
