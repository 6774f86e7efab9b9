"""What all workers of an exploration know together. Every merge is a union, a sum or a maximum."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ordeal import _native
from ordeal._engine.execution.settings import Tally
from ordeal._engine.isolation.channel import ChannelError
from ordeal._engine.parallel.messages import EarlierProcesses, Report, empty_report
from ordeal._engine.properties.tracker import Tallies, tallies_of
from ordeal._engine.properties.watch import PropertyWatch
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.search.fault_uses import Counts, add_counts
from ordeal._engine.search.result_builder import Totals
from ordeal._engine.storage.state_file import Header
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.records import FindingRecords
from ordeal.errors import PropertyError
from ordeal.result import Discovery, Note, NoteKind, Notes, SnapshotKind

#: What a worker notes is text for people: this much of it is read.
NOTES_MAX = 100


class MergedProgress:
    """Grows with what workers tell. ``reports`` are those of processes that have ended, and of the ones that go on."""

    def __init__(self, names: _native.MachineNames) -> None:
        self.edges: set[int] = set()
        self.unreported: set[int] = set()  # those of them of which nobody knows how to come there
        self.findings: dict[str, Finding] = {}
        self.notes = Notes()
        self.idle_workers = 0  # that had the time for a run, and came to the end of none
        self.names = names
        self._records = FindingRecords(names)
        self._earlier: dict[int, EarlierProcesses] = {}  # by worker: the processes that have ended may be very many
        self._resumed = empty_report()  # by workers of another number, in what was resumed
        self._running: dict[int, Report] = {}
        self._productive: list[tuple[Provenance, _native.Tape]] = []
        self._coverage = _native.CoverageMap()

    # -- what workers tell --------------------------------------------------------------------------------------------

    def report(self, worker: int, report: Report) -> None:
        """How far the process of ``worker`` has come since it began."""
        self._running[worker] = report

    def end_report(self, worker: int, runs: int, steps: int, bucket: str) -> None:
        """The process of ``worker`` has ended in its run ``runs``, which is one of ``bucket``, if of any.

        What it told last stays, and another one begins from zero.
        """
        report = self._running.pop(worker, None) or empty_report()
        report.tally["runs"] = max(runs, report.tally.get("runs", 0))
        report.tally["steps"] = max(steps, report.tally.get("steps", 0))
        if bucket:
            report.counts[bucket] = report.counts.get(bucket, 0) + 1
        self.add_earlier(worker, EarlierProcesses(processes=1, report=report))

    def add_earlier(self, worker: int, earlier: EarlierProcesses) -> None:
        """More processes of ``worker`` have ended, now or in the exploration that this one goes on with."""
        before = self._earlier.setdefault(worker, EarlierProcesses())
        before.processes += earlier.processes
        self._add_report(before.report, earlier.report)
        if earlier.resumed is not None:
            self._add_report(self._resumed, earlier.resumed)
        self.add_unreported(earlier.unreported)

    def add_resumed(self, earlier: EarlierProcesses) -> None:
        """Processes of workers of another number, of which none has a place here, had ended."""
        for report in filter(None, (earlier.report, earlier.resumed)):
            self._add_report(self._resumed, report)
        self.add_unreported(earlier.unreported)

    def add_edges(self, edges: Iterable[int]) -> None:
        """Edges that somebody told of, who knows or hears how to come there."""
        self.edges.update(edges)
        self.unreported.difference_update(edges)

    def add_unreported(self, edges: Iterable[int]) -> None:
        """Edges that a process has seen, and ended before it told how it came there."""
        self.unreported.update(edges)
        self.edges.update(edges)

    def _add_report(self, total: Report, report: Report) -> None:
        try:
            add_report(total, report)
        except PropertyError as error:
            self._note_uncounted(error)

    def earlier(self, worker: int) -> EarlierProcesses:
        """What is counted of the processes of ``worker`` that have ended."""
        return self._earlier.get(worker, EarlierProcesses())

    def earlier_to_save(self, worker: int) -> EarlierProcesses:
        """The same for a state, where the first worker has what is of no worker too."""
        earlier = self.earlier(worker)
        if worker:
            return earlier
        resumed = self._resumed if self._resumed.tally else None
        return EarlierProcesses(
            processes=earlier.processes, report=earlier.report, resumed=resumed, unreported=sorted(self.unreported)
        )

    @property
    def resumed_runs(self) -> int:
        """How many runs workers of another number had made."""
        return max(0, self._resumed.tally.get("runs", 0))

    def add_replayed_seed(self, finding: Finding) -> None:
        """A finding that a saved seed shows; one that is known already is known by the seed as well."""
        self.add_finding(finding)
        known = self.findings[finding.bucket]
        known.seed = known.seed or finding.seed

    def add_finding(self, finding: Finding) -> bool:
        """A finding, unless one of its bucket is known. Whether it is new.

        Of two that of the earlier run stays, whichever was told first: so the clock does not decide what is reported.
        """
        known = self.findings.setdefault(finding.bucket, finding)
        if finding.origin.run_id < known.origin.run_id:
            known.tape, known.origin, known.error = finding.tape, finding.origin, finding.error
            known.error_traceback = finding.error_traceback
        return known is finding

    def add_part(
        self, header: Header, loaded: _native.LoadedState, number_of: Callable[[int], int] | None = None
    ) -> None:
        """What a worker knew in the end. ``number_of`` gives its runs their numbers among those of all.

        Without it, nobody goes on from there, so that it is all there is of that worker.
        """
        loaded.merge_coverage(self._coverage)
        tapes = loaded.tapes
        if len(tapes) != len(header.findings) + len(header.productive):
            raise ChannelError(f"{len(tapes)} tapes for {len(header.findings)} findings")
        for saved, tape in zip(header.productive, tapes[len(header.findings) :], strict=True):
            if tape is not None:
                origin = self._records.origin(saved)
                if number_of is not None:
                    origin = dataclasses.replace(origin, run_id=number_of(origin.run_id))
                self._productive.append((origin, tape))
        if number_of is not None:
            return
        self.add_findings(header, loaded)
        self._add_report(self._resumed, _report_of(header))
        self.edges.update(self._coverage.keys())

    def add_findings(self, header: Header, loaded: _native.LoadedState) -> None:
        """The findings of a worker. How many runs met them, reports tell."""
        for found, tape in zip(header.findings, loaded.tapes, strict=False):
            if tape is not None:
                finding = self._records.finding(found, tape)
                finding.count = 0
                self.add_finding(finding)

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Something that the user should know, once."""
        self.notes.add(text, kind)

    # -- what is known ------------------------------------------------------------------------------------------------

    @property
    def productive(self) -> Sequence[tuple[Provenance, _native.Tape]]:
        """The runs that reached new code, by worker."""
        return self._productive

    def counts(self) -> Counter[str]:
        """How many runs failed in each bucket."""
        counts: Counter[str] = Counter()
        for report in self._reports():
            counts.update(report.counts)
        return counts

    def tally(self) -> Tally:
        """All figures, and all notes once."""
        tally = Tally()
        for report in self._reports():
            for name in tally.counts():
                setattr(tally, name, getattr(tally, name) + report.tally.get(name, 0))
            for text in report.notes[:NOTES_MAX]:
                tally.note(text)
        for note in self.notes:
            tally.note(note, note.kind if isinstance(note, Note) else NoteKind.OTHER)
        return tally

    def totals(self) -> Totals:
        """What the result says."""
        reports = self._reports()
        lines: dict[str, set[int]] = {}
        swarm: Counter[str] = Counter()
        kinds: dict[str, Counter[str]] = {}
        faults: Counts = {}
        for report in reports:
            add_counts(faults, report.faults)
            swarm.update(report.swarm)
            for what, counted in report.run_kinds.items():
                kinds.setdefault(what, Counter()).update(counted)
            for path, ran in report.lines.items():
                lines.setdefault(path, set()).update(ran)
        tally = self.tally()
        told = sum(kinds["starts"].values()) if "starts" in kinds else 0
        if tally.runs > told:
            # Of the last runs of a process that ended in the middle of one, nobody knows more than their number.
            kinds.setdefault("starts", Counter())["unknown"] = tally.runs - told
        return Totals(
            tally=tally,
            edges=len(self.edges),
            checkpoints=self.checkpoints,
            checkpoints_saved=sum(report.checkpoints_saved for report in reports),
            snapshot_kind=_kind_of(reports),
            swarm=dict(swarm),
            run_kinds={what: dict(counted) for what, counted in kinds.items()},
            discovery=self._discovery(),
            lines={path: sorted(ran) for path, ran in lines.items()},
            idle_workers=self.idle_workers,
            faults=faults,
        )

    def _discovery(self) -> Discovery | None:
        """What is left to find: of a single worker it is what that says, of several it is told of edges only."""
        reports = self._reports()
        if len(reports) == 1 and sum(earlier.processes for earlier in self._earlier.values()) <= 1:
            return Discovery.of(reports[0].discovery, len(self.edges))
        return Discovery.of(self._coverage.species_estimate(), len(self.edges)) if self.edges else None

    @property
    def checkpoints(self) -> int:
        """How many all workers hold now."""
        return sum(report.checkpoints for report in self._running.values())

    def absorb_properties(self, watch: PropertyWatch) -> None:
        """Have ``watch`` count what the runs saw of properties."""
        for report in self._reports():
            try:
                watch.absorb(report.properties)
            except PropertyError as error:
                self._note_uncounted(error)

    def _note_uncounted(self, error: PropertyError) -> None:
        self.note(f"What a worker saw of the properties was not counted: {error}.")

    def _reports(self) -> list[Report]:
        ended = [self._earlier[worker].report for worker in sorted(self._earlier)]
        resumed = [self._resumed] if self._resumed.tally else []
        return [*resumed, *ended, *(self._running[worker] for worker in sorted(self._running))]


