"""The live view of a search on a terminal: two lines that are redrawn, and above them each failure when it is found."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import ceil
from types import FrameType
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.text import Text

from ordeal._base.formatting import counted, one_line, percent
from ordeal._base.limits import REPORT_SECONDS, ROWS_MAX
from ordeal._engine.triage.triage import shrinking_seconds
from ordeal._report.exploration import explorers_text, progress_figures, shrink_progress_line
from ordeal.cli import terminal
from ordeal.config.options import ExplorationOptions
from ordeal.result import FoundFailure, ProgressSnapshot, ShrinkSnapshot
from ordeal.result.exploration import SATURATED

#: The message after Ctrl-C, and how wide the bar may be.
STOPPING = "stopping: the report follows (Ctrl-C again ends at once)"
BAR_MIN, BAR_MAX = 8, 60
_ID_CHARS = 6
_HIDE_CURSOR, _SHOW_CURSOR, _CLEAR_BELOW = "\x1b[?25l", "\x1b[?25h", "\x1b[J"
#: For a terminal that knows no other characters: one for one, so that a line keeps its length.
_IN_ASCII = str.maketrans({"\u2717": "x", "\u2264": "<", "\u2026": "."})


class LiveView:
    """Draws when it is called, and needs no thread: workers are forked from this process."""

    def __init__(self, test_class: str, options: ExplorationOptions) -> None:
        self._name = one_line(test_class.rpartition(":")[2], limit=40)
        self._options = options
        self._region = Region()
        self._stopping = False
        self._due = 0.0
        self._told = 0
        self._edges = 0
        self._edges_at = 0.0
        self._searched = 0.0  # for how long; what comes after it shrinks

    def __call__(self, snapshot: ProgressSnapshot) -> None:
        """Show ``snapshot`` when it is time, and what was found at once."""
        if snapshot.unique_edges != self._edges:
            self._edges, self._edges_at = snapshot.unique_edges, snapshot.elapsed
        shown = []
        for number, each in enumerate(snapshot.found[self._told :], start=self._told + 1):
            if number == ROWS_MAX + 1:
                shown.append(Text(f"... and more than {ROWS_MAX} failures in all", style="red"))
            if number <= ROWS_MAX:
                shown.append(failure_line(each, self._region.width))
        self._told = len(snapshot.found)
        if shown or (snapshot.total_runs and snapshot.elapsed >= self._due):
            self._due = snapshot.elapsed + REPORT_SECONDS
            width = self._region.width
            self._region.draw(
                [
                    self._head(snapshot.elapsed, self._options.max_time, width),
                    figures(snapshot, snapshot.elapsed - self._edges_at, width),
                ],
                above=shown,
            )

    def shrinking(self, snapshot: ShrinkSnapshot) -> None:
        """Show ``snapshot`` when it is time."""
        self._searched = self._searched or snapshot.elapsed
        if snapshot.elapsed >= self._due or snapshot.waits:
            self._due = snapshot.elapsed + REPORT_SECONDS
            limit = shrinking_seconds(self._options)
            head = self._head(snapshot.elapsed - self._searched, limit, self._region.width)
            self._region.draw([head, Text(shrink_progress_line(snapshot).strip())])

    @contextmanager
    def telling_of_interrupts(self) -> Iterator[None]:
        """Answer the first Ctrl-C of the block at once: workers take a moment to end."""
        before, process = signal.getsignal(signal.SIGINT), os.getpid()
        if not callable(before):
            yield
            return

        def tell(number: int, frame: FrameType | None) -> Any:
            # Workers are forked from here, and get the signal too.
            if not self._stopping and os.getpid() == process:
                self._stopping = True
                self._region.add(STOPPING)
            return before(number, frame)

        signal.signal(signal.SIGINT, tell)
        try:
            yield
        finally:
            # The program under test may have set its own.
            if signal.getsignal(signal.SIGINT) is tell:
                signal.signal(signal.SIGINT, before)

    def close(self) -> None:
        """Clear what is drawn. The failures above it stay."""
        self._region.clear()

    def _head(self, seconds: float, limit: float, width: int) -> Text:
        total = clock(limit) if limit < 1e7 else "no limit"
        time = f"{clock(seconds)} / {total}"
        name = Text(self._name, style="bold")
        name.truncate(width // 3, overflow="ellipsis")
        parts = [(time, 0), (explorers_text(self._options), 2), ("Ctrl-C stops", 1)]
        rest = _fitting(parts, width - name.cell_len - 2)
        line = Text.assemble(name, "  ", time, "  ")
        after = "  ".join(rest[1:])
        room = width - line.cell_len - len(after) - 2
        if room >= BAR_MIN and limit < 1e7:
            bar = ProgressBar(total=max(limit, 1e-9), completed=min(seconds, limit), width=min(room, BAR_MAX))
            line.append_text(self._region.rendered(bar)).append("  ")
        return line.append(after)


class Region:
    """The last lines of a terminal, redrawn in place, also where it has become narrower and breaks them."""

    def __init__(self) -> None:
        self._file = terminal.error_stream()
        self._console = Console(file=self._file, force_terminal=True, highlight=False, emoji=False, soft_wrap=True)
        self._lengths: list[int] = []

    @property
    def width(self) -> int:
        """The columns to write to; the last one stays free, as a terminal may break a line that fills it."""
        return max(20, self._console.width - 1)

    def draw(self, lines: Sequence[Text], above: Sequence[Text] = ()) -> None:
        """Replace what is drawn by ``lines``, with ``above`` before them, which stays."""
        for line in (*lines, *above):
            line.truncate(self.width, overflow="ellipsis")
            if self._console.options.ascii_only:
                line.plain = line.plain.translate(_IN_ASCII).encode("ascii", "replace").decode()
        with self._console.capture() as captured:
            self._console.print(Text("\n").join([*above, *lines]), end="")
        start = "" if self._lengths else _HIDE_CURSOR
        self._write(start + self._to_its_start() + captured.get())
        self._lengths = [line.cell_len for line in lines]

    def show(self, text: str) -> None:
        """Replace what is drawn by one plain line."""
        self.draw([Text(text)])

    def add(self, text: str) -> None:
        """Write one more line below, from a handler of a signal too, which may interrupt any of these methods."""
        with suppress(OSError, ValueError):
            os.write(self._file.fileno(), f"\r\n{text}".encode("ascii", "replace"))
        self._lengths = [*self._lengths, len(text)]

    def clear(self) -> None:
        """Delete what is drawn."""
        if self._lengths:
            self._write(self._to_its_start() + _SHOW_CURSOR)
            self._lengths = []

    def rendered(self, bar: ProgressBar) -> Text:
        """Return ``bar`` as it looks on this terminal."""
        text = Text()
        for segment in self._console.render(bar):
            text.append(segment.text, segment.style)
        text.pad_right(max(0, (bar.width or 0) - text.cell_len))
        return text

    def _to_its_start(self) -> str:
        if not self._lengths:
            return ""
        columns = max(1, self._console.width)
        rows = sum(max(1, ceil(length / columns)) for length in self._lengths)
        return "\r" + (f"\x1b[{rows - 1}A" if rows > 1 else "") + _CLEAR_BELOW

    def _write(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()


def _fitting(parts: Sequence[tuple[str, int]], width: int, gap: int = 2) -> list[str]:
    """Return the texts of ``parts`` that fit side by side, in their order. Those with the highest number go first."""
    kept = list(parts)
    while len(kept) > 1 and sum(cell_len(text) + gap for text, _ in kept) - gap > width:
        kept.remove(max(kept, key=lambda part: part[1]))
    return [text for text, _ in kept]


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


def figures(snapshot: ProgressSnapshot, since_edge: float, width: int) -> Text:
    """Return the figures of a search that fit, with the answer to whether it may stop in colour: green where it may."""
    chance = snapshot.next_run_max
    # Time, runs, steps, edges, checkpoints, failures, speed: the first line has the time as well.
    parts = list(zip(progress_figures(snapshot), (7, 3, 5, 2, 6, 0, 4), strict=True))
    styles = {parts[5][0]: "bold red" if snapshot.failures else ""}
    if snapshot.unique_edges:
        parts.append((f"last new edge {since_edge:.0f} s ago", 8))
    if chance is not None:
        may_stop = ", may stop" if chance < SATURATED else ""
        parts.append((f"next new edge \u2264 {percent(chance)}{may_stop}", 1))
        styles[parts[-1][0]] = "green" if may_stop else "yellow" if chance < 10 * SATURATED else "default"
    return Text(" ").join(Text(text, style=styles.get(text, "")) for text in _fitting(parts, width, gap=1))


def clock(seconds: float) -> str:
    """Return seconds as minutes and seconds, with hours where there are any."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
