"""A worker: an exploration in its own process, which exchanges discoveries with the others through the supervisor."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from mmap import mmap
from pathlib import Path
from unittest import SkipTest

import msgspec
from hypothesis.errors import InvalidDefinition

import ordeal._native as _native
from ordeal._base.formatting import describe_error
from ordeal._base.limits import REPORT_SECONDS
from ordeal._base.outside import outside
from ordeal._base.untrusted import error_message
from ordeal._engine.coverage.targets import Target
from ordeal._engine.execution.driver import Driver
from ordeal._engine.execution.machine import machine_names
from ordeal._engine.execution.settings import Settings
from ordeal._engine.isolation.channel import Channel, ChannelError
from ordeal._engine.isolation.outside_use import OutsideUse
from ordeal._engine.parallel.messages import (
    DONE,
    ERROR,
    FAILED,
    FOUND,
    FROM_OTHERS,
    PART,
    UPDATE,
    USES,
    WARNED,
    WorkerEnd,
    WorkerError,
    pack_keys,
    unpack_keys,
)
from ordeal._engine.search.intake import SearchListener
from ordeal._engine.search.search import Search
from ordeal._engine.search.state import PERIOD_SECONDS
from ordeal._engine.storage.state_file import split_part
from ordeal._engine.triage.findings import Confirmation, Finding
from ordeal._engine.triage.messages import pack, pack_finding
from ordeal._hypothesis.internals import skip_types
from ordeal._native import monotonic
from ordeal.errors import MachineError, OrdealError
from ordeal.result import StoppedReason

#: How often workers exchange updates when the clock decides, in seconds.
EXCHANGE_SECONDS = 0.25
#: How soon after an exchange the next may follow when there are shared entries: until the others know a state, they
#: search for it too. And how small a part of the time exchanges may take.
SOON_SECONDS = 0.01
SOON_SHARE = 20
#: When the clock must not decide: exchange after this many runs, later after one run more for each 128 made. Others
#: receive a discovery one round later, which delays each stage of a deep search.
EXCHANGE_RUNS = 64
EXCHANGE_SHARE = 128

#: Stands for the file of a state that the supervisor has read.
RESUMED = Path("that was resumed")


class ByRuns:
    """Sends after fixed numbers of runs, independent of the clock. ``before`` had been made already."""

    def __init__(self, before: int = 0) -> None:
        self._before = before
        self._next = EXCHANGE_RUNS
        while self.is_due(0, lambda: False):
            pass

    def is_due(self, runs: int, has_entries: Callable[[], bool]) -> bool:
        """Return True if the round is over after this many runs."""
        del has_entries
        if self._before + runs < self._next:
            return False
        self._next += max(EXCHANGE_RUNS, self._next // EXCHANGE_SHARE)
        return True

    def exchanged(self, seconds: float) -> None:
        """Note how long an exchange took, which must not matter here."""


class ByClock:
    """Sends several times a second, and much sooner when there are shared entries."""

    def __init__(self) -> None:
        self._next = monotonic() + EXCHANGE_SECONDS
        self._look = 0.0  # when to ask for entries next: asking costs more than reading the clock

    def is_due(self, runs: int, has_entries: Callable[[], bool]) -> bool:
        """Return True if it is time. Asked before each run."""
        del runs
        now = monotonic()
        if now < self._look:
            return False
        self._look = now + SOON_SECONDS
        return now >= self._next or has_entries()

    def exchanged(self, seconds: float) -> None:
        """Note that an exchange was made, and how long it took."""
        now = monotonic()
        self._next = now + EXCHANGE_SECONDS
        self._look = now + min(max(SOON_SECONDS, SOON_SHARE * seconds), EXCHANGE_SECONDS)


#: Decides when a worker sends its updates.
Schedule = ByRuns | ByClock


class ProcessCounters(ctypes.Structure):
    """What the process of a worker writes for the supervisor to read at any time, and ``entries_wait`` the other way.

    Attributes:
        runs: the runs that it has begun.
        steps: the steps of all of these but the last.
        entries_wait: True while shared entries of others wait for it.
        is_copying: True while it copies a state.
        from_copy: True while it makes a run that began with a copy.
        slowest_run: microseconds of the slowest run that ended well, as far as that is measured.
        set_up: microseconds from its start to its first run.
    """

    runs: int
    steps: int
    entries_wait: int
    is_copying: int
    from_copy: int
    slowest_run: int
    set_up: int
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in ("runs", "steps", "entries_wait", "is_copying", "from_copy", "slowest_run", "set_up")
    ]


class SharedCounters:
    """Memory shared by the supervisor and its ``workers``: whether all should stop, and the counters of each."""

    def __init__(self, workers: int) -> None:
        counters = ProcessCounters * workers
        size = ctypes.sizeof(ctypes.c_uint64)
        memory = mmap(-1, size + ctypes.sizeof(counters))
        self._stop = ctypes.c_uint64.from_buffer(memory)
        self._counters = counters.from_buffer(memory, size)

    def __getitem__(self, worker: int) -> ProcessCounters:
        """Return the counters of a worker."""
        return self._counters[worker]

    def begin_process(self, worker: int) -> None:
        """Set all counters of ``worker`` to zero."""
        self._counters[worker] = ProcessCounters()

    @property
    def stop(self) -> bool:
        """True if all should stop."""
        return bool(self._stop.value)

    @stop.setter
    def stop(self, stop: bool) -> None:
        self._stop.value = stop


class WorkerJob(msgspec.Struct, frozen=True):
    """The job of one process of a worker.

    Attributes:
        settings: the worker's own: its seed, its share of the runs, and the time that is left.
        search_began: when the search began, by monotonic().
        process_began: when this process was started.
        shared_edges: where it writes the edges that it sees.
        takes_shared_edges: others' edges in there do not count as new for it.
        exchanges_early: exchange as soon as there are shared entries.
        is_alone: it is the only worker of this machine, so it need not report what it uses outside.
        edges, entries, findings: what was known before it began.
        suspect: what ended the process before it in a run from a copy, and is to be confirmed from a fresh machine.
        failure_seconds: how long failures of earlier processes took, by the bucket that ended them.
        state: the part of a state to continue from, if any.
        sends_state: send its part of a state from time to time, and before the first run where there is none to
            continue from: the first run may hang.
    """

    settings: Settings
    driver: Driver
    targets: list[Target]
    schedule: Schedule
    counters: SharedCounters
    number: int
    shared_edges: _native.SharedEdges
    search_began: float
    process_began: float
    takes_shared_edges: bool = False
    exchanges_early: bool = False
    is_alone: bool = True
    edges: Sequence[int] = ()
    entries: Sequence[_native.SharedEntry] = ()
    findings: Sequence[Finding] = ()
    suspect: Finding | None = None
    failure_seconds: Mapping[str, float] = msgspec.field(default_factory=dict)
    state: bytes = b""
    sends_state: bool = False


def work(job: WorkerJob, channel: Channel, journal: _native.Journal) -> None:
    """Explore in a forked process until there are no more runs to make. Sends an error that ends the exploration."""
    job.driver.journal = journal
    job.driver.isolated = True
    try:
        _Worker(job, channel).search()
    except OrdealError as error:
        channel.send(ERROR, pack(WorkerError.of(error)))
    except InvalidDefinition as error:
        channel.send(ERROR, pack(WorkerError(kind=MachineError.__name__, message=str(error))))
    except skip_types() as error:
        channel.send(ERROR, pack(WorkerError(kind=SkipTest.__name__, message=error_message(error))))
    except ChannelError:
        raise
    except BaseException as error:  # noqa: BLE001 - what code of the user's has left behind may raise anything
        channel.send(FAILED, describe_error(error))


class _Worker(SearchListener):
    """Drives a search in its process, and sends and receives between runs."""

    def __init__(self, job: WorkerJob, channel: Channel) -> None:
        self._search = Search(job.settings, job.driver, job.targets, cuts_off=True)
        self._job = job
        self._counters = job.counters[job.number]
        self._channel = channel
        self._names = machine_names(job.driver)
        self._reported_edges: set[int] = set()
        self._reported_checkpoints = 0
        self._report_due = 0.0
        self._save_due = monotonic() + PERIOD_SECONDS if job.state else 0.0
        self._unconfirmed: Finding | None = None
        self._uses = OutsideUse()
        self._warnings = 0
        self._search.checkpoints.mark_copying = partial(setattr, self._counters, "is_copying")
        self._search.checkpoints.mark_restored = partial(setattr, self._counters, "from_copy", True)

    def search(self) -> None:
        """Make runs, and send at the end what is known."""
        search = self._search
        with search.prepared():
            reason = search.run(self)
            self._channel.send(
                DONE,
                pack(WorkerEnd(reason=reason, place=search.driver.watchdog.ended_in)),
                *self._update(last=True),
                self._state(),
            )

    def _state(self) -> bytes:
        """Return what it knows, as a part of a state."""
        return self._search.session_state.part(self._search.progress, self._search.monitoring.monitor)

    # -- the search ---------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """See ``SearchListener``. Saved seeds were replayed before, so their failures are known."""
        search, job = self._search, self._job
        search.findings.restore(job.findings, {})
        search.intake.continue_from(job.findings, job.failure_seconds, job.search_began)
        if job.state:
            # After what others know: only the worker's own part says how many runs met its findings.
            search.session_state.load_part(RESUMED, split_part(job.state), search.progress, search.monitoring.monitor)
        self._take(job.edges, job.entries)
        search.coverage.share(job.shared_edges, listens=job.takes_shared_edges)
        if job.suspect is not None:
            search.intake.judge(job.suspect)
        if not job.is_alone:
            self._uses.start()

    def between_runs(self) -> StoppedReason | None:
        """See ``SearchListener``."""
        tally, own = self._search.tally, self._counters
        own.runs, own.steps, own.from_copy = tally.runs + 1, tally.steps, False
        own.slowest_run = int(self._search.driver.limits.slowest_run * 1e6)
        if not own.set_up:
            own.set_up = int((monotonic() - self._job.process_began) * 1e6)
        if uses := self._uses.take():
            self._channel.send(USES, pack(uses))
        while len(outside.warned) > self._warnings:  # at once: a later run may end this process
            self._channel.send(WARNED, list(outside.warned)[self._warnings])
            self._warnings += 1
        if self._job.counters.stop:
            return "interrupted"
        if self._job.schedule.is_due(tally.runs, self._has_entries):
            started = monotonic()
            self._channel.send(UPDATE, *self._update())
            kind, edges, *entries = self._channel.receive()
            if kind != FROM_OTHERS or not all(isinstance(each, bytes) for each in entries):
                raise ChannelError(f"{kind!r} is not what others have found")
            loaded = [entry for each in entries for entry in _native.decode_entries(each, self._names)[0]]  # type: ignore[arg-type]
            self._take(unpack_keys(edges), loaded)
            self._job.schedule.exchanged(monotonic() - started)
        if self._job.sends_state and monotonic() >= self._save_due:
            self._save_due = monotonic() + PERIOD_SECONDS
            self._channel.send(PART, self._state())
        return None

    def failing(self, finding: Finding) -> None:
        """See ``SearchListener``."""
        self._unconfirmed = finding

    def checked(self, finding: Finding, confirmation: Confirmation) -> None:
        """See ``SearchListener``. Others need not find it again."""
        self._unconfirmed = None
        if confirmation in (Confirmation.CONFIRMED, Confirmation.FLAKY, Confirmation.BETTER):
            self._report_finding(finding)

    def cut_off(self) -> None:
        """See ``SearchListener``. Findings that could not be confirmed in time are sent all the same."""
        if self._unconfirmed is not None:
            self._report_finding(self._unconfirmed)

    # -- others -------------------------------------------------------------------------------------------------------

    def _has_entries(self) -> bool:
        """Return True if there are entries to receive, or to send to another worker."""
        job = self._job
        return job.exchanges_early and (
            bool(self._counters.entries_wait) or self._search.session.checkpoints_saved != self._reported_checkpoints
        )

    def _take(self, edges: Sequence[int], entries: Sequence[_native.SharedEntry]) -> None:
        # Shared entries first: they are only useful while the states they lead to are new.
        for entry in entries:
            _, evicted = self._search.session.import_entry(entry)
            if evicted is not None:
                self._search.checkpoints.forget(evicted)
            self._reported_edges.update(entry.edges)
        for key in edges:
            self._search.coverage.import_edge(key)
        self._reported_edges.update(edges)

    def _update(self, *, last: bool = False) -> tuple[bytes, bytes, bytes]:
        """Return the progress, if that was not sent very recently, and the edges and entries that are new."""
        search = self._search
        coverage, session = search.coverage, search.session
        edges: set[int] = set()
        if coverage.edges_seen != len(self._reported_edges):
            edges = set(coverage.keys()) - self._reported_edges
            self._reported_edges |= edges
        entries = session.take_new_entries()
        self._reported_checkpoints = session.checkpoints_saved
        report = b""
        if last or monotonic() >= self._report_due:
            self._report_due = monotonic() + REPORT_SECONDS
            search.note_limits()
            report = pack(search.report())
        return report, pack_keys(sorted(edges)), _native.encode_entries(self._names, entries)

    def _report_finding(self, finding: Finding) -> None:
        self._channel.send(FOUND, *pack_finding(finding, self._names))


def share_of_runs(max_runs: int | None, made: int, workers: int, number: int) -> int | None:
    """Return how many of ``max_runs`` runs (or checkpoints) worker ``number`` makes, after ``made`` were made."""
    if max_runs is None:
        return None
    each, rest = divmod(max(0, max_runs - made), workers)
    return each + (number < rest)


class ProcessIdentity(msgspec.Struct, frozen=True):
    """Identifies a process: the ``member`` of a store, the worker there, and how many processes it had before."""

    member: int
    number: int
    restart_count: int

    def seed_of(self, seed: int) -> int:
        """Return the seed: the exploration's for the very first process, a derived one for each other."""
        if not (self.member or self.number or self.restart_count):
            return seed
        return _native.derived_seed(seed, f"worker {self.member} {self.number} {self.restart_count}")


def settings_of(
    settings: Settings, identity: ProcessIdentity, seed: int | None, runs: int | None, seconds: float
) -> Settings:
    """Return the settings of one worker. It resumes with ``seed``, if it already has one."""
    if seed is None:
        seed = identity.seed_of(settings.seed)
    return settings.replaced(
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
