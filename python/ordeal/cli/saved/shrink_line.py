"""Shows the progress of shrinking on one line of a terminal, at most five times a second."""

from __future__ import annotations

from ordeal._engine.replay.replayer import ShrinkProgress
from ordeal._native import monotonic
from ordeal._report.replay import shrink_line
from ordeal.cli import terminal

_INTERVAL_S = 0.2


class ShrinkLine:
    """Call it after each replay."""

    def __init__(self) -> None:
        self._due_s = monotonic()
        self._line_open = False

    def __call__(self, progress: ShrinkProgress) -> None:
        """Show ``progress`` when it is time for it."""
        if monotonic() >= self._due_s:
            self._due_s = monotonic() + _INTERVAL_S
            self._line_open = True
            line = shrink_line(progress.phase, progress.steps, progress.candidates)
            terminal.say(f"\r{line}", newline=False)

    def close(self) -> None:
        """End the line."""
        if self._line_open:
            terminal.say("")
            self._line_open = False