def _kind_of(reports: Sequence[Report]) -> SnapshotKind:
    """The kind that most workers came to."""
    kinds = Counter(report.snapshot_kind for report in reports)
    return kinds.most_common(1)[0][0] if kinds else "copy"


def _report_of(header: Header) -> Report:
    lines = {} if header.monitor is None else {file.path: file.lines for file in header.monitor.files}
    report = empty_report()
    report.tally = dict(header.tally)
    report.notes = list(header.notes)
    report.snapshot_kind = header.snapshot_kind
    report.counts = {finding.bucket: finding.count for finding in header.findings}
    report.properties = header.properties
    report.lines = lines
    report.faults = dict(header.faults)
    return report


def add_report(total: Report, report: Report) -> None:
    """Add what ``report`` counts to ``total``, for two processes of which none goes on.

    Raises:
        PropertyError: they do not agree on a property. All else is added then.
    """
    for mine, other in ((total.tally, report.tally), (total.counts, report.counts), (total.swarm, report.swarm)):
        _add(mine, other)
    for what, counted in report.run_kinds.items():
        _add(total.run_kinds.setdefault(what, {}), counted)
    for path, ran in report.lines.items():
        total.lines[path] = sorted({*total.lines.get(path, ()), *ran})
    add_counts(total.faults, report.faults)
    total.notes = list(dict.fromkeys([*total.notes, *report.notes]))[:NOTES_MAX]
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
