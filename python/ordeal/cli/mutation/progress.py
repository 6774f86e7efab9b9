"""Shows how far a judge is: one line that is drawn anew on a terminal, else a line for each tenth of the mutants."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from shutil import get_terminal_size

from ordeal._native import monotonic
from ordeal._tools.mutation.verdicts import WORDS, Verdict
from ordeal.cli import terminal

_INTERVAL_SECONDS = 0.1
#: How long it is silent where lines follow one another, while the tests run without a mutant.
_QUIET_SECONDS = 3.0
_BAR = 20


def progress_lines() -> Callable[[str], None]:
    """Return what says how far something is, in a line, when it has been silent for three seconds."""
    due = monotonic() + _QUIET_SECONDS

    def say(text: str) -> None:
        nonlocal due
        if monotonic() >= due:
            due = monotonic() + _QUIET_SECONDS
            terminal.say(f"  {text}")

    return say


class MutationProgress:
    """Counts verdicts, and shows them when it is time."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._tenths = total, 0, 0
        self._counts: Counter[str] = Counter()
        self._is_live = terminal.is_terminal() and os.environ.get("TERM") not in (None, "", "dumb")
        self._first = self._due = 0.0
        self._width = 0
        self._say = progress_lines()

    def begin(self, text: str) -> None:
        """Show how far the tests are that run without a mutant, before the first verdict."""
        if self._is_live:
            self._draw(f"{text}..."[: get_terminal_size().columns - 1])
        else:
            self._say(text)

    def take(self, verdict: Verdict) -> None:
        """Count one more."""
        now = monotonic()
        # Tests run without a mutant before the first verdict: that is no part of the speed.
        self._first = self._first or now
        self._done += 1
        self._counts[verdict.word] += 1
        if self._is_live and now >= self._due:
            self._due = now + _INTERVAL_SECONDS
            self._draw(self.line(now - self._first, get_terminal_size().columns - 1))
        elif not self._is_live and self._done * 10 // self._total > self._tenths:
            self._tenths = self._done * 10 // self._total
            terminal.say(f"  {self._done}/{self._total}  survived {self._counts['survived']}")

    def line(self, seconds: float, width: int) -> str:
        """Return a bar, what became of how many, how many a second, and the time that is left."""
        filled = self._done * _BAR // self._total
        parts = [f"[{'#' * filled}{'-' * (_BAR - filled)}]", f"{self._done}/{self._total}"]
        parts += [f"{word} {self._counts[word]}" for word in WORDS if self._counts[word]]
        if seconds > 0 and self._done > 1:
            left = int((self._total - self._done) * seconds / self._done + 0.5)
            parts += [f"{self._done / seconds:.0f}/s", f"{left // 60}:{left % 60:02} left"]
        return "  ".join(parts)[:width]

    def close(self) -> None:
        """Clear the line."""
        if self._width:
            self._draw("")
            terminal.say("\r", newline=False)
            self._width = 0

    def _draw(self, line: str) -> None:
        terminal.say(f"\r{line.ljust(self._width)}", newline=False)
        self._width = len(line)
