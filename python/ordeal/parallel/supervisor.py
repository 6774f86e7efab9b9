"""Explores in several processes: starts workers, passes on what they find, and takes note of how they end."""

from __future__ import annotations

import dataclasses
import functools
import os
import sys
import time
import unittest
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from ordeal import _native, errors
from ordeal.bucket import traceback_text
from ordeal.child_process import Child, Limits, wait_for
from ordeal.crashes import CrashReader, Stall
from ordeal.driver import Driver
from ordeal.errors import OrdealError, StateError
from ordeal.findings import Finding
from ordeal.parallel.aftermath import Aftermath
from ordeal.parallel.exchange import AsItComes, Exchange, InRounds, News, Sharing
from ordeal.parallel.jobs import Bench
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
from ordeal.parallel.union import Union
from ordeal.parallel.worker import Board, ByClock, ByRuns, Part, Place, Schedule, settings_of, share_of_runs, work
from ordeal.parallel.working_folder import WorkingFolder
from ordeal.process_channel import ChannelError, Value
from ordeal.property_watch import PropertyWatch
from ordeal.reporting import counted
from ordeal.result import ExplorationResult, Failure, ProgressSnapshot, ShrinkSnapshot, StoppedReason
from ordeal.result_making import make_result
from ordeal.saver import (
    NOT_SAVED,
    check_same_exploration,
    check_what_applies,
    dropped_text,
    machine_names,
    session_seed,
)
from ordeal.settings import Settings
from ordeal.state_file import check_writable, damaged, join_part, read_state, split_part, write_state
from ordeal.store import FailureReport
from ordeal.targets import Target
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
class _Slot:
    """The place of one worker, which a new process takes when the one before has ended in the middle of a run."""

    number: int
    runs: int | None  # those of all its processes together
    child: Child | None = None
    stall: Stall | None = None
    waits: bool = False  # for what others have found
    incarnation: int = 0
    runs_before: int = 0  # of the processes before this one
    false_starts: int = 0
    part: bytes = b""  # what it knew when it said so last
    seed: int | None = None  # of the session that it goes on with
    over: StoppedReason | None = None


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
        self._slots = [
            _Slot(number, share_of_runs(settings.max_runs, plan.workers, number)) for number in range(plan.workers)
        ]
        # Where the number of runs decides when it ends, what is found must not hang on a clock; others have theirs.
        self._in_rounds = settings.max_runs is not None and plan.meeting is None
        self._exchange: Exchange = InRounds(plan.workers) if self._in_rounds else AsItComes(plan.workers)
        self._relay: Relay | None = None
        self._board = Board(plan.workers)
        self._given: list[_native.Find] = []  # of a state that workers of another number saved
        self._started = 0.0
        self._seconds_before = 0.0
        self._interrupted = False
        self._folder = WorkingFolder(self._union.note)
        self._aftermath = Aftermath(self._bench, self._union, self._folder, plan.workers)

    def run(self) -> ExplorationResult:
        """Explore until time, runs or patience are used up or Ctrl-C is pressed, then shrink and report.

        A second Ctrl-C ends all at once, with KeyboardInterrupt.
        """
        self._started = time.monotonic()
        if self._settings.save_state_to is not None:
            check_writable(self._settings.save_state_to)
        self._resume()
        watch = PropertyWatch()
        try:
            self._join()
            with self._interruptible("Not all seeds were replayed: that was interrupted."):
                self._aftermath.replay_seeds()
            if not self._interrupted:
                self._search()
            self._write_down()
            self._save()
            self._take_in_parts()
            self._meet()
            failures = self._aftermath.judge(
                shrink=not self._interrupted,
                may_shrink=None if self._relay is None else self._relay.lease,
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
        settings = self._settings
        number = slot.number
        runs = None if slot.runs is None else slot.runs - slot.runs_before
        given, edges = self._given, sorted(self._union.edges) if slot.incarnation or self._given else []
        if slot.incarnation:
            slot.seed = None
            given = given + self._finds()
        part = Part(
            settings=settings_of(settings, self._place_of(slot), slot.seed, runs, deadline - time.monotonic()),
            driver=self._driver,
            targets=self._targets,
            schedule=self._schedule(slot),
            board=self._board,
            number=number,
            hurries=self._plan.sharing.checkpoints and (len(self._slots) > 1 or self._relay is not None),
            edges=edges if self._plan.sharing.edges or slot.incarnation else [],
            finds=given,
            known=[dataclasses.replace(finding, count=0) for finding in self._union.findings.values()],
            state=slot.part if not slot.incarnation else b"",
            saves=settings.save_state_to is not None,
        )
        slot.part = b"" if slot.incarnation else slot.part
        self._board.runs[number] = self._board.steps[number] = 0
        self._folder.restore()
        slot.child = Child(lambda channel, journal: work(part, channel, journal), self._bench.limits)
        slot.stall = Stall(slot.child.journal, self._driver.rule_timeout)
        slot.waits = False

    def _place_of(self, slot: _Slot) -> Place:
        return Place(0 if self._relay is None else self._relay.member, slot.number, slot.incarnation)

    def _schedule(self, slot: _Slot) -> Schedule:
        # One that is alone hears nothing: when it tells how far it is changes no run.
        return ByRuns(slot.runs_before) if self._in_rounds and len(self._slots) > 1 else ByClock()

    def _finds(self) -> list[_native.Find]:
        """What a process that takes the place of another is to know of what was found before it."""
        return [find for each in self._union.finds for find in _native.decode_finds(each, self._names)[0]]

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
            (slot.part,) = _bytes(values)
            self._save_when_complete()
        elif kind == DONE:
            ended, *news, part = values
            self._take_news(slot, news, last=True)
            (slot.part,) = _bytes([part])
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
        self._union.add_finds(edges, found)
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
        finding.origin = dataclasses.replace(finding.origin, run_id=self._number_of(slot, finding.origin.run_id))
        finding.count = 0  # what the worker counts it tells in its reports
        self._union.add_finding(finding)

    def _number_of(self, slot: _Slot, run: int) -> int:
        """The number of a run among those of all workers, who take turns in it; of one alone it is its own."""
        return (slot.runs_before + run - 1) * len(self._slots) + slot.number + 1

    def _answer(self) -> None:
        for number, news in self._exchange.answers():
            slot = self._slots[number]
            child, slot.waits = slot.child, False
            assert child is not None
            assert slot.stall is not None
            slot.stall.begin()
            edges = [key for each in news for key in each.edges]
            finds = [each.finds for each in news if each.finds]
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
            origin = Origin(run_id=self._number_of(slot, runs), checkpoint=0, swarm=None, edges=0)
            finding = Finding(crash.bucket, crash.tape, origin, crash.error, count=0)
            finding.error_traceback = traceback_text(crash.error)
            self._union.add_finding(finding)
        elif child.death.is_unknown:
            self._union.note("A worker was replaced: the process that guards it was killed.")
        else:
            self._union.note(f"A worker ended ({_how(child)}) while it ran no code of yours, and was replaced.")
        self._end_report(slot, crash.bucket if crash is not None else "")
        slot.false_starts = 0 if runs else slot.false_starts + 1
        slot.runs_before += runs
        slot.incarnation += 1
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

    def _cut_off(self, slot: _Slot) -> None:
        """End a worker that does not come to its end. The step that it is at is no failure: it had not the time."""
        assert slot.child is not None
        slot.child.kill()
        self._hear(slot)
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
            self._union.add_finds(edges, finds)
            self._given += _native.decode_finds(finds, self._names)[0] if finds else []

    def _meet(self) -> None:
        """Hear what others have found, and tell them what was found here, without waiting for them."""
        if self._relay is None:
            return
        for edges, finds in self._relay.exchange():
            self._union.add_finds(edges, finds)
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

    def _resume(self) -> None:
        path = self._settings.resume_from
        if path is None:
            return
        parts = read_state(path)
        same = len(parts) == len(self._slots)
        for number, (header, engine) in enumerate(parts):
            check_same_exploration(path, header, self._settings)
            try:
                loaded = _native.decode_state(engine, self._names)
                if not same:
                    check_what_applies(path, loaded)
                    if loaded.tapes_dropped:
                        self._union.note(dropped_text(loaded))
                    self._union.add_part(header, loaded)
                    self._given += loaded.finds()
                else:
                    self._union.add_findings(header, loaded)
                    self._slots[number].part = join_part(header, engine)
                    self._slots[number].seed = session_seed(header)
            except (ValueError, TypeError, OverflowError, ChannelError) as error:
                raise damaged(path, error) from error
            self._seconds_before = max(self._seconds_before, header.seconds)
        if not same:
            self._union.note(
                f"The resumed state is one of {counted(len(parts), 'worker')}: its {len(self._slots)} now share it."
            )
            self._reduce_runs()

    def _reduce_runs(self) -> None:
        """What was run before counts, whoever ran it."""
        if self._settings.max_runs is None:
            return
        left = max(0, self._settings.max_runs - self._union.tally().runs)
        for slot in self._slots:
            slot.runs = share_of_runs(left, len(self._slots), slot.number)

    def _save_when_complete(self) -> None:
        if all(slot.part for slot in self._slots):
            self._save()

    def _write_down(self) -> None:
        """Have processes that make no run say what is known, in place of those that could not in the end."""
        mute = [slot for slot in self._slots if slot.over is not None and not slot.part]
        if self._settings.save_state_to is None:
            return
        with self._interruptible("The state lacks what some workers knew: that was interrupted."):
            now = time.monotonic()
            ends = [slot.over for slot in mute]
            for slot in mute:
                slot.over, slot.runs = None, slot.runs_before
                slot.incarnation += 1
                self._start(slot, now + GRACE_SECONDS)
            self._attend_until(now + GRACE_SECONDS, now)
            for slot, end in zip(mute, ends, strict=True):
                assert slot.child is not None
                slot.child.close()
                slot.over = end

    def _save(self) -> None:
        path = self._settings.save_state_to
        parts = [slot.part for slot in self._slots if slot.part]
        if path is None:
            return
        self._union.notes = [text for text in self._union.notes if not text.startswith(NOT_SAVED)]
        if not parts:
            self._union.note(f"{NOT_SAVED}: no worker could say what it knew.")
            return
        self._folder.restore()
        try:
            write_state(path, parts)
        except StateError as error:
            self._union.note(f"{NOT_SAVED}: {error.message}.")

    def _take_in_parts(self) -> None:
        for slot in self._slots:
            if not slot.part:
                continue
            try:
                header, engine = split_part(slot.part)
                loaded = _native.decode_state(engine, self._names)
                self._union.add_part(header, loaded, number_of=functools.partial(self._number_of, slot))
            except (ValueError, TypeError, OverflowError, ChannelError) as error:
                self._union.note(f"What a worker knew in the end was not read: {error}.")

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
        return self._seconds_before + time.monotonic() - self._started

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
