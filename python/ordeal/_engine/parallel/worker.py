"""A worker: an exploration in a process of its own, which exchanges with a supervisor what it and others discover."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from typing import Protocol
from unittest import SkipTest

from hypothesis.errors import InvalidDefinition

from ordeal import _native
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import machine_names
from ordeal._engine.execution.settings import Settings
from ordeal._engine.formatting import describe_error
from ordeal._engine.isolation.channel import Channel, ChannelError
from ordeal._engine.parallel.messages import (
    DONE,
    ERROR,
    FAILED,
    FOUND,
    FROM_OTHERS,
    PART,
    UPDATE,
    Broken,
    Ended,
    Report,
    pack_keys,
    unpack_keys,
)
from ordeal._engine.search.search import Search
from ordeal._engine.search.state import PERIOD_SECONDS, writable_snapshot
from ordeal._engine.storage.state_file import split_part
from ordeal._engine.triage.findings import Finding, Verdict
from ordeal._engine.triage.messages import pack, pack_finding
from ordeal._engine.triage.records import writable_text
from ordeal._hypothesis import skip_types
from ordeal._native import monotonic
from ordeal.errors import MachineError, OrdealError
from ordeal.result import StoppedReason

#: How often workers exchange updates where the clock decides, in seconds.
EXCHANGE_SECONDS = 0.25
#: How soon after an exchange the next one may come when there are finds: until the others know of a state, they search
#: for it too. And how much of the time may go into that, as one part of so many.
SOON_SECONDS = 0.01
SOON_SHARE = 20
#: Where the clock must not decide: after so many runs, and when there are very many, each time that they have become so
#: much more. What one has found the others hear a round later: a search that is deep loses that at each of its stages.
EXCHANGE_RUNS = 64
EXCHANGE_SHARE = 128
#: How often a worker reports how far it has come, which takes longer than all else that it sends. In seconds.
REPORT_SECONDS = 0.2


#: Stands for the file of a state that the supervisor has read.
RESUMED = Path("that was resumed")


class Schedule(Protocol):
    """When a worker sends its updates."""

    def is_due(self, runs: int, has_entries: Callable[[], bool]) -> bool:
        """Whether it is to tell them now, after so many runs. Asked before each run."""

    def exchanged(self, seconds: float) -> None:
        """It has, and that took so long."""


class ByRuns:
    """After numbers of runs that are the same each time, whatever the clock says. ``before`` had been made already."""

    def __init__(self, before: int = 0) -> None:
        self._before = before
        self._next = EXCHANGE_RUNS
        while self._next <= before:
            self._advance()

    def is_due(self, runs: int, has_entries: Callable[[], bool]) -> bool:
        """Whether the round is over."""
        del has_entries
        if self._before + runs < self._next:
            return False
        self._advance()
        return True

    def exchanged(self, seconds: float) -> None:
        """See ``Schedule``. What it took must not matter."""

    def _advance(self) -> None:
        self._next += max(EXCHANGE_RUNS, self._next // EXCHANGE_SHARE)


class ByClock:
    """Several times a second, and much sooner when somebody has found something."""

    def __init__(self) -> None:
        self._next = monotonic() + EXCHANGE_SECONDS
        self._look = 0.0  # when to ask for entries next, which costs more than to look at the clock

    def is_due(self, runs: int, has_entries: Callable[[], bool]) -> bool:
        """Whether it is time."""
        del runs
        now = monotonic()
        if now < self._look:
            return False
        self._look = now + SOON_SECONDS
        return now >= self._next or has_entries()

    def exchanged(self, seconds: float) -> None:
        """See ``Schedule``."""
        now = monotonic()
        self._next = now + EXCHANGE_SECONDS
        self._look = now + min(max(SOON_SECONDS, SOON_SHARE * seconds), EXCHANGE_SECONDS)


class SharedCounters:
    """Memory that the supervisor and its ``workers`` see.

    It says whether all are to end, and of the process of each worker how many runs it has begun, the steps of those
    before the last, whether there are finds for it, and whether it copies a state.
    """

    def __init__(self, workers: int) -> None:
        self._cells = memoryview(mmap(-1, 8 * (4 * workers + 1))).cast("Q")
        self.runs = self._cells[1 : workers + 1]
        self.steps = self._cells[workers + 1 : 2 * workers + 1]
        self.entries = self._cells[2 * workers + 1 : 3 * workers + 1]
        self.copying = self._cells[3 * workers + 1 :]

    @property
    def stop(self) -> bool:
        """Whether all are to end."""
        return bool(self._cells[0])

    @stop.setter
    def stop(self, stop: bool) -> None:
        self._cells[0] = stop


@dataclass(frozen=True, slots=True)
class WorkerJob:
    """The job of one worker in an exploration.

    ``settings`` are those of the worker: its own seed, its share of the runs, and the time that is left. ``edges``,
    ``entries`` and ``known`` are what was found before it began. It ``hurries`` to send entries where others want them.
    What it sees goes into ``shared``, and what is there already is no news to it when it ``listens``. What it knows it
    says at times when that ``saves`` a state, and before all else when nobody has said it (``saves_first``).
    """

    settings: Settings
    driver: Driver
    targets: list[Target]
    schedule: Schedule
    counters: SharedCounters
    number: int
    shared: _native.SharedEdges
    listens: bool = False
    hurries: bool = False
    edges: Sequence[int] = ()
    entries: Sequence[_native.SharedEntry] = ()
    known: Sequence[Finding] = ()
    state: bytes = b""
    saves: bool = False
    saves_first: bool = False


#: So much of what a worker failed with is told.
TRACEBACK_CHARS_MAX = 10_000


def work(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
    """Explore, in a forked process, until there are no more runs to make. An error that ends all is told."""
    job.driver.journal = journal
    job.driver.isolated = True
    try:
        _Worker(job, channel).search()
    except OrdealError as error:
        channel.send(ERROR, pack(Broken(kind=type(error).__name__, message=error.message, hint=error.hint or "")))
    except InvalidDefinition as error:
        channel.send(ERROR, pack(Broken(kind=MachineError.__name__, message=str(error))))
    except skip_types() as error:
        channel.send(ERROR, pack(Broken(kind=SkipTest.__name__, message=str(error))))
    except ChannelError:
        raise
    except BaseException as error:  # noqa: BLE001 - what code of the user's has left behind may raise anything
        channel.send(FAILED, describe_error(error), traceback_text(error)[-TRACEBACK_CHARS_MAX:])


class _Worker:
    """Has a search made in its process, and stops it between two runs to send and to receive."""

    def __init__(self, job: WorkerJob, channel: Channel) -> None:
        self._search = Search(job.settings, job.driver, job.targets, cuts_off=True)
        self._job = job
        self._channel = channel
        self._names = machine_names(job.driver)
        self._reported_edges: set[int] = set()
        self._reported_checkpoints = 0
        self._report_due = 0.0
        self._save_due = 0.0 if job.saves_first else monotonic() + PERIOD_SECONDS
        self._unconfirmed: Finding | None = None
        self._search.checkpoints.mark_copying = self._mark_copying

    def _mark_copying(self, copying: bool) -> None:
        self._job.counters.copying[self._job.number] = copying

    def search(self) -> None:
        """Make runs, and tell in the end what is known."""
        search = self._search
        with search.prepared():
            reason = search.run(self)
            self._channel.send(DONE, pack(Ended(reason=reason)), *self._update(last=True), self._state())

    def _state(self) -> bytes:
        """What it knows, as a part of a state."""
        return self._search.session_state.part(self._search.progress, self._search.monitoring.monitor)

    # -- the search ---------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """See ``SearchListener``. Saved seeds were replayed before: what fails is known."""
        search, job = self._search, self._job
        search.findings.restore(job.known, {})
        if job.state:
            # After what is known of others: of its own it knows how many runs met it.
            search.session_state.load_part(RESUMED, split_part(job.state), search.progress, search.monitoring.monitor)
        self._take(job.edges, job.entries)
        search.coverage.share(job.shared, listens=job.listens)

    def between_runs(self) -> StoppedReason | None:
        """See ``SearchListener``."""
        counters, number, tally = self._job.counters, self._job.number, self._search.tally
        counters.runs[number], counters.steps[number] = tally.runs + 1, tally.steps
        if counters.stop:
            return "interrupted"
        if self._job.schedule.is_due(tally.runs, self._has_entries):
            self._exchange()
        if self._job.saves and monotonic() >= self._save_due:
            self._save_due = monotonic() + PERIOD_SECONDS
            self._channel.send(PART, self._state())
        return None

    def run_made(self) -> None:
        """See ``SearchListener``: it tells of that at times of its own."""

    def failing(self, finding: Finding) -> None:
        """See ``SearchListener``."""
        self._unconfirmed = finding

    def checked(self, finding: Finding, verdict: Verdict) -> None:
        """See ``SearchListener``: others need not find it again."""
        self._unconfirmed = None
        if verdict in (Verdict.CONFIRMED, Verdict.FLAKY):
            self._report_finding(finding)

    def cut_off(self) -> None:
        """See ``SearchListener``: what could not be confirmed in time is told all the same."""
        if self._unconfirmed is not None:
            self._report_finding(self._unconfirmed)

    # -- others -------------------------------------------------------------------------------------------------------

    def _has_entries(self) -> bool:
        """Whether there are entries to send or to receive, which are for somebody."""
        job = self._job
        return job.hurries and (
            bool(job.counters.entries[job.number])
            or self._search.session.checkpoints_saved != self._reported_checkpoints
        )

    def _exchange(self) -> None:
        started = monotonic()
        self._channel.send(UPDATE, *self._update())
        self._listen()
        self._job.schedule.exchanged(monotonic() - started)

    def _listen(self) -> None:
        kind, edges, *entries = self._channel.receive()
        if kind != FROM_OTHERS or not all(isinstance(each, bytes) for each in entries):
            raise ChannelError(f"{kind!r} is not what others have found")
        loaded = [entry for each in entries for entry in _native.decode_entries(each, self._names)[0]]  # type: ignore[arg-type]
        self._take(unpack_keys(edges), loaded)

    def _take(self, edges: Sequence[int], entries: Sequence[_native.SharedEntry]) -> None:
        # Finds first: what leads somewhere new is worth having only as long as it is new.
        for entry in entries:
            _, evicted = self._search.session.import_entry(entry)
            if evicted is not None:
                self._search.checkpoints.forget(evicted)
            self._reported_edges.update(entry.edges)
        for key in edges:
            self._search.coverage.import_edge(key)
        self._reported_edges.update(edges)

    def _update(self, *, last: bool = False) -> tuple[bytes, bytes, bytes]:
        """How far it has come, and the edges and the entries since it was asked last."""
        coverage, session = self._search.coverage, self._search.session
        edges: set[int] = set()
        if coverage.edges_seen != len(self._reported_edges):
            edges = set(coverage.keys()) - self._reported_edges
            self._reported_edges |= edges
        entries = session.take_new_entries()
        self._reported_checkpoints = session.checkpoints_saved
        return self._packed_report(last=last), pack_keys(sorted(edges)), _native.encode_entries(self._names, entries)

    def _packed_report(self, *, last: bool) -> bytes:
        """How far it has come, or nothing when it has said so just now."""
        if not last and monotonic() < self._report_due:
            return b""
        self._report_due = monotonic() + REPORT_SECONDS
        return pack(self._report())

    def _report(self) -> Report:
        search = self._search
        totals = search.totals()
        return Report(
            tally=search.tally.counts(),
            notes=[str(note) for note in search.tally.notes],
            snapshot_kind=totals.snapshot_kind,
            checkpoints=totals.checkpoints,
            checkpoints_saved=totals.checkpoints_saved,
            swarm=totals.swarm,
            run_kinds=totals.run_kinds,
            counts={finding.bucket: finding.count for finding in search.findings.all()},
            properties=writable_snapshot(search.watch.snapshot()),
            lines=totals.lines,
            discovery=search.session.species_estimate(),
            faults={writable_text(name): counts for name, counts in totals.faults.items()},
        )

    def _report_finding(self, finding: Finding) -> None:
        self._channel.send(FOUND, *pack_finding(finding, self._names))


def share_of_runs(max_runs: int | None, made: int, workers: int, number: int) -> int | None:
    """How many of ``max_runs`` runs, of which so many are ``made``, are those of worker ``number``."""
    if max_runs is None:
        return None
    each, rest = divmod(max(0, max_runs - made), workers)
    return each + (number < rest)


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """Which process this is: of which ``member`` of a store, of which worker there, and how many that had before."""

    member: int
    number: int
    restart_count: int

    def seed_of(self, seed: int) -> int:
        """That of the exploration for the first of all, and for each other one derived from it."""
        if not (self.member or self.number or self.restart_count):
            return seed
        return _native.derived_seed(seed, f"worker {self.member} {self.number} {self.restart_count}")


def settings_of(
    settings: Settings, identity: ProcessIdentity, seed: int | None, runs: int | None, seconds: float
) -> Settings:
    """The settings of one worker. It goes on with ``seed``, if it has one already."""
    if seed is None:
        seed = identity.seed_of(settings.seed)
    return dataclasses.replace(
        settings,
        session_seed=seed,
        max_runs=runs,
        max_time=seconds,
        shrink=False,
        confirm_fresh=False,
        progress=None,
        shrink_progress=None,
        save_state_to=None,
        resume_from=None,
        corpus_dir=None,
    )
