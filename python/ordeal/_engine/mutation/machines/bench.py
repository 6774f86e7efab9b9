"""Runs the recorded tapes of one machine again and again, quickly, and looks at what fails and at its states."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, TracebackType
from typing import Any

from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

from ordeal import _native, assertions
from ordeal._engine.execution.driver import Outcome, Status
from ordeal._engine.execution.machine import MachineFactory, make_driver
from ordeal._engine.isolation.rule_timeout import RuleTimeoutError
from ordeal._engine.mutation.machines.evidence import Difference, Kill
from ordeal._engine.trace_view.values import StateReader
from ordeal._hypothesis import GlobalRandoms, Rule, holds, is_initializing, skip_types
from ordeal.errors import OrdealError
from ordeal.faults import Fault

State = dict[str, str]


class Bench:
    """A driver of one machine whose runs are watched at their end: what failed, and which invariants fail beside it."""

    def __init__(self, given: MachineFactory, folder: str, rule_timeout: float | None = None) -> None:
        self.driver = make_driver(given, rule_timeout)
        self.driver.isolated = True
        self.driver.buggify_prob = None
        self._folder = f"{folder.rstrip(os.sep)}{os.sep}"
        self._randoms = GlobalRandoms()
        self._make = self.driver.factory
        self._reader = StateReader(self.driver.definition.cls)
        self._codes = dict(_codes_of(self.driver.definition.rules, "rule"))
        self._codes |= dict(_codes_of(self.driver.definition.initializers, "rule"))
        self._codes |= dict(_codes_of(self.driver.definition.invariants, "invariant"))
        self._noted: dict[str, Any] = {}
        self._hits: list[int] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Limit the rules during the block, and restore the program's random generators after it."""
        with self._randoms.managed(), self.driver.watchdog.watching():
            yield

    def run(self, tape: _native.Tape, trace: int) -> Kill | None:
        """Replay a tape. Return what it fails with, if it does."""
        self._noted = {}
        self.driver.factory = self._watched
        try:
            outcome = self._execute(tape, None)
        finally:
            self.driver.factory = self._make
        if outcome.status is not Status.FAILED or outcome.error is None:
            return None
        return self._kill(outcome, trace)

    def passes(self, tape: _native.Tape) -> bool:
        """Return whether a tape runs to its end."""
        return self._execute(tape, None).status is Status.DONE

    def states(self, tape: _native.Tape) -> list[tuple[str, State]] | None:
        """Return the rule and the state after each step; None when the run does not come to its end."""
        watch = _States(self._reader)
        done = self._execute(tape, watch).status is Status.DONE
        return watch.found if done else None

    def watched(self, tape: _native.Tape, observer: Any) -> bool:
        """Replay a tape while ``observer`` watches. Return whether it runs to its end."""
        return self._execute(tape, observer).status is Status.DONE

    def difference(self, tape: _native.Tape, trace: int, original: list[tuple[str, State]]) -> Difference | None:
        """Replay a tape until its state is not the one of the original. Return where it is not, if anywhere."""
        watch = _Comparison(self._reader, original, trace)
        self._execute(tape, watch)
        if watch.difference is None and len(watch.found) < len(original):
            rule, _ = original[len(watch.found)]
            return Difference(trace, len(watch.found), rule, "(steps)", rule, "none: the run is over")
        return watch.difference

    def _execute(self, tape: _native.Tape, observer: Any) -> Outcome:
        self._randoms.reseed()
        try:
            return self.driver.execute(_native.Replay(tape), observer=observer)
        except (InvalidDefinition, OrdealError) as error:
            return Outcome(Status.REJECTED, 0, error)
        except skip_types() as error:
            return Outcome(Status.REJECTED, 0, error)

    # What fails

    def _watched(self) -> RuleBasedStateMachine:
        machine = self._make()
        teardown = machine.teardown
        self._hits = [_hits(fault) for fault in self.driver.faults]

        def end() -> None:
            error = sys.exception()
            if error is not None:
                self._note(machine, error)
            teardown()

        machine.teardown = end  # type: ignore[method-assign]
        return machine

    def _note(self, machine: RuleBasedStateMachine, error: BaseException) -> None:
        """Note, while the failing state is there, which invariants it breaks and which faults had a part in it."""
        faults = self.driver.faults
        self._noted["faults"] = tuple(
            fault.name
            for fault, before in zip(faults, self._hits, strict=True)
            if fault.active or _hits(fault) > before
        )
        # What hangs is not asked: an invariant may hang as well.
        if not isinstance(error, RuleTimeoutError):
            self._noted["invariants"] = tuple(self._broken(machine))

    def _broken(self, machine: RuleBasedStateMachine) -> Iterator[str]:
        first = is_initializing(machine)
        for each in self.driver.definition.invariants:
            if first and not each.check_during_init:
                continue
            try:
                if holds(each.preconditions, machine):
                    each.function(machine)
            except BaseException:  # noqa: BLE001 - whatever it raises, it is not fulfilled
                yield each.name

    def _kill(self, outcome: Outcome, trace: int) -> Kill:
        error = outcome.error
        assert error is not None
        by, name, asserted = "program", "", ""
        traceback = error.__traceback__
        while traceback is not None:
            code = traceback.tb_frame.f_code
            if by == "program" and code in self._codes:
                by, name = self._codes[code]
            if code is assertions._check.__code__:
                by, name = "property", str(traceback.tb_frame.f_locals.get("name", ""))
            elif isinstance(error, AssertionError) and code.co_filename.startswith(self._folder):
                asserted = self._place(traceback)
            traceback = traceback.tb_next
        rule = name if by == "rule" else outcome.broken_by
        kill = Kill(
            trace,
            outcome.steps,
            _kind(error),
            f"{by}:{name}" if name else by,
            self._noted.get("invariants", ()),
            rule,
            self._noted.get("faults", ()),
            asserted,
            type(error).__name__,
        )
        self.driver.let_go(outcome)
        return kill

    def _place(self, traceback: TracebackType) -> str:
        return f"{traceback.tb_frame.f_code.co_filename[len(self._folder) :]}:{traceback.tb_lineno}"


