"""Shows the progress of a search, of runs and of shrinking: live on a terminal, else as lines, or not at all."""

from __future__ import annotations

import importlib
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from ordeal._engine.runs.writer import RunWriter
from ordeal._report.exploration import progress_line, shrink_progress_line
from ordeal.cli import terminal
from ordeal.config.options import ExplorationOptions
from ordeal.result import ProgressSnapshot, ShrinkSnapshot

if TYPE_CHECKING:
    from ordeal.cli.live import LiveView


#: What shows the progress of a running search.
type View = ProgressLine | LiveView


def progress_view(kind: str, test_class: str, options: ExplorationOptions, *, verbose: bool) -> View | None:
    """Return what shows the progress: ``auto`` is live on a terminal, and lines where ``--verbose`` asks for them."""
    if kind == "auto":
        kind = "live" if terminal.can_redraw() else "plain" if verbose or terminal.is_terminal() else "none"
    if kind == "none":
        return None
    if kind == "plain":
        return ProgressLine()
    # What draws it takes time to import, and a log does not need it.
    live = importlib.import_module("ordeal.cli.live")
    view: View = live.LiveView(test_class, options)
    return view


class Watchers:
    """Passes the progress of a search on to the folder of its run, and to what people see."""

    def __init__(self, writer: RunWriter, view: View | None) -> None:
        self._writer = writer
        self._view = view

    def progress(self, snapshot: ProgressSnapshot) -> None:
        """Called after each run, or a few times a second."""
        self._writer.progress(snapshot)
        if self._view is not None:
            self._view(snapshot)

    def shrinking(self, snapshot: ShrinkSnapshot) -> None:
        """Called after each trace that shrinking tries."""
        self._writer.shrinking(snapshot)
        if self._view is not None:
            self._view.shrinking(snapshot)


class ProgressLine:
    """Shows a line after the first run, then at most every two seconds.

    It takes the time from the snapshots, and needs no clock.
    """

    def __init__(self) -> None:
        self._due_s = 0.0

    def __call__(self, snapshot: ProgressSnapshot) -> None:
        """Show ``snapshot`` when it is time for a new line."""
        if self._is_due(snapshot.elapsed):
            terminal.say(progress_line(snapshot))

    def shrinking(self, snapshot: ShrinkSnapshot) -> None:
        """Show ``snapshot`` when it is time for a new line."""
        if self._is_due(snapshot.elapsed) or snapshot.waits:
            terminal.say(shrink_progress_line(snapshot))

    def _is_due(self, elapsed: float) -> bool:
        if elapsed < self._due_s:
            return False
        self._due_s = elapsed + 2.0
        return True

    def telling_of_interrupts(self) -> AbstractContextManager[None]:
        """Say nothing: a log gets the lines of the report."""
        return nullcontext()

    def close(self) -> None:
        """Leave the lines."""
