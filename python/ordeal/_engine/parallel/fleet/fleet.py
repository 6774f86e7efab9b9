"""Runs a fleet from the launcher's side: starts members, starts lost ones again, and makes one result of them all."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from ordeal._base.formatting import counted, one_line
from ordeal._engine.parallel.fleet.board import (
    LAUNCHER,
    STALE_SECONDS,
    Board,
    BoardError,
    Record,
    member_key,
    new_edges_an_hour,
    number_of,
    open_board,
    text_of,
)
from ordeal._engine.parallel.fleet.home import Arrivals
from ordeal._engine.parallel.fleet.launcher import FleetError, Launcher, launcher_for
from ordeal._engine.parallel.fleet.plan import FleetPlan
from ordeal.result import ExplorationResult, ProgressSnapshot, StoppedReason
from ordeal.result.parts import Note
from ordeal.store.open import shown_address

#: How often the launcher looks after its members, and how many records it reads at most in a second.
POLL_SECONDS = 0.25
RECORDS_PER_SECOND = 4000.0
#: How often the launcher says that it is there.
BEAT_SECONDS = 2.0
#: How often a member is started.
ATTEMPTS_MAX = 5
#: What members may take on top of their time: to shrink, and to report.
GRACE_SECONDS = 150.0
#: How long a scheduler may let members wait before they start.
QUEUE_SECONDS = 24 * 3600.0
#: A lost member is not started again with less time than this.
_WORTH_SECONDS = 3.0
_NOTES_MAX = 10
_NAMES_MAX = 5
_DONE = ("ended", "failed")
#: Why a member ended that was told to, by this launcher or by somebody else.
_STOPPED = "interrupted"


@dataclass(slots=True)
class FleetOutcome:
    """What the members of a fleet did, all together.

    ``stopped`` is why they all ended, or "time" if for several reasons. ``left`` when they go on without the launcher.
    """

    members: int
    seconds: float = 0.0
    runs: int = 0
    steps: int = 0
    lost: int = 0
    interrupted: bool = False
    stopped: StoppedReason = "time"
    left: bool = False
    notes: list[str] = field(default_factory=list)


class RunningFleet:
    """One fleet, from its start to its end. Owned by one thread."""

    def __init__(
        self,
        plan: FleetPlan,
        progress: Callable[[ProgressSnapshot], object] | None = None,
        *,
        launcher: Launcher | None = None,
        corpus: Path | None = None,
    ) -> None:
        """With ``corpus``, failures are confirmed here and saved in it while the fleet goes on."""
        self._plan = plan
        self._corpus = corpus
        self._arrivals: Arrivals | None = None
        self._progress = progress
        self._launcher = launcher or launcher_for(plan)
        self._board: Board | None = None
        self._outcome = FleetOutcome(members=plan.members)
        self._attempts = dict.fromkeys(range(plan.members), 0)
        self._started = self._beat_due = 0.0
        self._records: dict[str, Record] = {}
        self._former: list[str] = []
        self._past: dict[int, list[tuple[int, int]]] = {}

    def run(self) -> FleetOutcome:
        """Start all members, and return when the last has ended, or with Ctrl-C.

        Raises:
            FleetError: no member could explore, or there is another fleet of this name.
            StoreError: the store cannot be used.
        """
        plan = self._plan
        self._board = open_board(plan.store, plan.task.fleet)
        self._claim()
        self._started = time.monotonic()
        self._say("running", must=True)
        try:
            self._launcher.open()
            # A new member would go on where one of a former fleet of this name ended.
            for key in self._former:
                self._remove(key)
        except BaseException:
            self._remove(LAUNCHER)
            self._launcher.close(leave=False)
            raise
        self._started = time.monotonic()
        leave = False
        try:
            if self._corpus is not None:
                self._arrivals = Arrivals(plan, self._corpus)
            for number in self._attempts:
                self._start(number)
            self._wait()
        except KeyboardInterrupt:
            self._outcome.interrupted = True
            leave = self._outcome.left = plan.options.on_interrupt == "leave"
        finally:
            self._say("left" if leave else "stopping")
            self._close(leave=leave)
            self._look()
            if not leave:
                self._say("ended")
        return self._summed_up()

    def _close(self, *, leave: bool) -> None:
        arrivals, self._arrivals = self._arrivals, None
        try:
            self._launcher.close(leave=leave)
        except KeyboardInterrupt:
            # The second Ctrl-C: nothing is waited for any more.
            if arrivals is not None:
                arrivals.close(seconds=0.0)
            raise
        if arrivals is not None:
            arrivals.close()

    def _remove(self, key: str) -> None:
        assert self._board is not None
        with contextlib.suppress(BoardError):
            self._board.remove(key)

    def _claim(self) -> None:
        """Refuse a name that another launcher uses."""
        assert self._board is not None
        name = self._plan.task.fleet
        records = self._board.all()
        launcher = records.get(LAUNCHER, {})
        if text_of(launcher, "state") in ("running", "stopping", "left"):
            # Members may go on without it.
            alive = [each for each in records.values() if text_of(each, "state") in ("starting", "running")]
            if time.time() - max(number_of(each, "at") for each in (launcher, *alive)) < STALE_SECONDS:
                raise FleetError(
                    f"the fleet `{name}` runs already, started on {text_of(launcher, 'host') or 'another machine'}",
                    hint="write another `--fleet-name`, or stop it with `ordeal fleet stop URL --name " + name + "`",
                )
        self._former = [key for key in records if key != LAUNCHER]

    def _say(self, state: str, *, must: bool = False) -> None:
        assert self._board is not None
        plan = self._plan
        record = {
            "state": state,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "on": plan.kind,
            "members": plan.members,
            "class": plan.task.test_class,
            "seconds": plan.task.seconds,
            "elapsed": time.monotonic() - self._started,
        }
        self._beat_due = time.monotonic() + BEAT_SECONDS
        try:
            self._board.put(LAUNCHER, record)
        except BoardError as error:
            if must:
                message = f"the store cannot be written: {one_line(error.message)}"
                hint = "free some space, or name a store that this user may write"
                raise FleetError(message, hint=hint) from error
            self._note(f"The store could not be written for a while: {one_line(error.message).rstrip('.')}.")

    def _start(self, number: int) -> None:
        self._attempts[number] += 1
        left = self._plan.task.seconds - (time.monotonic() - self._started)
        self._launcher.start(replace(self._plan.task, seconds=max(1.0, left)), number, self._attempts[number])

    def _wait(self) -> None:
        plan = self._plan
        deadline = self._started + plan.task.seconds + GRACE_SECONDS
        if plan.on_batch:
            deadline += QUEUE_SECONDS
        looked_at, look_due = set[int](), 0.0
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            # A member says how it ended before it ends: so its record is read afterwards.
            running = self._launcher.running()
            if running != looked_at or time.monotonic() >= look_due:
                self._look()
                looked_at, look_due = running, time.monotonic() + plan.members / RECORDS_PER_SECOND
            if time.monotonic() >= self._beat_due:
                if self._is_told_to_stop():
                    self._outcome.interrupted = True
                    return
                self._say("running")
            states = {number: text_of(self._record(number), "state") for number in self._attempts}
            gone = [number for number in self._attempts if number not in running and states[number] not in _DONE]
            for number in gone:
                self._replace(number)
            waited_for = {number for number in running if not (plan.on_batch and self._is_done(number))}
            if not waited_for and (plan.on_batch or not self._launcher.running()):
                return
            self._tell()
        self._note("The members took longer than they may, and were stopped.")

    def _is_done(self, number: int) -> bool:
        """Return whether a member has ended by itself; a scheduler that ended it may start it again."""
        record = self._record(number)
        return text_of(record, "state") in _DONE and text_of(record, "stopped") != _STOPPED

    def _is_told_to_stop(self) -> bool:
        """Return whether `ordeal fleet stop` has written over the launcher's record."""
        assert self._board is not None
        try:
            record = self._board.get(LAUNCHER)
        except BoardError:
            return False
        return record is not None and text_of(record, "state") == "stopping"

    def _replace(self, number: int) -> None:
        """Start a lost member again, as often as it is worth it."""
        attempt = self._attempts[number]
        record = self._record(number)
        if attempt == 0 or number_of(record, "attempt") == -1:
            return
        left = self._plan.task.seconds - (time.monotonic() - self._started)
        if text_of(record, "state") and number_of(record, "attempt") in (0, attempt):
            self._past.setdefault(number, []).append((int(number_of(record, "runs")), int(number_of(record, "steps"))))
        self._outcome.lost += 1
        host = text_of(record, "host")
        where = f" on {host}" if host else ""
        if not self._launcher.restarts or attempt >= ATTEMPTS_MAX or left < _WORTH_SECONDS:
            self._attempts[number] = 0
            self._note(f"Member {number}{where} was lost.")
            return
        self._note(f"Member {number}{where} was lost, and started again.")
        self._start(number)

    def _note(self, text: str) -> None:
        notes = self._outcome.notes
        if text not in notes and len(notes) < _NOTES_MAX:
            notes.append(text)

    def _record(self, number: int) -> Record:
        return self._records.get(member_key(number), {})

    def _look(self) -> None:
        assert self._board is not None
        try:
            self._records = self._board.all()
        except BoardError as error:
            self._note(f"The store was away for a while: {one_line(error.message).rstrip('.')}.")

    def _sum(self, name: str, place: int) -> int:
        past = sum(attempt[place] for attempts in self._past.values() for attempt in attempts)
        current = sum(
            int(number_of(self._record(number), name) + number_of(self._record(number), f"past_{name}"))
            for number in self._attempts
            if self._attempts[number]
        )
        return past + current

    def _tell(self) -> None:
        if self._arrivals is not None:
            self._arrivals.look()
        if self._progress is None:
            return
        records = [self._record(number) for number in self._attempts]
        self._progress(
            ProgressSnapshot(
                elapsed=time.monotonic() - self._started,
                total_runs=self._sum("runs", 0),
                total_steps=self._sum("steps", 1),
                unique_edges=max((int(number_of(each, "edges")) for each in records), default=0),
                checkpoints=0,
                failures=max((int(number_of(each, "failures")) for each in records), default=0),
                found=() if self._arrivals is None else self._arrivals.found,
                runs_per_second=sum(number_of(each, "rate") for each in records if text_of(each, "state") == "running"),
            )
        )

    def _summed_up(self) -> FleetOutcome:
        outcome = self._outcome
        outcome.seconds = time.monotonic() - self._started
        outcome.runs, outcome.steps = self._sum("runs", 0), self._sum("steps", 1)
        reasons = {text_of(self._record(number), "stopped") for number in self._attempts}
        outcome.stopped = next((each for each in get_args(StoppedReason) if reasons == {each}), "time")
        failed = {
            number: record for number in self._attempts if text_of(record := self._record(number), "state") == "failed"
        }
        silent = [number for number in self._attempts if not self._record(number)]
        if failed and len(failed) + len(silent) == outcome.members:
            record = next(iter(failed.values()))
            error, hint = text_of(record, "error"), one_line(text_of(record, "hint"))
            hint = hint or f"`ordeal fleet logs {shown_address(self._plan.store)}` says more"
            if "ModuleNotFoundError" in error:
                # Here it could be imported.
                hint = f"install what is missing where the members run, as on {text_of(record, 'host')}; there {hint}"
            raise FleetError(f"no member could explore: {error}", hint=hint)
        if len(silent) == outcome.members and not outcome.interrupted:
            raise FleetError(
                f"none of {counted(outcome.members, 'member')} reached the store"
                + (f": {self._launcher.trouble}" if self._launcher.trouble else ""),
                hint=self._launcher.hint,
            )
        if left_out := self._launcher.left_out:
            shown = ", ".join(map(one_line, left_out[:_NAMES_MAX])) + ", ..." * (len(left_out) > _NAMES_MAX)
            self._note(f"Not sent to the members, as they may hold secrets: {shown}.")
        if absences := self._launcher.absences:
            times = "once" if absences == 1 else f"{absences} times"
            self._note(f"The cluster was away {times}.")
        for number in self._attempts:
            record = self._record(number)
            if restarts := int(number_of(record, "restarts")):
                times = "once" if restarts == 1 else f"{restarts} times"
                self._note(f"Member {number} was started again by the scheduler, {times}.")
            if text_of(record, "stopped") == _STOPPED and not outcome.interrupted:
                self._note(f"Member {number} was stopped by something else; what it had found was kept.")
        left = new_edges_an_hour(self._records[each] for each in self._records if each != LAUNCHER)
        if left is not None:
            self._note(
                f"Going on, all members together would find at most {max(1.0, left):,.0f} new edges an hour "
                "(95% confidence)."
            )
        for number, record in failed.items():
            self._note(f"Member {number} could not explore: {text_of(record, 'error')}.")
        return outcome


