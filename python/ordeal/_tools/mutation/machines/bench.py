"""Replays the recorded tapes of one machine again and again, quickly, and compares failures and states."""

from __future__ import annotations

import copy
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import CodeType
from typing import Any, override

import msgspec.structs
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal import assertions
from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._engine.execution.driver import Driver, Outcome, Status
from ordeal._engine.execution.machine import MachineFactory, make_driver
from ordeal._engine.execution.recorder import Observer
from ordeal._engine.trace_view.values import StateReader, sketch
from ordeal._hypothesis.internals import skip_types
from ordeal._hypothesis.machines import Invariant, Rule, holds, is_initializing
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal._tools.mutation.machines.evidence import Kill, StateDifference, attribute_of
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal.errors import OrdealError
from ordeal.faults import Fault

#: The rule that led to a state, and the number that stands for it.
Step = tuple[str, int]


class Ends(BaseException):
    """Ends a replay once enough is known."""


class Lookout:
    """Compares the states of a replay with those of the original, after the steps that are asked for.

    An observer would see more, but has each step run in Python. ``disarmed`` keeps the limit of rules out of it.

    Attributes:
        steps: how many states there were, the one before the first step included.
        other_at: the first step whose state differs, of those asked for.
        numbers: those of all states, where they were to be collected.
        shown: what ``show`` returned of the state that differs.
    """

    def __init__(
        self,
        number_of: Callable[[RuleBasedStateMachine], int],
        disarmed: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._number_of, self._disarmed = number_of, disarmed
        self.compare([], 0)

    def collect(self) -> None:
        """Note the numbers of all states of the next run."""
        self.compare([], -1)
        self._collects = True

    def rest(self) -> None:
        """Stop looking at states in the runs that follow; keep what was seen."""
        self._due = 0

    def compare(
        self,
        original: list[Step],
        due: int,
        show: Callable[[RuleBasedStateMachine], Any] | None = None,
    ) -> None:
        """Compare the next run, after the steps that have a bit in ``due``. With ``show``, end it where it differs."""
        self._original, self._due, self._show = original, due, show
        self._collects = False
        self.steps = 0
        self.other_at: int | None = None
        self.shown: Any = None
        self.numbers: list[int] = []

    def __call__(self, machine: RuleBasedStateMachine) -> None:
        """Look at the state after a step."""
        step = self.steps
        self.steps = step + 1
        if not self._due >> step & 1 or self.other_at is not None:
            return
        with self._disarmed():
            if self._collects:
                self.numbers.append(self._number_of(machine))
                return
            if step < len(self._original) and self._original[step][1] == self._number_of(machine):
                return
            self.other_at = step
            if self._show is not None:
                self.shown = self._show(machine)
        if self._show is not None and sys.exception() is None:
            raise Ends


State = dict[str, str]
#: How often a tape runs again to find what differs.
_UNSTEADY_MAX = 5


class TraceReplayer:
    """Replays tapes of one machine, and notes at the end of each what failed, and which invariants fail as well.

    ``turns`` limits the loops of the program in ``run``, to a multiple of what a trace takes at most, ``turns_max``.
    """

    def __init__(
        self,
        given: MachineFactory,
        folder: str,
        rule_timeout: float | None = None,
        turns: TurnLimit | None = None,
        turns_max: int | None = None,
    ) -> None:
        plain = make_driver(given, rule_timeout)
        self.definition = plain.definition
        self._reader = StateReader(plain.definition.cls)
        self._reader.hide(["teardown"])  # ``run`` has its own on each machine
        self._folder = f"{folder.rstrip(os.sep)}{os.sep}"
        self._randoms = GlobalRandoms()
        self._watch(plain, plain.rule_timeout, turns, turns_max)
        self._codes = dict(_codes_of(self.definition.rules, "rule"))
        self._codes |= dict(_codes_of(self.definition.initializers, "rule"))
        self._codes |= dict(_codes_of(self.definition.invariants, "invariant"))

    def _watch(self, driver: Driver, rule_timeout: float, turns: TurnLimit | None, turns_max: int | None) -> None:
        """Take a driver of the same machine as ``driver``, which looks at states as well, with these limits."""
        self._lookout = Lookout(lambda machine: sketch(self._reader, machine), self._disarmed)
        looked = (*self.definition.invariants, Invariant("(a look at the state)", self._lookout, (), True))
        definition = msgspec.structs.replace(self.definition, invariants=looked)
        self.driver = type(driver)(definition, driver.factory, driver.faults, rule_timeout)
        self.driver.isolated = True
        self.driver.buggify_prob = None
        self._make = self.driver.factory
        self._turns, self._turns_max = turns, turns_max
        self._noted: dict[str, Any] = {}
        self._hits: list[int] = []

    def limited(
        self, rule_timeout: float, turns: TurnLimit | None = None, turns_max: int | None = None
    ) -> TraceReplayer:
        """Return a bench of the same machine, with other limits. To read the class once more would take longer."""
        bench = copy.copy(self)
        bench._watch(self.driver, rule_timeout, turns, turns_max)
        return bench

    def prepare(self) -> None:
        """Do once, before any step, what all replays need."""
        with self._randoms.managed():
            self._randoms.reseed()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Limit the rules during the block, and restore the program's random generators after it."""
        with self._randoms.managed(), self.driver.watching():
            yield

    def run(self, tape: _native.Tape, trace: int) -> Kill | None:
        """Replay a tape. Return what it fails with, if it does."""
        self._noted = {}
        self.driver.factory = self._watched
        if self._turns is not None:
            self._turns.begin(self._turns_max)
        try:
            outcome = self._execute(tape, None)
        finally:
            self.driver.factory = self._make
        if outcome.error is None and self._turns is not None and self._turns.is_over:
            outcome = Outcome(Status.FAILED, outcome.steps, self._turns.error())
        if outcome.status is not Status.FAILED or outcome.error is None:
            return None
        return self._kill(outcome, trace)

    @property
    def is_turning(self) -> bool:
        """Return True if the last run was ended because its loops turned without end."""
        return self._turns is not None and self._turns.is_over

    def passes(self, tape: _native.Tape) -> bool:
        """Return True if a tape runs to its end."""
        return self._execute(tape, None).status is Status.DONE

    def repeats(self, tape: _native.Tape, original: list[Step]) -> bool:
        """Return True if a tape leads to the same states once more."""
        self._lookout.compare(original, -1)
        is_whole = self.passes(tape) and self._lookout.steps == len(original)
        return is_whole and self._lookout.other_at is None

    def unsteady(self, tapes: Sequence[_native.Tape]) -> list[str]:
        """Hide the attributes of the machine that differ when a tape runs again, such as addresses; return them."""
        found: list[str] = []
        for tape in tapes:
            for _ in range(_UNSTEADY_MAX):
                numbers = self.sketches(tape)
                if numbers is None or self.repeats(tape, numbers):
                    break
                step = self._lookout.other_at or 0
                states = [self.state_at(tape, step) for _ in range(2)]
                paths = [path for path in {**states[0], **states[1]} if states[0].get(path) != states[1].get(path)]
                names = list(dict.fromkeys(re.split(r"[.\[]", path, maxsplit=1)[0] for path in paths))
                if not names:
                    break
                found += names
                self.hide(names)
        return found

    def hide(self, names: Iterable[str]) -> None:
        """Compare states without some attributes of the machine."""
        self._reader.hide(names)

    def watched(self, tape: _native.Tape, observer: Any) -> bool:
        """Replay a tape while ``observer`` watches. Return whether it runs to its end."""
        return self._execute(tape, observer).status is Status.DONE

    def sketches(self, tape: _native.Tape, watch: StepWatch | None = None) -> list[Step] | None:
        """Return the rule and a number for the state after each step; None when the run does not finish."""
        watch = watch or StepWatch()
        self._lookout.collect()
        if not self.watched(tape, watch) or len(watch.rules) != self._lookout.steps:
            return None
        return list(zip(watch.rules, self._lookout.numbers, strict=True))

    def first_other(self, tape: _native.Tape, original: list[Step], due: int = -1) -> tuple[int, str, State] | None:
        """Replay a tape. Return the first step in ``due`` whose rule or state is not that of the original.

        Return with it the rule and the state; ``none`` if the replay ends before.
        """
        self._lookout.compare(original, due, self._reader.read)
        replay = _native.Replay(tape)
        self._execute(tape, None, replay)
        step, shown = self._lookout.other_at, self._lookout.shown
        if step is None:
            if self._lookout.steps >= len(original):
                return None
            step, shown = self._lookout.steps, {}
        rule = original[step][0] if step < len(original) else "none"
        if replay.rejected or not shown:
            rules = StepWatch()
            self.watched(tape, rules)
            rule = rules.rules[step] if step < len(rules.rules) else "none"
        return step, rule, shown

    def state_at(self, tape: _native.Tape, step: int) -> State:
        """Replay a tape, and return the state after a step; nothing behind its end."""
        self._lookout.compare([], 1 << step, self._reader.read)
        self._execute(tape, None)
        return self._lookout.shown or {}

    def _execute(self, tape: _native.Tape, observer: Any, replay: _native.Replay | None = None) -> Outcome:
        self._randoms.reseed()
        try:
            return self.driver.execute(replay or _native.Replay(tape), observer=observer)
        except (InvalidDefinition, OrdealError) as error:
            return Outcome(Status.REJECTED, 0, error)
        except skip_types() as error:
            return Outcome(Status.REJECTED, 0, error)
        finally:
            self._lookout.rest()

    def _disarmed(self) -> AbstractContextManager[None]:
        return self.driver.watchdog.disarmed()

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
        """Note, while the failing state exists, which invariants it breaks and which faults had a part in it."""
        faults = self.driver.faults
        self._noted["faults"] = tuple(
            fault.name
            for fault, before in zip(faults, self._hits, strict=True)
            if fault.active or _hits(fault) > before
        )
        # After a hang, invariants are not checked: one may hang as well.
        if not isinstance(error, RuleTimeoutError):
            self._noted["invariants"] = tuple(self._broken(machine))

    def _broken(self, machine: RuleBasedStateMachine) -> Iterator[str]:
        first = is_initializing(machine)
        for each in self.definition.invariants:
            if first and not each.check_during_init:
                continue
            try:
                if holds(each.preconditions, machine):
                    each.function(machine)
            except BaseException:  # noqa: BLE001 - with any error it is not fulfilled
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
                asserted = f"{code.co_filename[len(self._folder) :]}:{traceback.tb_lineno}"
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
        self.driver.release_error(outcome)
        return kill


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


def difference(trace: int, step: int, original: tuple[str, State], mutant: tuple[str, State]) -> StateDifference:
    """Return what differs between the states that a trace leads to on the original and on a mutant."""
    (expected_rule, expected), (rule, state) = original, mutant
    if rule != expected_rule:
        return StateDifference(trace, step, rule, "(steps)", expected_rule, rule)
    path = next((path for path in (*expected, *state) if state.get(path) != expected.get(path)), None)
    if path is None:
        ours, theirs = next((pair for pair in zip(expected, state, strict=True) if pair[0] != pair[1]), ("", ""))
        if ours != theirs:
            return StateDifference(trace, step, rule, attribute_of(ours), ours, f"in another order: {theirs}")
        return StateDifference(trace, step, rule, "(state)", "one", "another with the same text")
    return StateDifference(trace, step, rule, path, expected.get(path, "nothing"), state.get(path, "nothing"))


class StepWatch(Observer):
    """Notes which rule, or switch of a fault, led to each state."""

    def __init__(self) -> None:
        self.rules: list[str] = ["__init__"]

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        self.rules.append(rule.name)

    @override
    def fault(self, fault: Fault, on: bool) -> None:
        self.rules.append(f"{'+' if on else '-'}{fault.name}")
