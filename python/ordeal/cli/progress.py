"""Shows the live progress line: after the first run, then at most every two seconds."""

from __future__ import annotations

from ordeal import report
from ordeal.cli import terminal
from ordeal.result import ProgressSnapshot

_INTERVAL_S = 2.0


class ProgressLine:
    """To be called after each run. Time is what the snapshots say, so it needs no clock of its own."""

    def __init__(self) -> None:
        self._due_s = 0.0
        self._overwrites = terminal.is_terminal()
        self._line_open = False

    def __call__(self, snapshot: ProgressSnapshot) -> None:
        """Show ``snapshot`` when it is time for a new line."""
        if snapshot.elapsed < self._due_s:
            return
        self._due_s = snapshot.elapsed + _INTERVAL_S
        line = report.progress_line(snapshot)
        if self._overwrites:
            terminal.say(f"\r{line}", newline=False)
            self._line_open = True
        else:
            terminal.say(line.rstrip())

    def close(self) -> None:
        """End the line that was being overwritten."""
        if self._line_open:
            terminal.say("")
            self._line_open = False
