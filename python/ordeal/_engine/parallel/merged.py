"""Merges what all workers of an exploration know. Every merge is a union, a sum or a maximum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
import msgspec.structs

import ordeal._native as _native
from ordeal._base.limits import ITEMS_MAX
from ordeal._base.property_tracker import Tallies, tallies_of
from ordeal._engine.execution.settings import Tally
from ordeal._engine.isolation.channel import ChannelError
from ordeal._engine.parallel.messages import EarlierProcesses
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.search.result_builder import Properties, SearchReport, Totals
from ordeal._engine.search.uses import add_counts
from ordeal._engine.storage.state_file import Header, Provenance
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.messages import finding_of
from ordeal.errors import PropertyError
from ordeal.result import Note, NoteKind, Notes, WorkerProgress


class MergedProgress:
    """Grows with the workers' messages. ``reports`` has those of ended processes and of running ones."""

    def __init__(self, names: _native.MachineNames) -> None:
        self.edges: set[int] = set()
        self.unreported: set[int] = set()  # those that no process knows how to reach
        self.findings: dict[str, Finding] = {}
        self.notes = Notes()
        self.idle_workers = 0  # that had time for a run, but finished none
        self.unjudged = ""  # why a worker could not judge one of its runs
        self.names = names
        self._earlier: dict[int, EarlierProcesses] = {}  # by worker: ended processes may be very many
        self._resumed = SearchReport()  # by workers of a resumed state of another number of workers
        self._running: dict[int, SearchReport] = {}
        self._productive: list[tuple[Provenance, _native.Tape]] = []
        self._coverage = _native.CoverageMap()

    # -- what workers report ------------------------------------------------------------------------------------------

    def report(self, worker: int, report: SearchReport) -> None:
        """Set the progress of the current process of ``worker``."""
        self._running[worker] = report

    def end_report(self, worker: int, runs: int, steps: int, bucket: str) -> None:
        """Note the end of the process of ``worker``, in its run ``runs``, which failed in ``bucket``, if not empty.

        Its last report stays, and its successor starts from zero.
        """
        report = self._running.pop(worker, None) or SearchReport()
        report.tally["runs"] = max(runs, report.tally.get("runs", 0))
        report.tally["steps"] = max(steps, report.tally.get("steps", 0))
        if bucket:
            report.counts[bucket] = report.counts.get(bucket, 0) + 1
        self.add_earlier(worker, EarlierProcesses(processes=1, report=report))

    def add_earlier(self, worker: int, earlier: EarlierProcesses) -> None:
        """Add ended processes of ``worker``, of this exploration or of the one that it resumes."""
        before = self._earlier.setdefault(worker, EarlierProcesses())
        before.processes += earlier.processes
        self._add_report(before.report, earlier.report)
        if earlier.resumed is not None:
            self._add_report(self._resumed, earlier.resumed)
        self.add_unreported(earlier.unreported)

    def add_resumed(self, earlier: EarlierProcesses) -> None:
        """Add ended processes of a resumed state with another number of workers: none of them has a place here."""
        for report in filter(None, (earlier.report, earlier.resumed)):
            self._add_report(self._resumed, report)
        self.add_unreported(earlier.unreported)

    def add_edges(self, edges: Iterable[int]) -> None:
        """Add edges that some process reported, and so knows how to reach."""
        self.edges.update(edges)
        self.unreported.difference_update(edges)

    def add_unreported(self, edges: Iterable[int]) -> None:
        """Add edges that a process saw, but ended before it reported how to reach them."""
        self.unreported.update(edges)
        self.edges.update(edges)

    def _add_report(self, total: SearchReport, report: SearchReport) -> None:
        try:
            add_report(total, report)
        except PropertyError as error:
            self._note_uncounted(error)

    def earlier(self, worker: int) -> EarlierProcesses:
        """Return the counts of the ended processes of ``worker``."""
        return self._earlier.get(worker, EarlierProcesses())

    def earlier_to_save(self, worker: int) -> EarlierProcesses:
        """Return the same for a state, where the first worker also takes the counts that belong to no worker."""
        earlier = self.earlier(worker)
        if worker:
            return earlier
        resumed = self._resumed if self._resumed.tally else None
        return EarlierProcesses(
            processes=earlier.processes, report=earlier.report, resumed=resumed, unreported=sorted(self.unreported)
        )

    @property
    def resumed_runs(self) -> int:
        """Return the number of runs made before by another number of workers."""
        return max(0, self._resumed.tally.get("runs", 0))

    def add_replayed_seed(self, finding: Finding) -> None:
        """Add a finding of a saved seed, or mark a known finding as one that the seed shows."""
        self.add_finding(finding)
        known = self.findings.get(finding.bucket)
        if known is not None:
            known.seed = known.seed or finding.seed

    def add_finding(self, finding: Finding) -> bool:
        """Add a finding unless its bucket is known. Return True for a new finding.

        Of two, the shorter is kept, whichever arrived first: the clock must not decide what is reported.
        """
        known = self.findings.setdefault(finding.bucket, finding)
        known.replace_by(finding)
        return known is finding

    def add_part(
        self, header: Header, loaded: _native.LoadedState, number_of: Callable[[int], int] | None = None
    ) -> None:
        """Merge what a worker knew at its end. ``number_of`` maps its runs to their numbers among all runs.

        Without ``number_of``, no process goes on from there, so this is all that the worker contributes.
        """
        loaded.merge_coverage(self._coverage)
        tapes = loaded.tapes
        if len(tapes) != len(header.findings) + len(header.productive):
            raise ChannelError(f"{len(tapes)} tapes for {len(header.findings)} findings")
        for saved, tape in zip(header.productive, tapes[len(header.findings) :], strict=True):
            if tape is not None:
                run_id = saved.run_id if number_of is None else number_of(saved.run_id)
                self._productive.append((msgspec.structs.replace(saved, run_id=run_id), tape))
        if number_of is not None:
            return
        self.add_findings(header, loaded)
        report = SearchReport(
            tally=dict(header.tally),
            notes=list(header.notes),
            snapshot_kind=header.snapshot_kind,
            counts={finding.bucket: finding.count for finding in header.findings},
            properties=header.properties,
            lines={} if header.monitor is None else {file.path: file.lines for file in header.monitor.files},
            faults=dict(header.faults),
            rules=dict(header.rules),
        )
        self._add_report(self._resumed, report)
        self.edges.update(self._coverage.keys())

    def add_findings(self, header: Header, loaded: _native.LoadedState) -> None:
        """Add the findings of a worker. Its reports say how many runs met them."""
        for found, tape in zip(header.findings, loaded.tapes, strict=False):
            if tape is not None:
                finding = finding_of(found, tape)
                finding.count = 0
                self.add_finding(finding)

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Add a note for the user, once."""
        self.notes.add(text, kind)

    # -- what is known ------------------------------------------------------------------------------------------------

    @property
    def productive(self) -> Sequence[tuple[Provenance, _native.Tape]]:
        """Return the runs that reached new code, by worker."""
        return self._productive

    def counts(self) -> Counter[str]:
        """Return how many runs failed in each bucket."""
        counts: Counter[str] = Counter()
        for report in self._reports():
            counts.update(report.counts)
        return counts

    def tally(self) -> Tally:
        """Return the sum of all reports, with each note once."""
        tally = Tally()
        for report in self._reports():
            for name in tally.counts():
                setattr(tally, name, getattr(tally, name) + report.tally.get(name, 0))
            for text in report.notes[:ITEMS_MAX]:
                tally.note(text)
        for note in self.notes:
            tally.note(note, note.kind if isinstance(note, Note) else NoteKind.OTHER)
        return tally

    def by_worker(self, workers: int) -> tuple[WorkerProgress, ...]:
        """Return what each worker has done, by its number."""
        done = []
        for worker in range(workers):
            earlier = self.earlier(worker)
            tallies = earlier.report.tally, self._running.get(worker, SearchReport()).tally
            runs, steps = (sum(tally.get(what, 0) for tally in tallies) for what in ("runs", "steps"))
            done.append(WorkerProgress(max(0, runs), max(0, steps), earlier.processes))
        return tuple(done)

    def totals(self) -> Totals:
        """Return the figures of the result."""
        reports, total, tally = self._reports(), SearchReport(), self.tally()
        for report in reports:
            add_report(total, msgspec.structs.replace(report, properties={}))  # these are counted elsewhere
        starts = total.run_kinds.setdefault("starts", {})
        known = sum(starts.values())
        if tally.runs > known:
            # If a process ended in the middle of a run, only the number of its last runs is known.
            starts["unknown"] = tally.runs - known
        # What is left to find: a single worker's own estimate, or one from the edges of several.
        is_single = len(reports) == 1 and sum(earlier.processes for earlier in self._earlier.values()) <= 1
        total.discovery = (
            reports[0].discovery if is_single else self._coverage.species_estimate() if self.edges else None
        )
        total.run_kinds = {what: counted for what, counted in total.run_kinds.items() if counted}
        total.checkpoints = self.checkpoints
        if kinds := Counter(report.snapshot_kind for report in reports).most_common(1):
            total.snapshot_kind = kinds[0][0]
        return Totals(
            tally=tally, report=total, edges=len(self.edges), idle_workers=self.idle_workers, unjudged=self.unjudged
        )

    def lines_run(self) -> int:
        """Return how many lines of the targets ran."""
        lines: dict[str, set[int]] = {}
        for report in self._reports():
            for path, ran in report.lines.items():
                lines.setdefault(path, set()).update(ran)
        return sum(map(len, lines.values()))

    def next_run_max(self) -> float | None:
        """Return a bound of the probability that a run shows something new: that of the worker who expects most."""
        estimates = [report.discovery for report in self._running.values()]
        known = [each[3] for each in estimates if each is not None]
        return max(known) if known and len(known) == len(estimates) else None

    @property
    def checkpoints(self) -> int:
        """Return the number of checkpoints that all workers hold now."""
        return sum(report.checkpoints for report in self._running.values())

    def absorb_properties(self, watch: PropertyWatch, number_of: Callable[[int, int], int]) -> None:
        """Have ``watch`` count what the runs observed of properties. ``number_of`` numbers the runs of a worker."""
        seen = [self._resumed.properties]
        for worker, earlier in sorted(self._earlier.items()):
            seen.append(_numbered(earlier.report, worker, -earlier.runs, number_of))
        seen += [_numbered(report, worker, 0, number_of) for worker, report in sorted(self._running.items())]
        for properties in seen:
            try:
                watch.absorb(properties)
            except PropertyError as error:
                self._note_uncounted(error)

    def _note_uncounted(self, error: PropertyError) -> None:
        self.note(f"The properties that a worker saw were not counted: {error}.")

    def _reports(self) -> list[SearchReport]:
        ended = [self._earlier[worker].report for worker in sorted(self._earlier)]
        resumed = [self._resumed] if self._resumed.tally else []
        return [*resumed, *ended, *(self._running[worker] for worker in sorted(self._running))]


def _numbered(report: SearchReport, worker: int, begins: int, number_of: Callable[[int, int], int]) -> Properties:
    """Return the properties of a report with the runs of a worker numbered among those of all.

    Its run 1 is the first after the processes that the worker had before, or after ``begins`` more of its runs.
    """
    return {
        part: [
            row | {"first_run": max(1, number_of(worker, run + begins))}
            if isinstance(run := row.get("first_run"), int)
            else row
            for row in rows
        ]
        for part, rows in report.properties.items()
    }


def add_report(total: SearchReport, report: SearchReport) -> None:
    """Add the counts of ``report`` to ``total``, for two processes that have both ended.

    Raises:
        PropertyError: they disagree on a property. Everything else has been added then.
    """
    for mine, other in ((total.tally, report.tally), (total.counts, report.counts), (total.swarm, report.swarm)):
        _add(mine, other)
    for what, counted in report.run_kinds.items():
        _add(total.run_kinds.setdefault(what, {}), counted)
    for path, ran in report.lines.items():
        total.lines[path] = sorted({*total.lines.get(path, ()), *ran})
    add_counts(total.faults, report.faults)
    add_counts(total.rules, report.rules)
    total.notes = list(dict.fromkeys([*total.notes, *report.notes]))[:ITEMS_MAX]
    total.checkpoints_saved += report.checkpoints_saved
    total.snapshot_kind = report.snapshot_kind
    total.discovery = None
    if any(report.properties.values()):
        seen = tallies_of(total.properties) if any(total.properties.values()) else Tallies()
        seen.add(tallies_of(report.properties))
        total.properties = seen.snapshot()


def _add(total: dict[str, int], counts: Mapping[str, int]) -> None:
    for name, count in counts.items():
        total[name] = total.get(name, 0) + count