def fleet_result(
    result: ExplorationResult,
    outcome: FleetOutcome,
    edges: int,
    wrong: list[str],
    *,
    kept: bool,
    seeds: Collection[str] = (),
) -> ExplorationResult:
    """Return ``result``, which confirmed the failures, with the figures of the fleet and ``edges`` of its store.

    ``wrong`` is what was refused on the way, and ``seeds`` are the files that were there before. Without ``kept``, they
    are gone by now, and nothing names them.
    """
    summary = f"Explored by a fleet of {counted(outcome.members, 'member')}"
    summary += f", of which {outcome.lost} {'was' if outcome.lost == 1 else 'were'} lost." if outcome.lost else "."
    if outcome.left:
        summary += " They go on: `ordeal fleet status` shows how."
    refused = [f"Not brought home: {each}." for each in wrong]
    remarks = {use.remark() for use in result.faults}
    failures = result.failures if kept else [dataclasses.replace(each, seed_path=None) for each in result.failures]
    return dataclasses.replace(
        result,
        failures=failures,
        total_runs=outcome.runs,
        total_steps=outcome.steps,
        unique_edges=edges,
        duration_seconds=outcome.seconds,
        stopped_reason="interrupted" if outcome.interrupted else outcome.stopped,
        # What follows is of the one run here, which says nothing of the members'.
        discovery=None,
        coverage_gaps=[],
        lines_covered=0,
        lines_total=0,
        missed_lines={},
        covered_lines={},
        run_kinds={},
        faults=[],
        rules=[],
        checkpoints=None,
        inconclusive=None,
        seed_replays=[each for each in result.seed_replays if each.path in seeds],
        notes=(
            *(each for each in result.notes if each not in remarks),
            *map(Note, [summary, *outcome.notes, *refused]),
        ),
    )