def _kind(error: BaseException) -> str:
    if isinstance(error, RuleTimeoutError):
        return "timeout"
    if isinstance(error, MemoryError):
        return "memory"
    return "assertion" if isinstance(error, AssertionError) else "exception"


def _hits(fault: Fault) -> int:
    return fault.observed.hits if fault.counts_calls else 0


def _codes_of(parts: tuple[Any, ...], kind: str) -> Iterator[tuple[CodeType, tuple[str, str]]]:
    for part in parts:
        code = getattr(part.function, "__code__", None)
        if code is not None:
            yield code, (kind, part.name)


class _States:
    """An observer that reads the state of the machine after each step; before the first as well."""

    def __init__(self, reader: StateReader) -> None:
        self._reader = reader
        self._machine: RuleBasedStateMachine | None = None
        self._rule = "__init__"
        self.found: list[tuple[str, State]] = []

    def making(self, cls: type[RuleBasedStateMachine]) -> None:
        """Nothing is there yet."""

    def started(self, machine: RuleBasedStateMachine) -> None:
        """Remember the machine."""
        self._machine = machine

    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        """The state before a rule is that after the step before."""
        del initialize, values, resolved
        self._read()
        self._rule = rule.name

    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        """The invariants are still to come."""

    def fault(self, fault: Fault, on: bool) -> None:
        """The same for a switch."""
        self._read()
        self._rule = f"{'+' if on else '-'}{fault.name}"

    def ending(self) -> None:
        """The last state."""
        self._read()

    def _read(self) -> None:
        if self._machine is not None:
            self.take(self._rule, self._reader.read(self._machine))

    def take(self, rule: str, state: State) -> None:
        """Keep a state."""
        self.found.append((rule, state))


class _Differs(BaseException):
    """Ends a replay whose state is not that of the original."""


class _Comparison(_States):
    """Ends the run at the first state that is not that of the original."""

    def __init__(self, reader: StateReader, original: list[tuple[str, State]], trace: int) -> None:
        super().__init__(reader)
        self._original, self._trace = original, trace
        self.difference: Difference | None = None

    def take(self, rule: str, state: State) -> None:
        """Compare a state."""
        step = len(self.found)
        super().take(rule, state)
        if self.difference is not None:
            return
        expected_rule, expected = self._original[step] if step < len(self._original) else ("none", {})
        if rule != expected_rule:
            self.difference = Difference(self._trace, step, rule, "(steps)", expected_rule, rule)
        elif state != expected:
            path = next(path for path in (*expected, *state) if state.get(path) != expected.get(path))
            before, now = expected.get(path, "nothing"), state.get(path, "nothing")
            self.difference = Difference(self._trace, step, rule, path, before, now)
        if self.difference is not None and sys.exception() is None:
            raise _Differs
