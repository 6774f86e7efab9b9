"""The workers of an exploration: starts their processes, hears what they tell, and replaces those that end too soon."""

from __future__ import annotations

import dataclasses
import unittest
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from mmap import mmap

from ordeal import _native, errors
from ordeal._engine.coverage.targets import Target, source_bytes
from ordeal._engine.execution.bucket import traceback_text
from ordeal._engine.execution.settings import Settings
from ordeal._engine.formatting import one_line
from ordeal._engine.isolation.channel import ChannelError, Value
from ordeal._engine.isolation.child import Child, wait_for
from ordeal._engine.isolation.working_folder import WorkingFolder
from ordeal._engine.parallel.known import Known
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.messages import (
    DONE,
    ERROR,
    FAILED,
    FOUND,
    GIVEN,
    NEWS,
    PART,
    Broken,
    Ended,
    Report,
    pack_keys,
    unpack_keys,
)
from ordeal._engine.parallel.state import ParallelState
from ordeal._engine.parallel.store_client import StoreClient, StoreOptions
from ordeal._engine.parallel.sync import AsItComes, Exchange, InRounds, News, Sharing
from ordeal._engine.parallel.worker import (
    ByClock,
    ByRuns,
    Part,
    Place,
    Schedule,
    SharedCounters,
    settings_of,
    share_of_runs,
    work,
)
from ordeal._engine.replay.crash_replayer import CrashReader, Stall
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.telling import type_name
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.messages import unpack, unpack_finding
from ordeal._engine.triage.setup import ReplaySetup
from ordeal._native import monotonic
from ordeal.errors import OrdealError
from ordeal.result import StoppedReason

#: How often processes are looked after that have nothing to say, in seconds.
TICK_SECONDS = 0.1
#: So many processes of one worker in a row that end before their first run are enough.
FALSE_STARTS_MAX = 3
#: So many reasons for the loss of workers are told apart.
LOSSES_MAX = 10
#: A worker that neither runs a step nor gets on for so long is lost: a finaliser may go on for ever, for example.
IDLE_SECONDS_MAX = 15.0
#: A worker that made no run in this time was kept from it.
IDLE_SECONDS = 1.0


def edge_bytes(targets: Sequence[Target]) -> int:
    """How much memory workers share their edges in, so that it stays half empty at most.

    A line of source has some 35 characters and gives three edges at most: one of its own and the two sides of a branch.
    An edge takes eight bytes, so a byte for each of the source is enough.
    """
    wanted = max(_native.SharedEdges.DEFAULT_BYTES, source_bytes(targets))
    return min(1 << (wanted - 1).bit_length(), _native.SharedEdges.BYTES_MAX)


@dataclass(frozen=True, slots=True)
class Plan:
    """How an exploration is split up. ``memory`` is what a process may take in bytes, 0 for no limit.

    ``meeting`` is where it meets others, if it does.
    """

    workers: int
    sharing: Sharing
    memory: int = 0
    meeting: StoreOptions | None = None


@dataclass(slots=True)
class Given:
    """What is known before the first run: of a state, of other machines, and of seeds."""

    edges: set[int] = field(default_factory=set)
    finds: list[_native.Find] = field(default_factory=list)
    findings: dict[str, Finding] = field(default_factory=dict)


class Losses:
    """The workers that were lost between two runs: why, and what the last run of each had in it."""

    def __init__(self) -> None:
        self._rules: dict[str, list[str]] = {}
        self._counts: Counter[str] = Counter()

    def add(self, why: str, rules: Sequence[str]) -> None:
        """One more was lost."""
        kind = why if why in self._rules or len(self._rules) < LOSSES_MAX else "ended or failed in other ways"
        known = self._rules.setdefault(kind, list(rules))
        self._rules[kind] = [rule for rule in known if rule in rules]
        self._counts[kind] += 1

    def notes(self) -> Iterator[str]:
        """A sentence for each reason. What all those runs had in common may have broken the process."""
        for why, rules in self._rules.items():
            when = "Each time" if self._counts[why] > 1 else "Before that"
            common = f" {when}, its last run had {_listed(rules)} in it." if rules else ""
            yield f"A worker {why} while it ran no code of yours, and was replaced.{common}"


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


