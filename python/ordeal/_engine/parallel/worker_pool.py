"""The workers of an exploration: starts their processes, receives their messages, and replaces those that die."""

from __future__ import annotations

import unittest
from collections import Counter
from collections.abc import Iterator, Sequence
from mmap import mmap
from typing import TYPE_CHECKING

import msgspec
import msgspec.structs

import ordeal._native as _native
from ordeal import errors
from ordeal._base.formatting import one_line
from ordeal._base.limits import LISTED_MAX, LOOK_SECONDS, TRIES_MAX
from ordeal._base.outside import NOTE
from ordeal._base.untrusted import type_name
from ordeal._engine.coverage.targets import Target, source_bytes
from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.execution.settings import Settings
from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._engine.isolation.child import CUT_OFF, Child, ChildExit, wait_for
from ordeal._engine.isolation.hangs import SECONDS_MIN, HangPolicy, ends_within
from ordeal._engine.isolation.outside_use import Contention, Use, UseKind
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.parallel.merged import MergedProgress
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
from ordeal._engine.parallel.state import ParallelState
from ordeal._engine.parallel.sync import Exchange, ImmediateExchange, KnownCoverage, RoundExchange, Sharing, Update
from ordeal._engine.parallel.worker import (
    ByClock,
    ByRuns,
    ProcessIdentity,
    SharedCounters,
    WorkerJob,
    settings_of,
    share_of_runs,
    work,
)
from ordeal._engine.replay.crash_replayer import IDLE_SECONDS_MAX, SLACK_SECONDS, CrashReader, ProcessStall
from ordeal._engine.search.result_builder import SearchReport
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.triage.findings import Finding, KnownFailures
from ordeal._engine.triage.jobs import bare_failure
from ordeal._engine.triage.messages import unpack, unpack_finding
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._native import monotonic
from ordeal.errors import OrdealError
from ordeal.result import StoppedReason

if TYPE_CHECKING:
    from ordeal._engine.parallel.store_client import StoreClient, StoreOptions


def edge_bytes(targets: Sequence[Target]) -> int:
    """Return how much memory workers need to share their edges, so that it stays at most half full.

    A line of source has some 35 characters and gives at most three edges: its own and the two sides of a branch. An
    edge takes eight bytes, so one byte for each byte of source is enough.
    """
    wanted = max(_native.SharedEdges.DEFAULT_BYTES, source_bytes(targets))
    return min(1 << (wanted - 1).bit_length(), _native.SharedEdges.BYTES_MAX)


class WorkerOptions(msgspec.Struct, frozen=True):
    """How an exploration is split up. ``memory`` is the limit of a process in bytes, 0 for none.

    ``store_options`` says which store it shares through, if any.
    """

    workers: int
    sharing: Sharing
    memory: int = 0
    store_options: StoreOptions | None = None


class InitialCorpus(msgspec.Struct):
    """What is known before the first run: from a state, from other machines, and from seeds."""

    edges: set[int] = msgspec.field(default_factory=set)
    entries: list[_native.SharedEntry] = msgspec.field(default_factory=list)
    findings: dict[str, Finding] = msgspec.field(default_factory=dict)


class WorkersInTheWay(Exception):  # noqa: N818 - nothing went wrong: one worker explores instead
    """Several workers write or listen at the same place. ``use`` says which."""

    def __init__(self, use: Use) -> None:
        super().__init__(use.name)
        self.use = use


