"""Explores in several processes: starts workers, passes on what they find, and takes note of how they end."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import unittest
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from mmap import mmap

from ordeal import _native, errors
from ordeal.bucket import traceback_text
from ordeal.child_process import Child, Limits, wait_for
from ordeal.crashes import CrashReader, Stall
from ordeal.driver import Driver
from ordeal.errors import OrdealError
from ordeal.findings import Finding
from ordeal.parallel.aftermath import Aftermath
from ordeal.parallel.exchange import AsItComes, Exchange, InRounds, News, Sharing
from ordeal.parallel.jobs import Bench
from ordeal.parallel.known import Known
from ordeal.parallel.messages import (
    DONE,
    ERROR,
    FOUND,
    GIVEN,
    NEWS,
    PART,
    Broken,
    Ended,
    Report,
    pack_keys,
    unpack,
    unpack_finding,
    unpack_keys,
)
from ordeal.parallel.relay import Meeting, Relay
from ordeal.parallel.state_parts import StateParts
from ordeal.parallel.union import Union
from ordeal.parallel.worker import Board, ByClock, ByRuns, Part, Place, Schedule, settings_of, share_of_runs, work
from ordeal.parallel.working_folder import WorkingFolder
from ordeal.process_channel import ChannelError, Value
from ordeal.property_watch import PropertyWatch
from ordeal.result import ExplorationResult, Failure, ProgressSnapshot, ShrinkSnapshot, StoppedReason
from ordeal.result_making import make_result
from ordeal.saver import machine_names
from ordeal.settings import Settings
from ordeal.store import FailureReport
from ordeal.targets import Target, source_bytes
from ordeal.tracer import Origin

#: How often processes are looked after that have nothing to say, in seconds.
TICK_SECONDS = 0.1
#: How much longer than it may a worker can take to come to its end.
GRACE_SECONDS = 0.8
#: So many processes of one worker in a row that end before their first run are enough.
FALSE_STARTS_MAX = 3


def usable_cores() -> int:
    """How many processes can run at the same time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def can_supervise() -> bool:
    """Whether the system has what processes are watched with."""
    return sys.platform.startswith("linux") and hasattr(os, "pidfd_open")


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
    meeting: Meeting | None = None


@dataclass(slots=True)
class _Given:
    """What is known before the first run: of a state, of other machines, and of seeds."""

    edges: set[int] = field(default_factory=set)
    finds: list[_native.Find] = field(default_factory=list)
    findings: dict[str, Finding] = field(default_factory=dict)


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
    over: StoppedReason | None = None
    # What its processes have told and heard until now, and what they have found.
    known: Known = field(default_factory=Known)
    findings: dict[str, Finding] = field(default_factory=dict)


