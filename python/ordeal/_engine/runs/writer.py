"""Writes what happens in a session into the folder of its run: each event as a line, the status, the result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import msgspec.structs

from ordeal._base.formatting import describe_error
from ordeal._base.limits import ITEMS_MAX, ROWS_MAX, STATUS_SECONDS
from ordeal._engine.runs.events import (
    SCHEMA_VERSION,
    ClassDone,
    ClassStarted,
    Event,
    Finished,
    Found,
    Health,
    NewEdges,
    Progress,
    RunStatus,
    SeedReplayed,
    SessionBegun,
    ShrinkingBegun,
    Shrunk,
    StatusFinding,
    plain,
    short,
)
from ordeal._engine.runs.folder import EVENTS, RESULT, RUNS_PATH, STATUS, make_folder, prune
from ordeal._native import monotonic
from ordeal.result import ExplorationResult, ProgressSnapshot, ShrinkSnapshot
from ordeal.result.failure import trace_steps

#: How much later, as a share of the time so far, the next event of new code may come: the beginning brings most.
EDGES_SHARE = 0.02
#: Once this many bytes are written, an event is dropped unless it is one of the last.
BYTES_MAX = 16 * 2**20
_NO_FIGURES = ProgressSnapshot(0.0, 0, 0, 0, 0, 0, 0.0)


class RunWriter:
    """Writes one run. Nothing of it may end or slow the search: the first thing that goes wrong ends the writing.

    Attributes:
        folder: the folder of the run, or None where none can be written.
        trouble: why nothing more is written; empty while all is well.
    """

    def __init__(self, *, runs: Path = Path(RUNS_PATH), keep: int = 20) -> None:
        self.folder: Path | None = None
        self.trouble = ""
        self._began = monotonic()
        self._started = datetime.now(UTC).isoformat(timespec="seconds")
        self._events = -1
        self._written = 0
        self._encode = msgspec.json.Encoder().encode
        self._progress_due = self._edges_due = 0.0
        self._edges = self._told = 0
        self._shrinking: set[int] = set()
        self._class = ""
        self._classes: list[str] = []
        self._classes_done = 0
        self._earlier: list[StatusFinding] = []  # of the classes before
        self._findings: list[StatusFinding] = []
        self._latest = _NO_FIGURES
        if keep <= 0:
            return
        try:
            # The program under test may change the working folder.
            folder = make_folder(runs.resolve())
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
            self._events = os.open(folder / EVENTS, flags, 0o666)
        except OSError as error:
            self.trouble = f"{runs} cannot be written: {error.strerror or error}"
            return
        self.folder = folder
        prune(folder.parent, keep, folder)

    # -- what happens -------------------------------------------------------------------------------------------------

    def begun(self, version: str, classes: Sequence[str], options: Mapping[str, Any]) -> None:
        """Record that the session begins."""
        self._classes = [short(name) for name in classes]
        run_id = "" if self.folder is None else short(self.folder.name)
        self._add(
            SessionBegun(
                elapsed=self._elapsed(),
                schema_version=SCHEMA_VERSION,
                run_id=run_id,
                started=self._started,
                version=version,
                classes=self._classes,
                options={name: plain(value) for name, value in options.items()},
            )
        )
        self._write_status("running")

    def class_started(self, test_class: str) -> None:
        """Record that the search of a class begins."""
        self._class, self._latest = short(test_class), _NO_FIGURES
        self._shrinking.clear()
        self._edges = self._told = 0
        self._add(ClassStarted(elapsed=self._elapsed(), test_class=self._class))

    def progress(self, snapshot: ProgressSnapshot) -> None:
        """Called after each run, or a few times a second: writes what is due."""
        self._latest = snapshot
        for each in snapshot.found[self._told :]:
            error = short(each.error)
            self._findings.append(StatusFinding(id=each.id, test_class=self._class, error=error))
            self._add(
                Found(
                    elapsed=self._elapsed(),
                    id=each.id,
                    bucket=short(each.bucket),
                    error=error,
                    run_id=each.run_id,
                    steps=each.steps,
                )
            )
        self._told = len(snapshot.found)
        now = self._elapsed()
        if snapshot.unique_edges != self._edges and now >= self._edges_due:
            self._edges, self._edges_due = snapshot.unique_edges, now + EDGES_SHARE * max(1.0, now)
            self._add(NewEdges(elapsed=now, runs=snapshot.total_runs, edges=self._edges))
        if now >= self._progress_due:
            self._progress_due = now + STATUS_SECONDS
            self._add(_progress_of(snapshot, now))
            self._write_status("running")

    def shrinking(self, snapshot: ShrinkSnapshot) -> None:
        """Record that shrinking has tried a candidate."""
        if snapshot.number not in self._shrinking:
            self._shrinking.add(snapshot.number)
            self._add(
                ShrinkingBegun(
                    elapsed=self._elapsed(), number=snapshot.number, total=snapshot.total, steps=snapshot.steps_before
                )
            )

    def class_done(self, result: ExplorationResult) -> None:
        """Record that the search of a class is over, and its failures are shrunk."""
        now = self._elapsed()
        self._add(_progress_of(self._latest, now))
        for seed in result.seed_replays:
            self._add(
                SeedReplayed(
                    elapsed=now, name=short(seed.name), status=seed.status.value, message=short(seed.message or "")
                )
            )
        for failure in result.failures:
            self._add(
                Shrunk(
                    elapsed=now,
                    id=failure.id,
                    error=short(describe_error(failure.error)),
                    steps=trace_steps(failure) or 0,
                    count=failure.count,
                    flaky=failure.flaky,
                    faults=[short(name) for name in failure.active_faults],
                    place="" if failure.place is None else short(str(failure.place.at)),
                )
            )
        for note in result.notes:
            self._add(Health(elapsed=now, message=short(str(note))))
        self._add(
            ClassDone(
                elapsed=now,
                test_class=self._class,
                stopped_reason=result.stopped_reason,
                runs=result.total_runs,
                steps=result.total_steps,
                edges=result.unique_edges,
                findings=len(result.failures),
            )
        )
        self._classes_done += 1
        # Shrinking may have joined some of what was found.
        self._findings = []
        self._earlier += [
            StatusFinding(id=each.id, test_class=self._class, error=short(describe_error(each.error)))
            for each in result.failures
        ]
        self._write_status("running")

    def finished(self, document: str, exit_code: int, *, interrupted: bool) -> None:
        """Write the result of the session, ``document``, and close."""
        if self.folder is not None and not self.trouble:
            self._replace(RESULT, document.encode("utf-8", "backslashreplace"))
        self._add(Finished(elapsed=self._elapsed(), findings=len(self._earlier), exit_code=exit_code), last=True)
        self._write_status("interrupted" if interrupted else "finished", exit_code)
        self.close()

    def close(self) -> None:
        """Write no more."""
        if self._events >= 0:
            with suppress(OSError):
                os.close(self._events)
            self._events = -1

    # -- files --------------------------------------------------------------------------------------------------------

    def _elapsed(self) -> float:
        return round(monotonic() - self._began, 3)

    def _add(self, event: Event, *, last: bool = False) -> None:
        if self._events < 0 or (self._written > BYTES_MAX and not last):
            return
        line = self._encode(event) + b"\n"
        self._written += len(line)
        try:
            # One call: a process that is killed leaves whole lines, but for the last one of a disk that was full.
            done = os.write(self._events, line)
        except OSError as error:
            self._give_up(error)
            return
        if done != len(line):
            self._give_up(OSError("no space is left"))

    def _write_status(self, state: Any, exit_code: int | None = None) -> None:
        if self.folder is None or self.trouble:
            return
        latest, findings = self._latest, [*self._earlier, *self._findings]
        figures = msgspec.structs.asdict(_progress_of(latest, self._elapsed()))
        del figures["findings"]
        status = RunStatus(
            schema_version=SCHEMA_VERSION,
            run_id=self.folder.name,
            state=state,
            started=self._started,
            pid=os.getpid(),
            test_class=self._class,
            classes=self._classes,
            classes_done=self._classes_done,
            **figures,
            findings=findings[:ITEMS_MAX],
            findings_total=len(findings),
            exit_code=exit_code,
            workers=list(latest.workers[:ROWS_MAX]),
        )
        self._replace(STATUS, self._encode(status))

    def _replace(self, name: str, data: bytes) -> None:
        """Write a file completely or not at all; unlike a trace, it may be lost with the host."""
        assert self.folder is not None
        path = self.folder / name
        partial = path.with_name(f".{name}.tmp")
        try:
            partial.write_bytes(data)
            partial.replace(path)
        except OSError as error:
            self._give_up(error)
            with suppress(OSError):
                partial.unlink(missing_ok=True)

    def _give_up(self, error: OSError) -> None:
        place = RUNS_PATH if self.folder is None else self.folder
        self.trouble = self.trouble or f"{place} cannot be written: {error.strerror or error}"
        self.close()


def _progress_of(snapshot: ProgressSnapshot, elapsed: float) -> Progress:
    return Progress(
        elapsed=elapsed,
        runs=snapshot.total_runs,
        steps=snapshot.total_steps,
        edges=snapshot.unique_edges,
        checkpoints=snapshot.checkpoints,
        findings=snapshot.failures,
        runs_per_second=round(snapshot.runs_per_second, 1),
        lines=snapshot.lines,
        next_run_max=snapshot.next_run_max,
    )