class Losses:
    """The workers that were lost between two runs: why, and which rules the last run of each contained."""

    def __init__(self) -> None:
        self._rules: dict[str, list[str]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, why: str, rules: Sequence[str]) -> None:
        """Count a lost worker."""
        kind = why if why in self._rules or len(self._rules) < LISTED_MAX else "ended or failed in other ways"
        known = self._rules.setdefault(kind, list(rules))
        self._rules[kind] = [rule for rule in known if rule in rules]
        self._counts[kind] += 1

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each reason. What all those runs had in common may have broken the process."""
        for why, rules in self._rules.items():
            when = "Each time" if self._counts[why] > 1 else "Before that"
            shown = [f"`{name}`" for name in rules]
            listed = " and ".join([", ".join(shown[:-1]), *shown[-1:]] if shown[1:] else shown)
            common = f" {when}, its last run had {listed} in it." if rules else ""
            yield f"A worker {why}, and was replaced.{common}"


class _PoolWorker(msgspec.Struct):
    """One worker: a process, and its successors whenever it ends in the middle of a run."""

    number: int
    runs: int | None = None  # of all its processes together
    child: Child | None = None
    stall: ProcessStall | None = None
    waits: bool = False  # waits for updates of others
    runs_before: int = 0  # of the processes before this one
    false_starts: int = 0
    started: float = 0.0  # when its present process started, by monotonic()
    over: StoppedReason | None = None
    suspect: Finding | None = None  # what ended its process in a run from a copy
    suspected: set[str] = msgspec.field(default_factory=set)  # the buckets of all that were suspects
    failed: str = ""  # why its process failed, if it could still say so
    # What its processes have sent, received and found so far.
    known: KnownCoverage = msgspec.field(default_factory=KnownCoverage)
    findings: dict[str, Finding] = msgspec.field(default_factory=dict)
    failures_took: dict[str, float] = msgspec.field(default_factory=dict)  # seconds, by the bucket that ended processes


class WorkerPool:
    """The workers, each with one process at a time. Used for one search.

    Attributes:
        given: what the workers know before their first run. Set it before they start.
        store_client: shares with other machines what the workers find, if set. Set it before they start.
    """

    def __init__(
        self,
        settings: Settings,
        setup: ReplaySetup,
        options: WorkerOptions,
        merged: MergedProgress,
        state: ParallelState,
        folder: WorkingFolder,
    ) -> None:
        self.initial_corpus = InitialCorpus()
        self.store_client: StoreClient | None = None
        self._settings = settings
        self._known = KnownFailures(settings.known)
        self._setup = setup
        self._options = options
        self._merged = merged
        self._state = state
        self._folder = folder
        self._crashes = CrashReader(setup.driver)
        self._policy = HangPolicy(setup.driver.rule_timeout)
        self._policy.begin_search(settings.max_time, settings.max_runs)
        self._began = 0.0  # by monotonic()
        self._losses = Losses()
        self._contention = Contention()
        self._workers = [_PoolWorker(number) for number in range(options.workers)]
        # If a number of runs ends the search, the result must not depend on the clock; members of a store do not wait.
        self._in_rounds = settings.max_runs is not None and options.store_options is None
        self._exchange: Exchange = (
            RoundExchange(options.workers) if self._in_rounds else ImmediateExchange(options.workers)
        )
        self._counters = SharedCounters(options.workers)
        self._edges = _native.SharedEdges(mmap(-1, edge_bytes(setup.targets)))

    # -- all of them --------------------------------------------------------------------------------------------------

    def share_runs(self) -> None:
        """Set how many runs each worker makes. Runs made before the exploration was resumed count too."""
        runs = self._settings.max_runs
        for worker in self._workers:
            worker.runs = share_of_runs(runs, self._merged.resumed_runs, len(self._workers), worker.number)
            worker.runs_before = self._merged.earlier(worker.number).runs

    def start(self, deadline: float) -> None:
        """Start all workers. They stop at ``deadline``, by monotonic(), if not before."""
        self._began = monotonic()
        for worker in self._workers:
            self._start(worker, deadline)

    @property
    def goes_on(self) -> bool:
        """Return True if a worker is still running."""
        return any(worker.over is None for worker in self._workers)

    def poll(self, seconds: float, deadline: float) -> None:
        """Handle the messages and ends of workers once, as soon as there is one, after ``seconds`` at the latest.

        None is restarted after ``deadline``. Raises WorkersInTheWay when they cannot explore at the same time.
        """
        going = [worker for worker in self._workers if worker.over is None]
        wait_for([worker.child for worker in going if worker.child is not None], min(seconds, LOOK_SECONDS))
        for worker in going:
            child, stall = worker.child, worker.stall
            assert child is not None
            assert stall is not None
            self._receive(worker)
            if child.has_ended():
                self._receive(worker)  # its last messages
                if worker.over is None:
                    self._lost(worker, deadline, hung=False)
                child.close()
            elif not worker.waits:
                waited, counters = stall.seconds_still(), self._counters[worker.number]
                hangs = self._hangs(worker, stall, child)
                # A process that makes no progress outside of a step: how long one may take, its limit says.
                is_outside = bool(counters.is_copying) or not self._crashes.is_running(child.journal)
                if hangs or (counters.runs and waited > IDLE_SECONDS_MAX and is_outside):
                    child.kill()
                    self._receive(worker)
                    if not hangs:
                        worker.failed = worker.failed or f"made no progress for {IDLE_SECONDS_MAX:g} s"
                    self._lost(worker, deadline, hung=True, waited=waited if hangs else 0.0)
                    child.close()

    def answer(self) -> None:
        """Send each worker that waits the updates of the others."""
        for number, updates in self._exchange.answers():
            worker = self._workers[number]
            child, worker.waits = worker.child, False
            assert child is not None
            assert worker.stall is not None
            worker.stall.begin()
            edges = [key for each in updates for key in each.edges]
            entries = [each.entries for each in updates if each.entries]
            for each in updates:
                worker.known.add(each.edges, each.entries)
            try:
                child.channel.send(FROM_OTHERS, pack_keys(edges), *entries)
            except ChannelError:
                continue  # it has ended, which is noticed next
        for worker in self._workers:
            self._counters[worker.number].entries_wait = self._exchange.has_entries_for(worker.number)

    def receive(self, update: Update) -> None:
        """Pass on to the workers what others have found, on another machine for example."""
        self._exchange.report(self._options.workers, update, last=True)

    def stop(self) -> None:
        """Ask all workers to stop, and do not start those that have not begun."""
        self._counters.stop = True
        for worker in self._workers:
            if worker.child is None:
                worker.over = "interrupted"

    def cut_off(self, reason: StoppedReason) -> None:
        """End the workers that do not stop, for ``reason``. A step that this interrupts is not a failure."""
        for note in self._losses.notes():
            self._merged.note(note)
        for worker in self._workers:
            if worker.over is not None or worker.child is None:
                continue
            worker.child.kill()
            self._receive(worker)
            self._release_edges()
            if worker.over is None:  # otherwise its last message has said so
                if reason != "stuck":
                    self._note_place(self._crashes.place(worker.child.journal))
                self._merged.idle_workers += reason == "time" and self._has_idled(worker)
                self._end_report(worker, "")
                worker.over = reason
            worker.child.close()

    def number_of(self, worker_id: int, run: int) -> int:
        """Return the number of a run among those of all workers, who take turns; a single one keeps its numbers."""
        return (self._workers[worker_id].runs_before + run - 1) * len(self._workers) + worker_id + 1

    def reasons(self) -> list[StoppedReason]:
        """Return why workers stopped."""
        return [worker.over for worker in self._workers if worker.over is not None]

    def close(self) -> None:
        """End all processes that still run."""
        for worker in self._workers:
            if worker.child is not None:
                worker.child.close()

    # -- one worker ---------------------------------------------------------------------------------------------------

    def _start(self, worker: _PoolWorker, deadline: float) -> None:
        state, number = self._state, worker.number
        runs = None if worker.runs is None else worker.runs - worker.runs_before
        left = deadline - monotonic()
        if worker.child is not None:
            state.seeds[number], state.parts[number] = None, b""
        # A successor starts from what its predecessor knew. What all workers know would depend on the clock.
        initial, known = self.initial_corpus, worker.known
        worker.started = monotonic()
        checkpoints = share_of_runs(self._settings.max_checkpoints, 0, len(self._workers), number) or 0
        settings = self._settings.replaced(max_checkpoints=checkpoints)
        member = 0 if self.store_client is None else self.store_client.member
        identity = ProcessIdentity(member, number, self._merged.earlier(number).processes)
        # A single worker receives nothing, so the times of its reports change no run.
        in_rounds = self._in_rounds and len(self._workers) > 1
        job = WorkerJob(
            settings=settings_of(settings, identity, state.seeds[number], runs, left),
            driver=self._setup.driver,
            targets=self._setup.targets,
            schedule=ByRuns(worker.runs_before) if in_rounds else ByClock(),
            counters=self._counters,
            number=number,
            shared_edges=self._edges,
            search_began=self._began,
            process_began=worker.started,
            takes_shared_edges=self._options.sharing.edges and len(self._workers) > 1 and not self._in_rounds,
            exchanges_early=self._options.sharing.checkpoints
            and (len(self._workers) > 1 or self.store_client is not None),
            edges=sorted(initial.edges | known.edges),
            entries=initial.entries + known.entries(self._merged.names),
            findings=[msgspec.structs.replace(each, count=0) for each in (initial.findings | worker.findings).values()],
            suspect=worker.suspect,
            failure_seconds=dict(worker.failures_took),
            state=state.parts[number],
            is_alone=len(self._workers) == 1,
            sends_state=state.is_wanted,
        )
        worker.suspect = None
        self._counters.begin_process(number)
        self._folder.restore()
        worker.child = Child(lambda channel, journal: work(job, channel, journal), self._setup.limits)
        worker.stall = ProcessStall(worker.child.journal, self._setup.driver.rule_timeout)
        worker.waits = False

    def _hangs(self, worker: _PoolWorker, stall: ProcessStall, child: Child) -> bool:
        """Return True if a process hangs in code of the user's, where it cannot interrupt that itself.

        A short search waits for one step of each rule less than its limit, and hardly at all for others: see
        ``HangPolicy``.
        """
        if stall.hangs():
            return self._crashes.is_running(child.journal)
        still = stall.seconds_still() - SLACK_SECONDS
        if not self._policy.is_short or still < ends_within(SECONDS_MIN) or not self._crashes.is_in_step(child.journal):
            return False
        place = self._crashes.place(child.journal)
        self._policy.learn_run(self._counters[worker.number].slowest_run / 1e6)
        if still < ends_within(self._policy.patience(place)):
            return False
        self._policy.expect_hang(place)
        return True

    def _receive(self, worker: _PoolWorker) -> None:
        assert worker.child is not None
        try:
            for message in worker.child.messages():
                self._take(worker, message)
        except OrdealError:
            raise  # an error that the worker met: some of these are ValueErrors too
        except (ChannelError, ValueError, TypeError, OverflowError) as error:
            self._merged.note(f"A worker was ended because it sent an invalid message: {error}.")
            worker.child.kill()

    def _take(self, worker: _PoolWorker, message: list[Value]) -> None:
        kind, *values = message
        if kind == UPDATE:
            self._take_update(worker, values, last=False)
        elif kind == FOUND:
            record, tape = values
            finding = unpack_finding(record, tape, self._merged.names)
            run_id = self.number_of(worker.number, finding.origin.run_id)
            finding.origin = msgspec.structs.replace(finding.origin, run_id=run_id)
            finding.count = 0  # the worker's reports carry its counts
            self._found(worker, finding)
        elif kind == PART:
            self._state.keep(worker.number, *_bytes(values))
        elif kind == USES:
            (packed,) = values
            for use in self._contention.add(worker.number, unpack(packed, list[Use])):
                if use.kind is not UseKind.CONNECTS:
                    raise WorkersInTheWay(use)
                self._merged.note(
                    f"Several workers are connected to {use.name}. If their machines share data there, they find "
                    "failures of each other's making: give each machine its own data, or explore with one worker."
                )
        elif kind == WARNED:
            (text,) = values
            self._merged.note(f"{NOTE}{one_line(str(text))}.")
        elif kind == DONE:
            ended, *update, part = values
            self._take_update(worker, update, last=True)
            (self._state.parts[worker.number],) = _bytes([part])
            end = unpack(ended, WorkerEnd)
            worker.over = end.reason
            if worker.over == "time" and self._has_idled(worker):
                self._merged.idle_workers += 1
                self._note_place(end.place)
        elif kind == FAILED:
            (reason,) = values
            worker.failed = f"failed ({one_line(str(reason))})"
        elif kind == ERROR:
            (broken,) = values
            raise _error_of(unpack(broken, WorkerError))
        else:
            raise ChannelError(f"{kind!r} begins no message of a worker")

    def _take_update(self, worker: _PoolWorker, values: Sequence[Value], *, last: bool) -> None:
        report, keys, entries = values
        edges, (encoded,) = unpack_keys(keys), _bytes([entries])
        loaded, _ = _native.decode_entries(encoded, self._merged.names)  # refuses what the others should not receive
        found = encoded if loaded else b""
        if report:
            self._merged.report(worker.number, unpack(report, SearchReport))
        self._merged.add_edges(edges)
        worker.known.add(edges, found)
        shared = Update(
            edges if self._options.sharing.edges else (),
            found if self._options.sharing.checkpoints else b"",
        )
        self._exchange.report(worker.number, shared, last=last)
        worker.waits = not last
        if self.store_client is not None:
            self.store_client.add(edges, encoded)

    def _found(self, worker: _PoolWorker, finding: Finding) -> None:
        worker.findings.setdefault(finding.bucket, finding).replace_by(finding)
        is_new = self._merged.add_finding(finding)
        if is_new and self.store_client is not None and self._known.entry_of(finding) is None:
            # Known to all members at once, and not lost with this one; a shorter trace follows.
            trace = bare_failure(self._setup, finding).trace
            data = b"" if trace is None else trace.to_json()
            self.store_client.add_failure(finding.bucket, data, len(finding.tape), 1, shrunk=False)

    def _lost(self, worker: _PoolWorker, deadline: float, *, hung: bool, waited: float = 0.0) -> None:
        """Handle a process that ended in the middle of its work: note what it did last, and start another.

        ``waited`` says for how many seconds its last step ran.
        """
        child = worker.child
        assert child is not None
        assert child.exit_status is not None
        failed, worker.failed = worker.failed, ""
        # Where the guard itself was lost, nothing is known of what the process did.
        in_copy = bool(self._counters[worker.number].is_copying) and not child.exit_status.is_unknown
        crash = None if failed or in_copy else self._crashes.read(child.journal, child.exit_status, hung=hung)
        runs = self._counters[worker.number].runs
        if crash is not None:
            origin = Provenance(run_id=self.number_of(worker.number, runs), checkpoint=0, swarm=None, edges=0)
            finding = Finding(crash.bucket, crash.tape, origin, crash.error, count=0)
            finding.error_traceback = traceback_text(crash.error)
            if finding.bucket in worker.findings:
                took = waited + self._counters[worker.number].set_up / 1e6
                worker.failures_took[finding.bucket] = worker.failures_took.get(finding.bucket, 0.0) + took
            if (
                self._counters[worker.number].from_copy
                and not finding.is_timeout
                and finding.bucket not in worker.findings
            ):
                # The next process confirms what a copy did, once; what only copies do ends copying.
                if finding.bucket in worker.suspected:
                    self._stop_copying("runs from copies end the process, and those from a fresh machine do not")
                else:
                    worker.suspect = finding
                    worker.suspected.add(finding.bucket)
            else:
                self._found(worker, finding)
        elif in_copy:
            self._stop_copying(f"to copy one {'takes too long' if hung else 'ends the process'}")
        else:
            why = f"{failed} while it ran no code of yours" if failed else _how_lost(child.exit_status)
            self._merged.unjudged = self._merged.unjudged or why
            self._losses.add(why, self._crashes.rules(child.journal))
        self._end_report(worker, crash.bucket if crash is not None else "")
        self._release_edges()
        worker.false_starts = 0 if runs else worker.false_starts + 1
        worker.runs_before += runs
        self._exchange.rejoin(worker.number)
        out_of_runs = worker.runs is not None and worker.runs_before >= worker.runs
        if monotonic() >= deadline or out_of_runs or worker.false_starts >= TRIES_MAX or self._counters.stop:
            self._merged.idle_workers += worker.false_starts >= TRIES_MAX and not worker.runs_before
            if worker.suspect is not None:
                self._found(worker, worker.suspect)
            worker.over = "max_runs" if out_of_runs else "stuck" if worker.false_starts else "time"
            self._exchange.report(worker.number, Update((), b""), last=True)
        else:
            self._start(worker, deadline)

    def _has_idled(self, worker: _PoolWorker) -> bool:
        """Return True if no run of this worker finished although there was time."""
        runs = worker.runs_before + self._counters[worker.number].runs
        # A worker that made no run in this time was kept from it.
        return runs <= 1 and monotonic() - worker.started >= 1.0

    def _stop_copying(self, why: str) -> None:
        """Stop copying in all workers: what a copy does wrong is not a failure."""
        name = type_name(self._setup.driver.definition.cls)
        if self._settings.checkpoint_kind != "replay":
            self._merged.note(f"Checkpoints of {name} are reached by running their steps again: {why}.")
        self._settings = self._settings.replaced(checkpoint_kind="replay")

    def _end_report(self, worker: _PoolWorker, bucket: str) -> None:
        counters = self._counters[worker.number]
        self._merged.end_report(worker.number, counters.runs, counters.steps, bucket)

    def _release_edges(self) -> None:
        """Have edges that a process saw but did not report count as new again: how it reached them is lost.

        Edges that were about to be reported are seen all the same, and are reported again by the others.
        """
        unreported = set(self._edges.keys()) - self._merged.edges
        for key in unreported:
            self._edges.erase(key)
        self._merged.add_unreported(unreported)

    def _note_place(self, place: str) -> None:
        if place:
            self._merged.note(f"A worker was ended in the middle of {one_line(place)}: the time limit was reached.")


def _bytes(values: Sequence[Value]) -> list[bytes]:
    for value in values:
        if not isinstance(value, bytes):
            raise ChannelError(f"a {type(value).__name__} stands where bytes should")
    return list(values)  # type: ignore[arg-type]


def _how_lost(end: ChildExit) -> str:
    """Return how a process ended that sent no reason, and was not in the middle of a step."""
    if end.is_unknown:
        return "lost the process that guards it"
    if end.code == CUT_OFF:
        return "was cut off by a rule that closed all descriptors"
    return f"ended ({f'signal {end.signal}' if end.signal else f'exit code {end.code}'}) while it ran no code of yours"


def _error_of(broken: WorkerError) -> BaseException:
    """Rebuild the error that a worker met."""
    if broken.kind == unittest.SkipTest.__name__:
        return unittest.SkipTest(broken.message)
    kind = getattr(errors, broken.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, OrdealError)):
        kind = OrdealError
    return kind(broken.message, hint=broken.hint or None)
