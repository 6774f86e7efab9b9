"""Returns runs to checkpoints: by copies of states, by running steps again, or from processes that hold states."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, override

import msgspec
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._base.memory_limit import bytes_left, resident_bytes
from ordeal._base.untrusted import type_name
from ordeal._engine.execution.driver import BODY, FAULT_OFF, FAULT_ON, Outcome, RunListener, Status, unpacked
from ordeal._engine.execution.fork_messages import ForkedRunResult
from ordeal._engine.execution.fork_server import (
    ForkedRunListener,
    ForkServer,
    RunEnvironment,
    refusal,
    start_fork_server,
)
from ordeal._engine.execution.snapshot import Snapshot, SnapshotError, Snapshots
from ordeal._engine.isolation.channel import ChannelError
from ordeal._engine.isolation.shared_files import Opened, shared_files
from ordeal._engine.search.state import SearchProgress
from ordeal._hypothesis.run_context import RunContext
from ordeal._native import monotonic
from ordeal.chaos import ChaosTest, overrides
from ordeal.config.options import CheckpointKind

#: Each is a process, which costs memory where its state differs from others.
FORK_SERVERS_MAX = 16
#: A state to which no run has returned yet is copied if going there takes as long as this many copies.
COPIES_AHEAD = 16
#: How much memory the process may gain with its copies, in bytes, and as a share of what a limit leaves. The rest is
#: for the rules.
COPIES_BYTES_MAX = 1 << 30
COPIES_SHARE_MAX = 1 / 4
#: After at most this many copies this is checked, and earlier if fewer copies as large as the last ones still fit.
LOOK_PERIOD = 16


class KeptState(NamedTuple):
    """A copy of the state after ``steps`` steps of a run."""

    snapshot: Snapshot
    steps: int


class Checkpoints:
    """The kept states, by checkpoint, in the way that suits the class. Used by one exploration.

    ``wanted`` is the kind that the user asks for: with ``auto``, states are copied until one cannot be copied or
    behaves unlike the steps that led to it. From then on steps run again, or, if that is expensive, processes hold
    states. What is explored is the same with each kind, as long as runs depend only on the state of the machine.
    Whether it is expensive is decided ``by_steps`` or by the clock.

    Attributes:
        mark_restored: called when a run begins with a copy.
        mark_copying: called before and after each copy: what objects do then is not a step, and may end the process.
    """

    def __init__(
        self,
        wanted: CheckpointKind,
        environment: RunEnvironment,
        snapshots: Snapshots,
        progress: SearchProgress,
        *,
        by_steps: bool,
    ) -> None:
        self._wanted = wanted
        self._by_steps = by_steps
        self._environment = environment
        self._snapshots = snapshots
        self._progress = progress
        self._copies: dict[int, Snapshot] = {}
        self._paid: dict[int, tuple[int, float]] = {}  # what returning to a checkpoint has taken: steps, seconds
        self._fork_servers: OrderedDict[int, ForkServer] = OrderedDict()
        self._name = environment.driver.definition.cls.__name__
        self._returns = self._steps_returned = 0
        self._seconds_returned = 0.0
        self._held = 0  # fork servers that were started
        self._seconds_held = 0.0  # what that took
        self._copied_states = 0
        self._seconds_copied = 0.0  # what that took
        self._policy = _native.RunPolicy()
        self._may_fork = wanted in ("auto", "fork")
        self._complaint = ""
        self._shared_before: dict[Opened, str] = {}
        self._bytes_before = self._bytes_at_look = resident_bytes()
        left = bytes_left()
        self._bytes_max = COPIES_BYTES_MAX if left is None else min(COPIES_BYTES_MAX, int(left * COPIES_SHARE_MAX))
        self._until_look = self._look_period = 1
        self.mark_copying: Callable[[bool], object] = lambda _copying: None
        self.mark_restored: Callable[[], object] = lambda: None

    @contextmanager
    def open(self) -> Iterator[None]:
        """Start with the wanted kind, or the one that an earlier process found; end all processes afterwards."""
        if self._may_fork:
            self._shared_before = shared_files()
        if self._wanted != "auto":
            self._progress.kind = self._wanted
        if self._progress.kind == "fork" and self._definition_refuses():
            self._refuse_fork(self._definition_refuses())
        found = sys.unraisablehook

        def hook(unraisable: Any) -> None:
            # An object that is released complains: copies of it cannot be right. A warning turned into an error says
            # nothing about copies: an unclosed file, a running process.
            is_warning = isinstance(unraisable.exc_type, type) and issubclass(unraisable.exc_type, Warning)
            if self._copied_states and not is_warning and getattr(unraisable.object, "__name__", "") == "__del__":
                self._complaint = self._complaint or type_name(unraisable.exc_type)
            found(unraisable)

        sys.unraisablehook = hook
        try:
            yield
        finally:
            if sys.unraisablehook is hook:
                sys.unraisablehook = found
            for server in self._fork_servers.values():
                server.close()
            self._fork_servers.clear()

    # -- coming back --------------------------------------------------------------------------------------------------

    def copy_of(self, checkpoint: int) -> Snapshot | None:
        """Return the copy of the state of ``checkpoint``, if there is one."""
        return self._copies.get(checkpoint)

    def restore(self, snapshot: Snapshot, run: RunContext, faults_on: list[bool]) -> RuleBasedStateMachine:
        """Make a machine in the state of ``snapshot``, with these faults on."""
        self.mark_copying(True)
        try:
            machine = self._snapshots.restore(snapshot, run)
        finally:
            self.mark_copying(False)
        self.mark_restored()
        for fault, on in zip(self._environment.driver.faults, faults_on, strict=True):
            if on:
                fault.activate()
        return machine

    def has_fork_server(self, checkpoint: int) -> bool:
        """Return True if a process holds the state of ``checkpoint``."""
        return checkpoint in self._fork_servers

    def run_forked(
        self, checkpoint: int, session: _native.Session, listener: ForkedRunListener
    ) -> ForkedRunResult | int | None:
        """Run ``session`` from the state of ``checkpoint``, which a process holds, in a fork of that process.

        Returns:
            How the run ended, or the exit code of its process if that ended first; None if neither is known, which a
            note says.
        """
        server = self._fork_servers.pop(checkpoint)
        is_whole = False
        try:
            ending = server.run(session, listener, self._progress.aids.numbers)
            is_whole = True
        except ChannelError as error:
            self._progress.tally.note(f"A process that held a state of {self._name} was lost: {error}.")
            return None
        finally:
            # After Ctrl-C too: the run must not continue unwatched.
            if is_whole:
                self._fork_servers[checkpoint] = server
            else:
                server.close()
        return ending

    # -- keeping ------------------------------------------------------------------------------------------------------

    def keep(self, checkpoint: int, run: RunContext, steps: int) -> None:
        """Copy the state of ``run``, to which its ``steps`` lead, for a new checkpoint, if going there takes that long.

        Most checkpoints are never returned to, so copies are made only if the caller asks for them.
        """
        seconds = steps * self._seconds_returned / self._steps_returned if self._steps_returned else 0.0
        if self._wanted == "copy" or self._pays(steps / COPIES_AHEAD, seconds / COPIES_AHEAD):
            self._take(checkpoint, run)

    def take_on_the_way(self, run: RunContext, steps: int, seconds: float) -> Snapshot | None:
        """Copy the state to which ``run`` went back by its ``steps`` in some ``seconds``, if that pays.

        A run that stepped back may do so again, and then need not repeat the way there.
        """
        return self._copied(run) if self._pays(steps, seconds) else None

    def _pays(self, steps: float, seconds: float) -> bool:
        """Return True if a copy costs less than ``steps``, which take some ``seconds``."""
        copy_seconds = self._seconds_copied / self._copied_states if self._copied_states else 0.0
        return self._policy.copying_pays(
            steps=int(steps), seconds=seconds, copy_seconds=copy_seconds, by_steps=self._decides_by_steps
        )

    def _take(self, checkpoint: int, run: RunContext) -> None:
        """Copy the state of ``run`` for a checkpoint, if states are copied."""
        copied = self._copied(run)
        if copied is not None:
            self._copies[checkpoint] = copied
            self._make_room()

    def _copied(self, run: RunContext) -> Snapshot | None:
        """Return a copy of the state of ``run``, if states are copied."""
        if self._progress.kind != "copy":
            return None
        if self._complaint:
            self.stop_copying(f"an object in it raises {self._complaint} when a copy is released")
            return None
        began = monotonic()
        self.mark_copying(True)
        try:
            copied = self._snapshots.take(run)
        except SnapshotError as error:
            self.stop_copying(f"its state cannot be copied ({error})")
            return None
        finally:
            self.mark_copying(False)
        self._copied_states += 1
        self._seconds_copied += max(0.0, monotonic() - began)
        return copied

    def _make_room(self) -> None:
        """Drop the older half of the copies if the process has grown too much: the size of a copy is unknown.

        Runs return to these states by their steps, with the same result.
        """
        self._until_look -= 1
        if self._until_look:
            return
        now = resident_bytes()
        room = self._bytes_max - (now - self._bytes_before)
        if room < 0 and len(self._copies) > 1:
            older = list(self._copies)[: len(self._copies) // 2]
            for checkpoint in older:
                del self._copies[checkpoint]
            now, fit = resident_bytes(), len(older)
        else:
            fit = room // max((now - self._bytes_at_look) // self._look_period, 1)
        self._bytes_at_look = now
        self._until_look = self._look_period = min(max(fit, 1), LOOK_PERIOD)

    def returned(self, checkpoint: int, run: RunContext, steps: int, seconds: float) -> None:
        """Note that ``run`` returned to ``checkpoint`` by its ``steps`` in some ``seconds``.

        Keep the state if it has cost more than a copy by now.
        """
        steps_before, seconds_before = self._paid.get(checkpoint, (0, 0.0))
        self._paid[checkpoint] = spent = steps_before + steps, seconds_before + seconds
        if self._pays(*spent):
            self._take(checkpoint, run)
        self._returns += 1
        self._steps_returned += steps
        self._seconds_returned += seconds
        is_free = self._progress.kind == "replay" and self._wanted == "auto" and self._may_fork
        if is_free and self._policy.returning_is_expensive(
            returns=self._returns,
            steps=self._steps_returned,
            seconds=self._seconds_returned,
            runs=self._progress.tally.runs,
            by_steps=self._decides_by_steps,
        ):
            if why := self._definition_refuses():
                self._may_fork = False
                self._progress.tally.note(f"No process can hold a state of {self._name}: {why}.")
            else:
                self._progress.kind = "fork"
                self._progress.tally.note(
                    f"States of {self._name} are held in separate processes, because running their steps again is slow."
                )
        if self._progress.kind != "fork":
            return
        # A state near by is reached as soon as it is held. How runs return to it changes nothing that is explored.
        if self._wanted == "fork" or self._policy.holding_pays(
            steps=steps,
            seconds=seconds,
            hold_seconds=self._seconds_held / self._held if self._held else 0.0,
            by_steps=self._decides_by_steps,
        ):
            self._start_fork_server(checkpoint, run)

    def forget(self, checkpoint: int) -> None:
        """Forget a checkpoint that has made room for another."""
        self._copies.pop(checkpoint, None)
        self._paid.pop(checkpoint, None)
        server = self._fork_servers.pop(checkpoint, None)
        if server is not None:
            server.close()

    def stop_copying(self, why: str) -> None:
        """Run steps again from here on, because copies are impossible or wrong."""
        self._progress.kind = "replay"
        self._copies.clear()
        self._progress.tally.note(f"Checkpoints of {self._name} are reached by running their steps again: {why}.")

    def _start_fork_server(self, checkpoint: int, run: RunContext) -> None:
        why = self._definition_refuses()
        began = monotonic()
        if not why:
            try:
                with self._environment.driver.watchdog.disarmed():
                    self._fork_servers[checkpoint] = start_fork_server(
                        run, self._environment, self._fork_servers.values()
                    )
            except OSError as error:
                why = str(error)
        if why:
            self._refuse_fork(why)
            return
        self._held += 1
        self._seconds_held += max(0.0, monotonic() - began)
        if len(self._fork_servers) > FORK_SERVERS_MAX:
            _, oldest = self._fork_servers.popitem(last=False)
            oldest.close()

    def _definition_refuses(self) -> str:
        definition = self._environment.driver.definition
        if any(rule.is_coroutine for rule in (*definition.rules, *definition.initializers)):
            return "an event loop does not live on in a fork"
        # What the machine has opened, such as a database, its forks would share.
        opened = [what for key, what in shared_files().items() if key not in self._shared_before]
        return refusal() or (f"its forks would share {opened[0]}" if opened else "")

    def _refuse_fork(self, why: str) -> None:
        self._may_fork = False
        self._progress.kind = "replay"
        self._progress.tally.note(
            f"No process can hold a state of {self._name}: {why}. Its checkpoints are reached by running steps again."
        )

    @property
    def _decides_by_steps(self) -> bool:
        """Whether no clock may decide."""
        monitor = self._environment.monitor
        return self._by_steps or (monitor is not None and monitor.level == "novelty")

    # -- fidelity -----------------------------------------------------------------------------------------------------

    def is_check_due(self) -> bool:
        """Count the run from a kept state that has just ended; return True if it should be checked."""
        return self._policy.check_copy()

    def check(
        self,
        snapshot: Snapshot | None,
        tape: _native.Tape,
        prefix_steps: int,
        outcome: Outcome,
        bucket: str | None = None,
    ) -> None:
        """Compare a run from ``snapshot`` with its steps from a fresh machine; if they differ, keep no states.

        Without a snapshot, the run was in a process that held the state, which reports the ``bucket`` of its failure. A
        run that differs each time says nothing about the state.
        """
        if outcome.status is Status.REJECTED:
            return
        found = self._bucket(outcome) if bucket is None else bucket
        branch = _RunFacts(outcome.status, found, prefix_steps + outcome.steps, True, [])
        if snapshot is not None and self._hashes_state():
            keep = [at >= prefix_steps for at in range(len(tape))]
            on = [False] * len(self._environment.driver.faults)
            prefix = _native.Replay(tape)
            for _ in range(prefix_steps):
                kind, number = unpacked(prefix.next())
                if kind in (FAULT_ON, FAULT_OFF):
                    on[number] = kind == FAULT_ON
            again = self._replay(tape.subset(keep), lambda run: self.restore(snapshot, run, on))
            branch.hashes.extend(again.hashes)
        replayed_facts = self._replay(tape)
        if replayed_facts.is_like(branch):
            return
        if self._replay(tape) == replayed_facts:
            self.distrust("a run", "went another way than the same steps from a fresh machine")

    def distrust(self, what: str, did: str) -> None:
        """Stop keeping states, because ``what`` came from one and ``did`` something wrong."""
        if self._progress.kind == "copy":
            self.stop_copying(f"{what} from a copy {did}")
        elif self._progress.kind == "fork":
            for server in self._fork_servers.values():
                server.close()
            self._fork_servers.clear()
            self._refuse_fork(f"{what} from a held state {did}")

    def _replay(
        self, tape: _native.Tape, restore: Callable[[RunContext], RuleBasedStateMachine] | None = None
    ) -> _RunFacts:
        environment = self._environment
        step_source = _native.Replay(tape)
        # Without hashes there is nothing to listen to, and the step loop runs the steps in a tenth of the time.
        hashes = _Hashes() if self._hashes_state() else None
        environment.randoms.reseed()
        try:
            outcome = environment.driver.execute(step_source, restore=restore, listener=hashes)
        except InvalidDefinition as error:
            outcome = Outcome(Status.REJECTED, 0, error)
        in_body = (BODY, len(environment.driver.definition.argument_names) - 1)
        unused = step_source.unused(in_body, outcome.status is Status.DONE)
        fits = not (step_source.rejected or step_source.source.misaligned or unused)
        return _RunFacts(
            outcome.status, self._bucket(outcome), outcome.steps, fits, [] if hashes is None else hashes.seen
        )

    def _hashes_state(self) -> bool:
        cls = self._environment.driver.definition.cls
        return issubclass(cls, ChaosTest) and overrides(cls, "state_hash")

    def _bucket(self, outcome: Outcome) -> str:
        return "" if outcome.error is None else self._environment.bucketer.bucket(outcome.error, outcome.broken_by)


class _RunFacts(msgspec.Struct, frozen=True):
    """How a run went. ``fits`` says that it drew what the tape holds, ``hashes`` are those of its states, by step."""

    status: Status
    bucket: str
    steps: int
    fits: bool
    hashes: list[int]

    def is_like(self, branch: _RunFacts) -> bool:
        """Return True if a branch, known only by its last hashes, went the same way."""
        ending = self.hashes[len(self.hashes) - len(branch.hashes) :] if branch.hashes else []
        return (self.status, self.bucket, self.steps, self.fits, ending) == (
            branch.status,
            branch.bucket,
            branch.steps,
            branch.fits,
            branch.hashes,
        )


class _Hashes(RunListener):
    """Keeps the hashes of the states of a run that is only compared."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    @override
    def step_done(self, run: RunContext, code: int, state_hash: int) -> None:
        self.seen.append(state_hash)