@dataclass(slots=True)
class _Slot:
    """The place of one worker, which a new process takes when the one before has ended in the middle of a run."""

    number: int
    runs: int | None = None  # those of all its processes together
    child: Child | None = None
    stall: Stall | None = None
    waits: bool = False  # for what others have found
    runs_before: int = 0  # of the processes before this one
    false_starts: int = 0
    started: float = 0.0  # by monotonic(), that of the process which has it now
    over: StoppedReason | None = None
    failed: str = ""  # with what its process failed, where it could still say so
    # What its processes have told and heard until now, and what they have found.
    known: Known = field(default_factory=Known)
    findings: dict[str, Finding] = field(default_factory=dict)


class WorkerPool:
    """The workers, each with a place that one process after the other may take. Used for one search.

    Attributes:
        given: what the workers know before their first run. To be set before they start.
        relay: who tells other machines what the workers find, if anybody does. To be set before they start.
    """

    def __init__(
        self,
        settings: Settings,
        setup: ReplaySetup,
        plan: Plan,
        merged: MergedProgress,
        state: ParallelState,
        folder: WorkingFolder,
    ) -> None:
        self.given = Given()
        self.relay: StoreClient | None = None
        self._settings = settings
        self._setup = setup
        self._plan = plan
        self._merged = merged
        self._state = state
        self._folder = folder
        self._crashes = CrashReader(setup.driver)
        self._losses = Losses()
        self._slots = [_Slot(number) for number in range(plan.workers)]
        # Where the number of runs decides when it ends, what is found must not hang on a clock; others have theirs.
        self._in_rounds = settings.max_runs is not None and plan.meeting is None
        self._exchange: Exchange = InRounds(plan.workers) if self._in_rounds else AsItComes(plan.workers)
        self._board = SharedCounters(plan.workers)
        self._edges = _native.SharedEdges(mmap(-1, edge_bytes(setup.targets)))

    # -- all of them --------------------------------------------------------------------------------------------------

    def share_runs(self) -> None:
        """Say how many runs each worker is to make. Those count that were made before, whoever made them."""
        runs = self._settings.max_runs
        for slot in self._slots:
            slot.runs = share_of_runs(runs, self._merged.given_runs, len(self._slots), slot.number)
            slot.runs_before = self._merged.past(slot.number).runs

    def start(self, deadline: float) -> None:
        """Have all of them begin. They come to their end at ``deadline``, by monotonic(), if not before."""
        for slot in self._slots:
            self._start(slot, deadline)

    @property
    def goes_on(self) -> bool:
        """Whether one of them has not come to its end."""
        return any(slot.over is None for slot in self._slots)

    def attend(self, seconds: float, deadline: float) -> None:
        """Look after the workers once, as soon as there is something to see, after ``seconds`` at the latest.

        None begins anew after ``deadline``.
        """
        going = [slot for slot in self._slots if slot.over is None]
        wait_for([slot.child for slot in going if slot.child is not None], min(seconds, TICK_SECONDS))
        for slot in going:
            self._attend(slot, deadline)

    def answer(self) -> None:
        """Let those that have told their news hear what is for them."""
        for number, news in self._exchange.answers():
            slot = self._slots[number]
            child, slot.waits = slot.child, False
            assert child is not None
            assert slot.stall is not None
            slot.stall.begin()
            edges = [key for each in news for key in each.edges]
            finds = [each.finds for each in news if each.finds]
            for each in news:
                slot.known.add(each.edges, each.finds)
            try:
                child.channel.send(GIVEN, pack_keys(edges), *finds)
            except ChannelError:
                continue  # it has ended, which is seen next
        for slot in self._slots:
            self._board.finds[slot.number] = self._exchange.has_finds_for(slot.number)

    def hear(self, news: News) -> None:
        """Others, on another machine for example, have found something that the workers are to hear of."""
        self._exchange.told(self._plan.workers, news, last=True)

    def stop(self) -> None:
        """Have all of them come to their end, and those not begin that have not yet."""
        self._board.stop = True
        for slot in self._slots:
            if slot.child is None:
                slot.over = "interrupted"

    def cut_off(self, reason: StoppedReason) -> None:
        """End those that do not come to their end, for ``reason``. A step that this breaks off is no failure."""
        for note in self._losses.notes():
            self._merged.note(note)
        for slot in self._slots:
            if slot.over is None and slot.child is not None:
                self._cut_off(slot, reason)

    @contextmanager
    def writing_down(self, deadline: float) -> Iterator[None]:
        """Have processes that make no run say what is known, in place of those that could not in the end.

        They are to be attended while the block runs.
        """
        mute = [slot for slot in self._slots if slot.over is not None and not self._state.parts[slot.number]]
        ends = [slot.over for slot in mute]
        try:
            for slot in mute:
                slot.over, slot.runs = None, slot.runs_before
                self._start(slot, deadline)
            yield
        finally:
            for slot, end in zip(mute, ends, strict=True):
                if slot.child is not None:
                    slot.child.close()
                slot.over = end

    def number_of(self, worker: int, run: int) -> int:
        """The number of a run among those of all workers, who take turns in it; of one alone it is its own."""
        return (self._slots[worker].runs_before + run - 1) * len(self._slots) + worker + 1

    def reasons(self) -> list[StoppedReason]:
        """Why those came to their end that did."""
        return [slot.over for slot in self._slots if slot.over is not None]

    def close(self) -> None:
        """End all processes that still go on."""
        for slot in self._slots:
            if slot.child is not None:
                slot.child.close()

    # -- one worker ---------------------------------------------------------------------------------------------------

    def _start(self, slot: _Slot, deadline: float) -> None:
        state, number = self._state, slot.number
        runs = None if slot.runs is None else slot.runs - slot.runs_before
        left = deadline - monotonic()
        takes_over = slot.child is not None
        if takes_over:
            state.seeds[number], state.parts[number] = None, b""
        # It goes on from what the process before it knew, not from what all know: that would hang on the clock.
        given, known = self.given, slot.known
        part = Part(
            settings=settings_of(self._settings, self._place_of(slot), state.seeds[number], runs, left),
            driver=self._setup.driver,
            targets=self._setup.targets,
            schedule=self._schedule(slot),
            board=self._board,
            number=number,
            shared=self._edges,
            listens=self._plan.sharing.edges and len(self._slots) > 1 and not self._in_rounds,
            hurries=self._plan.sharing.checkpoints and (len(self._slots) > 1 or self.relay is not None),
            edges=sorted(given.edges | known.edges),
            finds=given.finds + known.finds(self._merged.names),
            known=[dataclasses.replace(each, count=0) for each in (given.findings | slot.findings).values()],
            state=state.parts[number],
            saves=state.is_wanted,
            saves_first=takes_over,
        )
        self._board.runs[number] = self._board.steps[number] = self._board.copying[number] = 0
        self._folder.restore()
        slot.started = monotonic()
        slot.child = Child(lambda channel, journal: work(part, channel, journal), self._setup.limits)
        slot.stall = Stall(slot.child.journal, self._setup.driver.rule_timeout)
        slot.waits = False

    def _place_of(self, slot: _Slot) -> Place:
        member = 0 if self.relay is None else self.relay.member
        return Place(member, slot.number, self._merged.past(slot.number).processes)

    def _schedule(self, slot: _Slot) -> Schedule:
        # One that is alone hears nothing: when it tells how far it is changes no run.
        return ByRuns(slot.runs_before) if self._in_rounds and len(self._slots) > 1 else ByClock()

    def _attend(self, slot: _Slot, deadline: float) -> None:
        child = slot.child
        assert child is not None
        assert slot.stall is not None
        self._hear(slot)
        if child.has_ended():
            self._hear(slot)  # what it said last
            if slot.over is None:
                self._lost(slot, deadline, hung=False)
            child.close()
        elif not slot.waits and slot.stall.hangs() and self._crashes.is_running(child.journal):
            child.kill()
            self._hear(slot)
            self._lost(slot, deadline, hung=True)
            child.close()
        elif not slot.waits and self._board.runs[slot.number] and slot.stall.seconds_still() > IDLE_SECONDS_MAX:
            child.kill()
            self._hear(slot)
            slot.failed = slot.failed or f"did not get on for {IDLE_SECONDS_MAX:g} s"
            self._lost(slot, deadline, hung=False)
            child.close()

    def _hear(self, slot: _Slot) -> None:
        assert slot.child is not None
        try:
            for message in slot.child.messages():
                self._take(slot, message)
        except OrdealError:
            raise  # the worker met it: some of them are ValueErrors as well
        except (ChannelError, ValueError, TypeError, OverflowError) as error:
            self._merged.note(f"A worker was given up, which told what no worker tells: {error}.")
            slot.child.kill()

    def _take(self, slot: _Slot, message: list[Value]) -> None:
        kind, *values = message
        if kind == NEWS:
            self._take_news(slot, values, last=False)
        elif kind == FOUND:
            self._take_finding(slot, *values)
        elif kind == PART:
            self._state.keep(slot.number, *_bytes(values))
        elif kind == DONE:
            ended, *news, part = values
            self._take_news(slot, news, last=True)
            (self._state.parts[slot.number],) = _bytes([part])
            slot.over = unpack(ended, Ended).reason
            self._merged.idle_workers += slot.over == "time" and self._has_idled(slot)
        elif kind == FAILED:
            told, _traceback = values
            slot.failed = f"failed ({one_line(str(told))})"
        elif kind == ERROR:
            (broken,) = values
            raise _error_of(unpack(broken, Broken))
        else:
            raise ChannelError(f"{kind!r} begins no message of a worker")

    def _take_news(self, slot: _Slot, values: Sequence[Value], *, last: bool) -> None:
        report, keys, finds = values
        edges, (encoded,) = unpack_keys(keys), _bytes([finds])
        loaded, _ = _native.decode_finds(encoded, self._merged.names)  # refuses what the others should not get
        found = encoded if loaded else b""
        if report:
            self._merged.report(slot.number, unpack(report, Report))
        self._merged.add_edges(edges)
        slot.known.add(edges, found)
        shared = News(
            edges if self._plan.sharing.edges else (),
            found if self._plan.sharing.checkpoints else b"",
        )
        self._exchange.told(slot.number, shared, last=last)
        slot.waits = not last
        if self.relay is not None:
            self.relay.add(edges, encoded)

    def _take_finding(self, slot: _Slot, record: Value, tape: Value) -> None:
        finding = unpack_finding(record, tape, self._merged.names)
        finding.origin = dataclasses.replace(finding.origin, run_id=self.number_of(slot.number, finding.origin.run_id))
        finding.count = 0  # what the worker counts it tells in its reports
        self._found(slot, finding)

    def _found(self, slot: _Slot, finding: Finding) -> None:
        slot.findings.setdefault(finding.bucket, finding)
        self._merged.add_finding(finding)

    def _lost(self, slot: _Slot, deadline: float, *, hung: bool) -> None:
        """A process has ended in the middle of its work. What it did last is known, and another takes its place."""
        child = slot.child
        assert child is not None
        assert child.death is not None
        failed, slot.failed = slot.failed, ""
        in_copy = bool(self._board.copying[slot.number])
        crash = None if failed or in_copy else self._crashes.read(child.journal, child.death, hung=hung)
        runs = self._board.runs[slot.number]
        if crash is not None:
            origin = Provenance(run_id=self.number_of(slot.number, runs), checkpoint=0, swarm=None, edges=0)
            finding = Finding(crash.bucket, crash.tape, origin, crash.error, count=0)
            finding.error_traceback = traceback_text(crash.error)
            self._found(slot, finding)
        elif in_copy:
            self._stop_copying(f"to copy one {'takes too long' if hung else 'ends the process'}")
        elif child.death.is_unknown:
            self._merged.note("A worker was replaced: the process that guards it was killed.")
        else:
            self._losses.add(failed or f"ended ({_how(child)})", self._crashes.rules(child.journal))
        self._end_report(slot, crash.bucket if crash is not None else "")
        self._release_edges()
        slot.false_starts = 0 if runs else slot.false_starts + 1
        slot.runs_before += runs
        self._exchange.rejoin(slot.number)
        out_of_runs = slot.runs is not None and slot.runs_before >= slot.runs
        if monotonic() >= deadline or out_of_runs or slot.false_starts >= FALSE_STARTS_MAX or self._board.stop:
            self._merged.idle_workers += slot.false_starts >= FALSE_STARTS_MAX and not slot.runs_before
            slot.over = "max_runs" if out_of_runs else "stuck" if slot.false_starts else "time"
            self._exchange.told(slot.number, News((), b""), last=True)
        else:
            self._start(slot, deadline)

    def _has_idled(self, slot: _Slot) -> bool:
        """Whether no run of this worker came to its end, though there was time."""
        runs = slot.runs_before + self._board.runs[slot.number]
        return runs <= 1 and monotonic() - slot.started >= IDLE_SECONDS

    def _stop_copying(self, why: str) -> None:
        """What comes of a copy is no failure. From here on no worker makes any."""
        name = type_name(self._setup.driver.definition.cls)
        if self._settings.checkpoint_kind != "replay":
            self._merged.note(f"Checkpoints of {name} are reached by running their steps again: {why}.")
        self._settings = dataclasses.replace(self._settings, checkpoint_kind="replay")

    def _end_report(self, slot: _Slot, bucket: str) -> None:
        board = self._board
        self._merged.end_report(slot.number, board.runs[slot.number], board.steps[slot.number], bucket)

    def _release_edges(self) -> None:
        """What a process saw and did not tell is news again, as nobody knows how it came there.

        It was seen all the same. The others can tell once more what they were about to.
        """
        untold = set(self._edges.keys()) - self._merged.edges
        for key in untold:
            self._edges.erase(key)
        self._merged.add_untold(untold)

    def _cut_off(self, slot: _Slot, reason: StoppedReason) -> None:
        assert slot.child is not None
        slot.child.kill()
        self._hear(slot)
        self._release_edges()
        if slot.over is None:
            place = self._crashes.place(slot.child.journal)
            where = f" in the middle of {place}" if place else ""
            if place and reason != "stuck":
                self._merged.note(f"A worker was ended{where}: the time was over.")
            self._merged.idle_workers += reason == "time" and self._has_idled(slot)
            self._end_report(slot, "")
            slot.over = reason
        slot.child.close()


def _bytes(values: Sequence[Value]) -> list[bytes]:
    for value in values:
        if not isinstance(value, bytes):
            raise ChannelError(f"a {type(value).__name__} stands where bytes should")
    return list(values)  # type: ignore[arg-type]


def _how(child: Child) -> str:
    assert child.death is not None
    return f"signal {child.death.signal}" if child.death.signal else f"exit code {child.death.code}"


def _error_of(broken: Broken) -> BaseException:
    """The error that a worker met, as it would have been raised here."""
    if broken.kind == unittest.SkipTest.__name__:
        return unittest.SkipTest(broken.message)
    kind = getattr(errors, broken.kind, None)
    if not (isinstance(kind, type) and issubclass(kind, OrdealError)):
        kind = OrdealError
    return kind(broken.message, hint=broken.hint or None)