class Supervisor:
    """Explores once. It runs no code of the user's itself, so that nothing of it can end this process."""

    def __init__(self, settings: Settings, driver: Driver, targets: list[Target], plan: Plan) -> None:
        self._settings = settings
        self._driver = driver
        self._targets = targets
        self._plan = plan
        self._names = machine_names(driver)
        self._union = Union(self._names)
        self._crashes = CrashReader(driver)
        self._bench = Bench(settings, driver, targets, Limits(plan.memory))
        self._slots = [_Slot(number) for number in range(plan.workers)]
        # Where the number of runs decides when it ends, what is found must not hang on a clock; others have theirs.
        self._in_rounds = settings.max_runs is not None and plan.meeting is None
        self._exchange: Exchange = InRounds(plan.workers) if self._in_rounds else AsItComes(plan.workers)
        self._relay: Relay | None = None
        self._board = Board(plan.workers)
        self._edges = _native.SharedEdges(mmap(-1, edge_bytes(targets)))
        self._given = _Given()
        self._started = 0.0
        self._interrupted = False
        self._folder = WorkingFolder(self._union.note)
        self._state = StateParts(settings, self._union, self._folder, plan.workers)
        self._aftermath = Aftermath(self._bench, self._union, self._folder, plan.workers)

    def run(self) -> ExplorationResult:
        """Explore until time, runs or patience are used up or Ctrl-C is pressed, then shrink and report.

        A second Ctrl-C ends all at once, with KeyboardInterrupt.
        """
        self._started = time.monotonic()
        self._state.resume()
        self._share_runs()
        watch = PropertyWatch()
        try:
            self._join()
            with self._interruptible("Not all seeds were replayed: that was interrupted."):
                self._aftermath.replay_seeds()
            if not self._interrupted:
                self._search()
            self._write_down()
            self._state.save()
            self._state.take_in(self._number_of)
            self._meet()
            failures = self._aftermath.judge(
                shrink=not self._interrupted,
                others=self._relay,
                pressed=self._press,
                tell=self._tell_of_shrinking,
            )
            self._leave(failures)
            traces = self._aftermath.traces(failures, pressed=self._press)
            self._aftermath.fill_database(pressed=self._press)
        finally:
            self._close()
            self._folder.restore()
        with watch.recording():
            self._union.absorb_properties(watch)
        return make_result(
            self._settings,
            self._targets,
            self._union.totals(),
            failures=failures,
            traces=traces,
            seeds=self._aftermath.seed_outcomes,
            watch=watch,
            seconds=self._elapsed(),
            stopped=self._stopped(),
        )

    # -- the search ---------------------------------------------------------------------------------------------------

    def _search(self) -> None:
        deadline = time.monotonic() + self._settings.max_time
        self._given.edges |= self._union.edges - self._union.untold
        self._given.finds += self._state.finds
        self._given.findings |= self._union.findings
        try:
            for slot in self._slots:
                self._start(slot, deadline)
            self._attend_until(deadline + GRACE_SECONDS, deadline)
        except KeyboardInterrupt:
            self._press()
            self._board.stop = True
            for slot in self._slots:
                if slot.child is None:
                    slot.over = "interrupted"
            # All come to an end now, and those that cannot are ended.
            self._attend_until(time.monotonic() + GRACE_SECONDS, time.monotonic())
        for slot in self._slots:
            if slot.over is None and slot.child is not None:
                self._cut_off(slot)

    def _attend_until(self, last: float, deadline: float) -> None:
        """Look after the workers until all are done, at the latest at ``last``. None begins anew after ``deadline``."""
        while any(slot.over is None for slot in self._slots):
            left = last - time.monotonic()
            if left <= 0:
                return
            running = [slot.child for slot in self._slots if slot.child is not None and slot.over is None]
            wait_for(running, min(left, TICK_SECONDS))
            for slot in self._slots:
                if slot.over is None:
                    self._attend(slot, deadline)
            self._meet()
            self._answer()
            self._tell_of_progress()

    def _start(self, slot: _Slot, deadline: float) -> None:
        state, number = self._state, slot.number
        runs = None if slot.runs is None else slot.runs - slot.runs_before
        left = deadline - time.monotonic()
        takes_over = slot.child is not None
        if takes_over:
            state.seeds[number], state.parts[number] = None, b""
        # It goes on from what the process before it knew, not from what all know: that would hang on the clock.
        given, known = self._given, slot.known
        part = Part(
            settings=settings_of(self._settings, self._place_of(slot), state.seeds[number], runs, left),
            driver=self._driver,
            targets=self._targets,
            schedule=self._schedule(slot),
            board=self._board,
            number=number,
            shared=self._edges,
            listens=self._plan.sharing.edges and len(self._slots) > 1 and not self._in_rounds,
            hurries=self._plan.sharing.checkpoints and (len(self._slots) > 1 or self._relay is not None),
            edges=sorted(given.edges | known.edges),
            finds=given.finds + known.finds(self._names),
            known=[dataclasses.replace(each, count=0) for each in (given.findings | slot.findings).values()],
            state=state.parts[number],
            saves=state.is_wanted,
            saves_first=takes_over,
        )
        self._board.runs[number] = self._board.steps[number] = 0
        self._folder.restore()
        slot.child = Child(lambda channel, journal: work(part, channel, journal), self._bench.limits)
        slot.stall = Stall(slot.child.journal, self._driver.rule_timeout)
        slot.waits = False

    def _place_of(self, slot: _Slot) -> Place:
        member = 0 if self._relay is None else self._relay.member
        return Place(member, slot.number, self._union.past(slot.number).processes)

    def _schedule(self, slot: _Slot) -> Schedule:
        # One that is alone hears nothing: when it tells how far it is changes no run.
        return ByRuns(slot.runs_before) if self._in_rounds and len(self._slots) > 1 else ByClock()

    # -- one worker ---------------------------------------------------------------------------------------------------

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

    def _hear(self, slot: _Slot) -> None:
        assert slot.child is not None
        try:
            for message in slot.child.messages():
                self._take(slot, message)
        except OrdealError:
            raise  # the worker met it: some of them are ValueErrors as well
        except (ChannelError, ValueError, TypeError, OverflowError) as error:
            self._union.note(f"A worker was given up, which told what no worker tells: {error}.")
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
        elif kind == ERROR:
            (broken,) = values
            raise _error_of(unpack(broken, Broken))
        else:
            raise ChannelError(f"{kind!r} begins no message of a worker")

    def _take_news(self, slot: _Slot, values: Sequence[Value], *, last: bool) -> None:
        report, keys, finds = values
        edges, (encoded,) = unpack_keys(keys), _bytes([finds])
        loaded, _ = _native.decode_finds(encoded, self._names)  # refuses what the others should not get
        found = encoded if loaded else b""
        if report:
            self._union.report(slot.number, unpack(report, Report))
        self._union.add_edges(edges)
        slot.known.add(edges, found)
        shared = News(
            edges if self._plan.sharing.edges else (),
            found if self._plan.sharing.checkpoints else b"",
        )
        self._exchange.told(slot.number, shared, last=last)
        slot.waits = not last
        if self._relay is not None:
            self._relay.add(edges, encoded)

    def _take_finding(self, slot: _Slot, record: Value, tape: Value) -> None:
        finding = unpack_finding(record, tape, self._names)
        finding.origin = dataclasses.replace(finding.origin, run_id=self._number_of(slot.number, finding.origin.run_id))
        finding.count = 0  # what the worker counts it tells in its reports
        self._found(slot, finding)

    def _found(self, slot: _Slot, finding: Finding) -> None:
        slot.findings.setdefault(finding.bucket, finding)
        self._union.add_finding(finding)

    def _number_of(self, worker: int, run: int) -> int:
        """The number of a run among those of all workers, who take turns in it; of one alone it is its own."""
        return (self._slots[worker].runs_before + run - 1) * len(self._slots) + worker + 1

    def _answer(self) -> None:
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

    def _lost(self, slot: _Slot, deadline: float, *, hung: bool) -> None:
        """A process has ended in the middle of its work. What it did last is known, and another takes its place."""
        child = slot.child
        assert child is not None
        assert child.death is not None
        crash = self._crashes.read(child.journal, child.death, hung=hung)
        runs = self._board.runs[slot.number]
        if crash is not None:
            origin = Origin(run_id=self._number_of(slot.number, runs), checkpoint=0, swarm=None, edges=0)
            finding = Finding(crash.bucket, crash.tape, origin, crash.error, count=0)
            finding.error_traceback = traceback_text(crash.error)
            self._found(slot, finding)
        elif child.death.is_unknown:
            self._union.note("A worker was replaced: the process that guards it was killed.")
        else:
            self._union.note(f"A worker ended ({_how(child)}) while it ran no code of yours, and was replaced.")
        self._end_report(slot, crash.bucket if crash is not None else "")
        self._release_edges()
        slot.false_starts = 0 if runs else slot.false_starts + 1
        slot.runs_before += runs
        self._exchange.rejoin(slot.number)
        out_of_runs = slot.runs is not None and slot.runs_before >= slot.runs
        if time.monotonic() >= deadline or out_of_runs or slot.false_starts >= FALSE_STARTS_MAX or self._board.stop:
            slot.over = "max_runs" if out_of_runs else "stuck" if slot.false_starts else "time"
            self._exchange.told(slot.number, News((), b""), last=True)
        else:
            self._start(slot, deadline)

    def _end_report(self, slot: _Slot, bucket: str) -> None:
        board = self._board
        self._union.end_report(slot.number, board.runs[slot.number], board.steps[slot.number], bucket)

    def _release_edges(self) -> None:
        """What a process saw and did not tell is news again, as nobody knows how it came there.

        It was seen all the same. The others can tell once more what they were about to.
        """
        untold = set(self._edges.keys()) - self._union.edges
        for key in untold:
            self._edges.erase(key)
        self._union.add_untold(untold)

    def _cut_off(self, slot: _Slot) -> None:
        """End a worker that does not come to its end. The step that it is at is no failure: it had not the time."""
        assert slot.child is not None
        slot.child.kill()
        self._hear(slot)
        self._release_edges()
        if slot.over is None:
            place = self._crashes.place(slot.child.journal)
            where = f" in the middle of {place}" if place else ""
            self._union.note(f"A worker was ended{where}: the time was over.")
            self._end_report(slot, "")
            slot.over = "interrupted" if self._interrupted else "time"
        slot.child.close()

    def _close(self) -> None:
        for slot in self._slots:
            if slot.child is not None:
                slot.child.close()
        if self._relay is not None:
            self._relay.close()
        self._aftermath.close()

    # -- others -------------------------------------------------------------------------------------------------------

    def _join(self) -> None:
        if self._plan.meeting is None:
            return
        self._relay = Relay(self._plan.meeting, self._union)
        # What others have found already is known from the first run on.
        for edges, finds in self._relay.listen():
            self._union.add_edges(edges)
            self._given.finds += _native.decode_finds(finds, self._names)[0] if finds else []

    def _meet(self) -> None:
        """Hear what others have found, and tell them what was found here, without waiting for them."""
        if self._relay is None:
            return
        for edges, finds in self._relay.exchange():
            self._union.add_edges(edges)
            self._exchange.told(self._plan.workers, News(edges, finds), last=True)

    def _leave(self, failures: Sequence[Failure]) -> None:
        if self._relay is None:
            return
        for failure in failures:
            if failure.trace is not None and not failure.flaky:
                steps = len(failure.trace.taken_steps())
                self._relay.add_failure(FailureReport(failure.bucket, failure.trace.to_json(), steps, failure.count))
        self._relay.leave()

    # -- state --------------------------------------------------------------------------------------------------------

    def _share_runs(self) -> None:
        """Say how many runs each worker is to make. Those count that were made before, whoever made them."""
        for slot in self._slots:
            slot.runs = share_of_runs(self._settings.max_runs, self._union.given_runs, len(self._slots), slot.number)
            slot.runs_before = self._union.past(slot.number).runs

    def _write_down(self) -> None:
        """Have processes that make no run say what is known, in place of those that could not in the end."""
        if not self._state.is_wanted:
            return
        mute = [slot for slot in self._slots if slot.over is not None and not self._state.parts[slot.number]]
        with self._interruptible("The state lacks what some workers knew: that was interrupted."):
            now = time.monotonic()
            ends = [slot.over for slot in mute]
            for slot in mute:
                slot.over, slot.runs = None, slot.runs_before
                self._start(slot, now + GRACE_SECONDS)
            self._attend_until(now + GRACE_SECONDS, now)
            for slot, end in zip(mute, ends, strict=True):
                assert slot.child is not None
                slot.child.close()
                slot.over = end

    # -- what the user sees -------------------------------------------------------------------------------------------

    def _press(self) -> None:
        """Ctrl-C was pressed. The second time it ends all at once."""
        if self._interrupted:
            raise KeyboardInterrupt
        self._interrupted = True

    @contextmanager
    def _interruptible(self, note: str) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            self._press()
            self._union.note(note)

    def _stopped(self) -> StoppedReason:
        reasons = [slot.over for slot in self._slots if slot.over is not None]
        if self._interrupted:
            return "interrupted"
        for reason in ("stuck", "time", "max_runs", "patience"):
            if reason in reasons and (reason != "stuck" or set(reasons) == {"stuck"}):
                return reason
        return "time"

    def _elapsed(self) -> float:
        return self._state.seconds + time.monotonic() - self._started

    def _tell_of_progress(self) -> None:
        if self._settings.progress is None or self._interrupted:
            return
        tally = self._union.tally()
        elapsed = self._elapsed()
        self._settings.progress(
            ProgressSnapshot(
                elapsed=elapsed,
                total_runs=tally.runs,
                total_steps=tally.steps,
                unique_edges=len(self._union.edges),
                checkpoints=self._union.checkpoints,
                failures=len(self._union.findings),
                runs_per_second=tally.runs / elapsed if elapsed > 0 else 0.0,
            )
        )

    def _tell_of_shrinking(self, number: int, total: int, steps_before: int, steps: int, candidates: int) -> None:
        if self._settings.shrink_progress is not None:
            self._settings.shrink_progress(
                ShrinkSnapshot(self._elapsed(), number, total, steps_before, steps, candidates)
            )


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
