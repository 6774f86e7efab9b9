"""The live view of a search on a terminal: two lines drawn anew, and above them each failure when it is found."""

from __future__ import annotations

import os

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ordeal._engine.formatting import counted, one_line
from ordeal._report.exploration import shrink_progress_line
from ordeal.cli import terminal
from ordeal.config.options import ExplorationOptions
from ordeal.result import FoundFailure, ProgressSnapshot, ShrinkSnapshot

#: The least time between two drawings, in seconds.
INTERVAL_SECONDS = 0.2
#: Below this probability of something new, more time is unlikely to help.
SATURATED = 0.001
FOUND_MAX = 50
_ID_CHARS = 6


class LiveView:
    """Draws when it is called, and needs no thread: workers are forked from this process."""

    def __init__(self, test_class: str, options: ExplorationOptions) -> None:
        self._name = one_line(test_class.rpartition(":")[2], limit=40)
        self._options = options
        self._console = Console(
            file=terminal.error_stream(), force_terminal=True, highlight=False, emoji=False, soft_wrap=False
        )
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
            vertical_overflow="crop",
        )
        self._open = False
        self._due = 0.0
        self._told = 0
        self._edges = 0
        self._edges_at = 0.0

    def __call__(self, snapshot: ProgressSnapshot) -> None:
        """Show ``snapshot`` when it is time, and what was found at once."""
        if snapshot.unique_edges != self._edges:
            self._edges, self._edges_at = snapshot.unique_edges, snapshot.elapsed
        if len(snapshot.found) > self._told:
            self._tell(snapshot.found[self._told :])
            self._told = len(snapshot.found)
            self._due = 0.0
        if snapshot.total_runs and snapshot.elapsed >= self._due:
            self._due = snapshot.elapsed + INTERVAL_SECONDS
            self._draw(Group(self._head(snapshot), figures(snapshot, snapshot.elapsed - self._edges_at)))

    def shrinking(self, snapshot: ShrinkSnapshot) -> None:
        """Show ``snapshot`` when it is time."""
        if snapshot.elapsed >= self._due:
            self._due = snapshot.elapsed + INTERVAL_SECONDS
            self._draw(Text(shrink_progress_line(snapshot).strip(), no_wrap=True, overflow="ellipsis"))

    def close(self) -> None:
        """Clear what is drawn. The failures above it stay."""
        if self._open:
            self._live.stop()
            self._open = False

    def _draw(self, shown: Group | Text) -> None:
        if not self._open:
            self._live.start()
            self._open = True
        self._live.update(shown, refresh=True)

    def _tell(self, found: tuple[FoundFailure, ...]) -> None:
        for number, each in enumerate(found, start=self._told + 1):
            if number > FOUND_MAX:
                self._console.print(Text(f"... and more than {FOUND_MAX} failures in all", style="red"))
                return
            self._console.print(failure_line(each, self._console.width), overflow="ignore", crop=True)

    def _head(self, snapshot: ProgressSnapshot) -> Table:
        limit = self._options.max_time
        total = clock(limit) if limit < 1e7 else "no limit"
        workers = self._options.workers or os.cpu_count() or 1
        row = Table.grid(padding=(0, 2))
        row.add_column(no_wrap=True)
        row.add_column(no_wrap=True)
        row.add_column(ratio=1, min_width=8)
        row.add_column(no_wrap=True)
        row.expand = True
        row.add_row(
            Text(self._name, style="bold"),
            f"{clock(snapshot.elapsed)} / {total}",
            ProgressBar(total=max(limit, 1e-9), completed=min(snapshot.elapsed, limit)),
            f"{counted(workers, 'worker')}  {snapshot.runs_per_second:,.0f} runs/s  Ctrl-C stops",
        )
        return row


def failure_line(found: FoundFailure, width: int) -> Text:
    """Return the line of a failure: its id, what it is, and how long its trace is before it is shrunk."""
    steps = f"  {counted(found.steps, 'step')}"
    room = max(10, width - len(steps) - _ID_CHARS - 4)
    line = Text()
    line.append("\u2717 ", style="bold red")
    line.append(found.id[:_ID_CHARS], style="bold")
    line.append(f" {one_line(found.error, limit=room)}")
    line.append(steps, style="dim")
    return line


def figures(snapshot: ProgressSnapshot, since_edge: float) -> Text:
    """Return the figures of a search, with the answer to whether it may stop in colour: green where it may."""
    parts = [f"edges {snapshot.unique_edges:,}"]
    parts.append(f"runs {snapshot.total_runs:,}")
    parts.append(f"checkpoints {snapshot.checkpoints:,}")
    line = Text("  ".join(parts), no_wrap=True, overflow="ellipsis")
    found = snapshot.failures
    line.append(f"  findings {found:,}", style="bold red" if found else "")
    if snapshot.unique_edges:
        line.append(f"  last new edge {since_edge:.0f} s ago")
    chance = snapshot.next_run_max
    if chance is not None:
        colour = "green" if chance < SATURATED else "yellow" if chance < 10 * SATURATED else "default"
        may_stop = ", may stop" if chance < SATURATED else ""
        line.append(f"  next new edge \u2264 {100 * chance:.2g}%{may_stop}", style=colour)
    return line


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
