"""Runs the recorded tapes of one machine again and again, quickly, and looks at what fails and at its states."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
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
from ordeal._engine.mutation.machines.relations import Numbers, numbers_of
from ordeal._engine.trace_view.sketch import sketch
from ordeal._engine.trace_view.values import StateReader
from ordeal._hypothesis import GlobalRandoms, Rule, holds, is_initializing, skip_types
from ordeal.errors import OrdealError
from ordeal.faults import Fault

State = dict[str, str]
#: The rule that led to a state, and the number that stands for it.
Step = tuple[str, int]


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

    def sketches(self, tape: _native.Tape) -> list[Step] | None:
        """Return the rule and a number for the state after each step; None when the run does not come to its end."""
        watch = _Watch(lambda machine: sketch(self._reader, machine))
        done = self._execute(tape, watch).status is Status.DONE
        return watch.found if done else None

    def watched(self, tape: _native.Tape, observer: Any) -> bool:
        """Replay a tape while ``observer`` watches. Return whether it runs to its end."""
        return self._execute(tape, observer).status is Status.DONE

    def first_other(self, tape: _native.Tape, original: list[Step]) -> int | None:
        """Replay a tape, and return the first step whose rule or state is not that of the original."""
        watch = _Comparison(lambda machine: sketch(self._reader, machine), original)
        self._execute(tape, watch)
        if watch.differs_at is None and len(watch.found) < len(original):
            return len(watch.found)
        return watch.differs_at

    def state_at(self, tape: _native.Tape, step: int) -> tuple[str, State]:
        """Replay a tape, and return the rule that led to a step, and the state after it; ``none`` behind its end."""
        watch = _Watch(self._reader.read, step)
        self._execute(tape, watch)
        return watch.found[step] if step < len(watch.found) else ("none", {})

    def show_numbers(self, tape: _native.Tape, take: Callable[[dict[str, Numbers]], None]) -> None:
        """Replay a tape, and show ``take`` the numbers of each state."""
        self._execute(tape, _Watch(lambda machine: take(numbers_of(self._reader, machine))))

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


def difference(trace: int, step: int, original: tuple[str, State], mutant: tuple[str, State]) -> Difference:
    """Return what differs between the states that a trace leads to on the original and on a mutant."""
    (expected_rule, expected), (rule, state) = original, mutant
    if rule != expected_rule:
        return Difference(trace, step, rule, "(steps)", expected_rule, rule)
    path = next((path for path in (*expected, *state) if state.get(path) != expected.get(path)), None)
    if path is None:
        return Difference(trace, step, rule, "(state)", "one", "another with the same text")
    return Difference(trace, step, rule, path, expected.get(path, "nothing"), state.get(path, "nothing"))


class _Ends(BaseException):
    """Ends a replay of which enough is known."""


class _Watch:
    """An observer that looks at the machine before the first step and after each; or after one step only."""

    def __init__(self, look: Callable[[RuleBasedStateMachine], Any], only: int | None = None) -> None:
        self._look, self._only = look, only
        self._machine: RuleBasedStateMachine | None = None
        self._rule = "__init__"
        self.found: list[tuple[str, Any]] = []

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
        if self._machine is None:
            return
        step = len(self.found)
        self.take(self._rule, None if self._only not in (None, step) else self._look(self._machine))
        if step == self._only and sys.exception() is None:
            raise _Ends

    def take(self, rule: str, state: Any) -> None:
        """Keep a state."""
        self.found.append((rule, state))


class _Comparison(_Watch):
    """Ends the run at the first state that is not that of the original."""

    def __init__(self, look: Callable[[RuleBasedStateMachine], Any], original: list[Step]) -> None:
        super().__init__(look)
        self._original = original
        self.differs_at: int | None = None

    def take(self, rule: str, state: Any) -> None:
        """Compare a state."""
        step = len(self.found)
        super().take(rule, state)
        if self.differs_at is not None or (step < len(self._original) and self._original[step] == (rule, state)):
            return
        self.differs_at = step
        if sys.exception() is None:
            raise _Ends
