"""Runs a fleet from the launcher's side: starts members, starts lost ones again, and makes one result of them all."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import get_args

import msgspec.structs

from ordeal._base.formatting import counted, one_line
from ordeal._base.limits import LISTED_MAX
from ordeal._engine.parallel.fleet.board import (
    LAUNCHER,
    STALE_SECONDS,
    Board,
    BoardError,
    Record,
    member_key,
    member_state,
    number_of,
    runs_other_code,
    text_of,
    total_of,
)
from ordeal._engine.parallel.fleet.launcher import FleetError, Launcher, launcher_for
from ordeal._engine.parallel.fleet.plan import FleetPlan
from ordeal.result import ExplorationResult, ProgressSnapshot, StoppedReason
from ordeal.result.parts import Note
from ordeal.store.open import shown_address

#: Seconds between two checks of members, and between two exchanges of records, by the launcher.
POLL_SECONDS = 0.25
BEAT_SECONDS = 2.0
#: The pauses before the second and each further start of such a row; after the last one, a member is given up. A node
#: without what members need is known after half a minute. Ray gives a node that died new tasks for as long as a quarter
#: of a minute.
PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
#: Seconds that members may take on top of their time, to shrink and to report.
GRACE_SECONDS = 150.0
#: A lost member is not started again with less time than this: some two seconds pass until its first run.
_WORTH_SECONDS = 3.0
_DONE = ("ended", "failed")
#: Why a member ended on request, of this launcher or of another process.
_STOPPED = "interrupted"


@dataclass(slots=True)
class FleetOutcome:
    """What the members of a fleet did together.

    ``stopped`` is why they all ended, or "time" if for several reasons.
    """

    members: int
    seconds: float = 0.0
    runs: int = 0
    steps: int = 0
    lost: int = 0
    interrupted: bool = False
    stopped: StoppedReason = "time"
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Member:
    """A member as its launcher knows it. All times are those of the launcher's clock.

    ``due`` is when it is started again, None while it runs; ``is_given_up`` that it is not.
    """

    number: int
    attempt: int = 0
    started: float = 0.0
    losses: int = 0
    due: float | None = 0.0
    is_given_up: bool = False
    record: Record = field(default_factory=dict)

    @property
    def state(self) -> str:
        return text_of(self.record, "state")

    @property
    def is_done(self) -> bool:
        return self.is_given_up or self.state in _DONE


class RunningFleet:
    """One fleet, from its start to its end. Owned by one thread."""

    def __init__(
        self,
        plan: FleetPlan,
        progress: Callable[[ProgressSnapshot], object] | None = None,
        *,
        launcher: Launcher | None = None,
        code: str = "",
    ) -> None:
        """``code`` identifies what is explored here: members with other code share nothing."""
        self._plan = plan
        self._code = code
        self._progress = progress
        self._launcher = launcher or launcher_for(plan)
        self._board: Board
        self._outcome = FleetOutcome(members=plan.members)
        self._members = [_Member(number) for number in range(plan.members)]
        self._began = time.time()
        self._started = self._beat_due = 0.0
        self._away_at, self._is_away = -1.0, False
        self._is_claimed = False

    def run(self) -> FleetOutcome:
        """Start all members, and return when the last has ended, or with Ctrl-C.

        Raises:
            FleetError: no member could explore, or there is another fleet of this name.
            StoreError: the store cannot be used.
        """
        plan = self._plan
        self._board = Board(plan.store, plan.task.fleet)
        self._started = time.monotonic()
        try:
            former = self._claim()
            self._say("running")
        except BoardError as error:
            message = f"the store cannot be written: {one_line(error.message)}"
            raise FleetError(message, hint="free some space, or name a store that this user may write") from error
        self._is_claimed = True
        try:
            self._launcher.open()
            # A new member would go on where one of a former fleet of this name ended.
            for key in former:
                self._remove(key)
        except BaseException:
            self._remove(LAUNCHER)
            self._launcher.close()
            raise
        self._started = time.monotonic()
        try:
            self._say("running")
            for member in self._members:
                self._start(member)
            self._wait()
        except KeyboardInterrupt:
            self._outcome.interrupted = True
        finally:
            self._say("stopping")
            self._launcher.close()
            self._look()
            self._say("ended")
        return self._summed_up()

    def _remove(self, key: str) -> None:
        with contextlib.suppress(BoardError):
            self._board.remove(key)

    def _claim(self) -> list[str]:
        """Refuse a name that another launcher uses. Return the keys of a former fleet of this name."""
        name = self._plan.task.fleet
        self._board.begin()
        records = self._board.all()
        launcher = records.pop(LAUNCHER, {})
        if text_of(launcher, "state") in ("running", "stopping", "left"):
            # Members may go on without it.
            alive = [each for each in records.values() if text_of(each, "state") in ("starting", "running")]
            if time.time() - max(number_of(each, "at") for each in (launcher, *alive)) < STALE_SECONDS:
                raise FleetError(
                    f"the fleet `{name}` runs already, started on {text_of(launcher, 'host') or 'another computer'}",
                    hint="write another `--fleet-name`, or stop it with `ordeal fleet stop URL --name " + name + "`",
                )
        return list(records)

    def _say(self, state: str) -> None:
        """Write the record of the launcher."""
        plan = self._plan
        elapsed = time.monotonic() - self._started
        self._beat_due = time.monotonic() + BEAT_SECONDS
        record = {
            "state": state,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "on": plan.kind,
            "members": plan.members,
            "class": plan.task.test_class,
            "seconds": plan.task.seconds,
            "began": self._began,
            "elapsed": elapsed,
            "code": self._code,
        }
        if not plan.on_batch:
            # By the launcher's clock, for members that start much later; in a queue, the time of a member begins late.
            record["left"] = max(0.0, plan.task.seconds - elapsed)
        self._put(LAUNCHER, record)

    def _start(self, member: _Member) -> None:
        member.attempt += 1
        member.started, member.due = time.monotonic(), None
        # What former attempts have done stays in the record, and the member takes it up.
        member.record = {**member.record, "state": "waiting", "attempt": member.attempt}
        self._put(member_key(member.number), member.record)
        self._launcher.start(member.number, member.attempt)

    def _put(self, key: str, record: Record) -> None:
        try:
            self._board.put(key, record)
        except BoardError as error:
            if not self._is_claimed:
                raise
            self._note_away(error)

    def _wait(self) -> None:
        plan = self._plan
        deadline = self._started + plan.task.seconds + GRACE_SECONDS
        if plan.on_batch:
            deadline += 24 * 3600.0  # a scheduler may let members wait for a day
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            # A member says how it ended before it ends: so its record is read afterwards.
            running = self._launcher.running()
            is_due = time.monotonic() >= self._beat_due
            if is_due or any(each.number not in running and not each.is_done for each in self._members):
                self._look()
            if is_due:
                with contextlib.suppress(BoardError):
                    # `ordeal fleet stop` writes over the launcher's record.
                    if text_of(self._board.get(LAUNCHER), "state") == "stopping":
                        self._outcome.interrupted = True
                        return
                self._say("running")
            for member in self._members:
                if member.number not in running and not member.is_done:
                    self._look_after(member)
            waits = [each for each in self._members if each.number in running or not each.is_done]
            if plan.on_batch:
                # A scheduler that ended a member may start it again.
                waits = [
                    each for each in waits if each.state not in _DONE or text_of(each.record, "stopped") == _STOPPED
                ]
            if not waits:
                return
            if self._progress is not None:
                records, now = [member.record for member in self._members], time.time()
                rates = [number_of(each, "rate") for each in records if member_state(each, now) == "running"]
                self._progress(
                    ProgressSnapshot(
                        elapsed=time.monotonic() - self._started,
                        total_runs=sum(total_of(each, "runs") for each in records),
                        total_steps=sum(total_of(each, "steps") for each in records),
                        unique_edges=max((int(number_of(each, "edges")) for each in records), default=0),
                        checkpoints=0,
                        failures=max((int(number_of(each, "failures")) for each in records), default=0),
                        runs_per_second=sum(rates),
                    )
                )
        self._note("The members took longer than they may, and were stopped.")

    def _look_after(self, member: _Member) -> None:
        """Start a member again that is lost, or was lost and had to wait; give it up where that helps nothing."""
        now = time.monotonic()
        left = self._plan.task.seconds - (now - self._started)
        if self._is_away and left >= _WORTH_SECONDS:
            return
        if member.due is None:
            self._outcome.lost += 1
            # While the store is away, a member can do nothing but end.
            # A member that is lost later than this after its start begins a new row of losses.
            if now - member.started > 60.0 or self._away_at >= member.started:
                member.losses = 0
            member.losses += 1
            if not self._launcher.restarts or member.losses > len(PAUSES) or left < _WORTH_SECONDS:
                self._give_up(member)
                return
            member.due = now + PAUSES[member.losses - 1]
        if left < _WORTH_SECONDS:
            self._give_up(member)
        elif now >= member.due:
            self._note(f"{self._shown(member)} was lost, and started again.")
            self._start(member)

    def _give_up(self, member: _Member) -> None:
        member.is_given_up = True
        member.record = {**member.record, "state": "lost"}
        self._put(member_key(member.number), member.record)
        self._note(f"{self._shown(member)} was lost.")

    @staticmethod
    def _shown(member: _Member) -> str:
        host = text_of(member.record, "host")
        return f"Member {member.number} on {host}" if host else f"Member {member.number}"

    def _note(self, text: str) -> None:
        notes = self._outcome.notes
        if text not in notes and len(notes) < LISTED_MAX:
            notes.append(text)

    def _note_away(self, error: BoardError) -> None:
        self._note(f"The store was away for a while: {one_line(error.message).rstrip('.')}.")

    def _look(self) -> None:
        try:
            records = self._board.all()
        except BoardError as error:
            self._away_at, self._is_away = time.monotonic(), True
            self._note_away(error)
            return
        self._is_away = False
        for member in self._members:
            found = records.get(member_key(member.number))
            # A record that is gone was in a store that has lost its memory.
            if found is not None and not member.is_given_up:
                member.record = found

    def _summed_up(self) -> FleetOutcome:
        outcome = self._outcome
        outcome.seconds = time.monotonic() - self._started
        outcome.runs = sum(total_of(member.record, "runs") for member in self._members)
        outcome.steps = sum(total_of(member.record, "steps") for member in self._members)
        reasons = {text_of(member.record, "stopped") for member in self._members}
        outcome.stopped = next((each for each in get_args(StoppedReason) if reasons == {each}), "time")
        self._check_explored()
        if left_out := self._launcher.left_out:
            shown = [f"{one_line(name)} ({why})" for name, why in list(left_out.items())[:LISTED_MAX]]
            self._note(f"Not sent to the members: {', '.join(shown)}{', ...' * (len(left_out) > LISTED_MAX)}.")
        if absences := self._launcher.absences:
            self._note(f"The cluster was away {_times(absences)}.")
        others = [self._shown(each) for each in self._members if runs_other_code(each.record, {"code": self._code})]
        if others:
            shown_others = ", ".join(others[:LISTED_MAX]) + ", ..." * (len(others) > LISTED_MAX)
            self._note(f"Explored other code than is here, and shared nothing: {shown_others}. Update it there.")
        for member in self._members:
            if restarts := int(number_of(member.record, "restarts")):
                self._note(f"Member {member.number} was started again by the scheduler, {_times(restarts)}.")
            if text_of(member.record, "stopped") == _STOPPED and not outcome.interrupted:
                self._note(f"Member {member.number} was stopped by something else; what it had found was kept.")
            if member.state == "failed":
                self._note(f"Member {member.number} could not explore: {text_of(member.record, 'error')}.")
        return outcome

    def _check_explored(self) -> None:
        """Raise FleetError if no member could explore."""
        failed = [member.record for member in self._members if member.state == "failed"]
        # Each member that has reached the store says where it is.
        silent = [each for each in self._members if not text_of(each.record, "host") and each.state not in _DONE]
        if failed and len(failed) + len(silent) == len(self._members):
            error, hint = text_of(failed[0], "error"), one_line(text_of(failed[0], "hint"))
            hint = hint or f"`ordeal fleet logs {shown_address(self._plan.store)}` says more"
            if "ModuleNotFoundError" in error:
                # Here it could be imported.
                hint = (
                    f"install what is missing where the members run, as on {text_of(failed[0], 'host')}; there {hint}"
                )
            raise FleetError(f"no member could explore: {error}", hint=hint)
        if self._outcome.interrupted:
            return
        if len(silent) == len(self._members):
            message = f"none of {counted(len(silent), 'member')} reached the store"
            trouble = self._launcher.trouble
            raise FleetError(f"{message}: {trouble}" if trouble else message, hint=self._launcher.hint)
        if not self._outcome.runs and all(text_of(each.record, "stopped") == "time" for each in self._members):
            message = f"no member made a run in the {self._plan.task.seconds:g} s of the fleet"
            raise FleetError(message, hint="write a longer `--max-time`, or fewer `--members` than there are CPUs")


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


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
    summary += f"; {outcome.lost} {'was' if outcome.lost == 1 else 'were'} lost." if outcome.lost else "."
    refused = [f"Not brought home: {each}." for each in wrong]
    remarks = {use.remark() for use in result.faults}
    # All else that the result says is of the one run here.
    return ExplorationResult(
        test_class=result.test_class,
        rng_seed=result.rng_seed,
        total_runs=outcome.runs,
        total_steps=outcome.steps,
        unique_edges=edges,
        checkpoints_saved=0,
        duration_seconds=outcome.seconds,
        failures=result.failures
        if kept
        else [msgspec.structs.replace(each, seed_path=None) for each in result.failures],
        traces=result.traces,
        seed_replays=[each for each in result.seed_replays if each.path in seeds],
        properties=result.properties,
        stopped_reason="interrupted" if outcome.interrupted else outcome.stopped,
        notes=(
            *(each for each in result.notes if each not in remarks),
            *map(Note, [summary, *outcome.notes, *refused]),
        ),
        target_modules=result.target_modules,
        imported_modules=result.imported_modules,
        known=result.known,
    )
