"""Shows the live progress line, of runs and of shrinking: after the first run, then at most every two seconds."""

from __future__ import annotations

from ordeal._report.exploration import progress_line, shrink_progress_line
from ordeal.cli import terminal
from ordeal.result import ProgressSnapshot, ShrinkSnapshot

_INTERVAL_S = 2.0


class ProgressLine:
    """Call it after each run and while failures are shrunk.

    It takes the time from the snapshots, and needs no clock of its own.
    """

    def __init__(self) -> None:
        self._due_s = 0.0
        self._overwrites = terminal.is_terminal()
        self._line_open = False
        self._length = 0

    def __call__(self, snapshot: ProgressSnapshot) -> None:
        """Show ``snapshot`` when it is time for a new line."""
        # A person waits for figures of all workers; a log shows that something has begun.
        if (snapshot.total_runs or not self._overwrites) and self._is_due(snapshot.elapsed):
            self._show(progress_line(snapshot))

    def shrinking(self, snapshot: ShrinkSnapshot) -> None:
        """Show ``snapshot`` when it is time for a new line."""
        if self._is_due(snapshot.elapsed):
            self._show(shrink_progress_line(snapshot))

    def _is_due(self, elapsed: float) -> bool:
        if elapsed < self._due_s:
            return False
        self._due_s = elapsed + _INTERVAL_S
        return True

    def _show(self, line: str) -> None:
        if self._overwrites:
            # Blanks overwrite the rest of a longer line.
            terminal.say(f"\r{line.ljust(self._length)}", newline=False)
            self._line_open, self._length = True, len(line)
        else:
            terminal.say(line.rstrip())

    def close(self) -> None:
        """Clear the line that was being overwritten."""
        if self._line_open:
            terminal.say(f"\r{' ' * self._length}\r", newline=False)
            self._line_open = False
