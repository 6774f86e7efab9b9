"""Lowers a tape to Hypothesis' own flat choice sequence, so that its tools can replay what the Explorer found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._base.buggify_state import enter_run, leave_run
from ordeal._engine.execution.driver import (
    END,
    FAULT_OFF,
    FAULT_ON,
    INITIALIZE,
    RULE,
    Driver,
    Outcome,
    RunListener,
    Status,
    StepSource,
    unpacked,
)
from ordeal._engine.execution.recorder import Observer
from ordeal._hypothesis.machines import Rule, is_initializing, may_run, position_among_initializers
from ordeal._hypothesis.run_context import RunContext
from ordeal.chaos import NEMESIS
from ordeal.faults import Fault
from ordeal.swarm.weights import pick_in_order

#: The largest share of disabled rules that Hypothesis draws, in 255ths; 0 enables all.
DISABLED_MAX = 254


class Lowered(msgspec.Struct, frozen=True):
    """A run in Hypothesis' terms. The choices of a failing run end where it failed.

    ``steps`` counts as Hypothesis does. ``error`` is the failure, or None. ``timed_out`` names what the time limit
    ended (a rule, an invariant, a fault, ``__init__`` or ``teardown``), and is empty otherwise.
    """

    choices: tuple[Any, ...]
    steps: int
    error: BaseException | None
    timed_out: str


class LoweringDriver(Driver):
    """Runs a tape and writes, around the arguments, the choices that Hypothesis' own loop would have made.

    The layout is that of ``get_state_machine_test``: stop or continue, which initialize rule (if several are left) or
    how many rules are disabled (once), which rule, whether it is disabled, then its arguments. Random decisions of
    faults are written where they are made, as faults draw them there under Hypothesis. Used for one tape.
    """

    def __init__(self, driver: Driver) -> None:
        definition = driver.definition
        super().__init__(definition, driver.factory, driver.faults, driver.rule_timeout)
        self.journal = driver.journal
        # As under Hypothesis, where buggify points do not act.
        self.buggify_prob = None
        self._run_context: RunContext  # of the current run, or of the last one
        self._chance: _WrittenChance | None = None
        self._steps_begun = 0
        self._ended = False
        self._timed_out_in = ""
        self._first_rule_seen = False
        self._weights: dict[str, int] | None = None  # if the machine chooses its rules by weight
        self._swarm_is_due = definition.swarm_place is not None
        self._initializers_left = len(definition.initializers) + self._swarm_is_due

    def lower(self, tape: _native.Tape) -> tuple[Any, ...]:
        """Return the flat choices of ``tape``; those of a failing run end where it failed.

        Raises:
            hypothesis.errors.InvalidDefinition: Hypothesis' loop cannot run it; the message says why.
        """
        return self.run(tape).choices

    def run(self, tape: _native.Tape) -> Lowered:
        """Run ``tape`` from a fresh machine. Raises what ``lower`` does."""
        step_source = _native.Replay(tape)
        with self.watching():
            outcome = self.execute(step_source)
        if outcome.status is Status.REJECTED or step_source.rejected:
            raise InvalidDefinition("the tape does not run to its end on this machine")
        if outcome.status is Status.DONE and not self._ended:
            raise InvalidDefinition("the run makes more choices than Hypothesis takes in one run")
        if outcome.status is Status.DONE and not self._steps_begun:
            raise InvalidDefinition("the run has no step, and under Hypothesis each has one at least")
        if self._chance is not None and self._chance.contradicts:
            raise InvalidDefinition("outside of the steps, faults with a probability of 1 act under Hypothesis only")
        return Lowered(self._run_context.choices, self._steps_begun, outcome.error, self._timed_out_in)

    def _run(
        self,
        run: RunContext,
        step_source: StepSource,
        restore: Callable[[RunContext], RuleBasedStateMachine] | None,
        listener: RunListener | None,
        observer: Observer | None,
        outcome: Outcome,
    ) -> None:
        self._run_context = run
        run.records = True
        self._chance = _WrittenChance(run)
        before = enter_run(self._chance, self.buggify_prob)
        try:
            super()._run(run, step_source, restore, listener, observer, outcome)
        finally:
            leave_run(before)

    def _check_invariants(self, machine: RuleBasedStateMachine) -> None:
        """Check the invariants; before the last initialize rules, write the swarm's, which only Hypothesis runs."""
        if self._swarm_is_due and self._initializers_left == 1:
            self._check(self._due_while_initializing, machine)
            self._write_swarm(self._run_context)
        super()._check_invariants(machine)

    def next_step(self, step_source: StepSource, run: RunContext) -> int:
        """Return the next step, after writing the choices that lead to it."""
        if self._swarm_is_due:
            self._write_swarm(run)
        code = step_source.next()
        kind, number = unpacked(code)
        if kind in (FAULT_ON, FAULT_OFF) and self.faults[number].active == (kind == FAULT_ON):
            return code  # the nemesis never leaves a fault unchanged: such a step is left out
        self._write_stop(run, stop=kind == END)
        if kind == RULE:
            self._write_choice_of(self.definition.rules[number].index, run)
        elif kind == INITIALIZE:
            if self._initializers_left > 1:
                place, count = position_among_initializers(run.machine, self.definition.initializers[number])
                run.write_integer(place, 0, count - 1)
            self._initializers_left -= 1
        return code

    def _write_stop(self, run: RunContext, *, stop: bool) -> None:
        # The chance of the stop choice before each step of Hypothesis' loop.
        run.write_boolean(stop, 2**-16)
        self._ended = stop
        self._steps_begun += not stop

    def _write_choice_of(self, index: int, run: RunContext) -> None:
        if self._weights is not None:
            # By weights, rules are skipped in turn until the chosen one is left.
            can_run = {rule.name for rule in self.definition.rules if may_run(run.machine, rule)} | {NEMESIS}
            names = [each for each in self.definition.order if each in can_run]
            to_skip = names.index(self.definition.order[index])

            def skip(p: float) -> bool:
                nonlocal to_skip
                to_skip -= 1
                run.write_boolean(to_skip >= 0, p)
                return to_skip >= 0

            pick_in_order(self._weights, names, skip)
            return
        if not self._first_rule_seen:
            self._first_rule_seen = True
            run.write_integer(0, 0, DISABLED_MAX)
        if len(self.definition.order) > 1:
            # Hypothesis draws nothing when there is only one.
            run.write_integer(index, 0, len(self.definition.order) - 1)
        run.write_boolean(False)

    def _write_swarm(self, run: RunContext) -> None:
        """Write the initialize rule that draws what is on: everything, and all equally."""
        place = self.definition.swarm_place
        assert place is not None
        self._swarm_is_due = False
        self._write_stop(run, stop=False)
        if self._initializers_left > 1:
            run.write_integer(place, 0, self._initializers_left - 1)
        self._initializers_left -= 1

        def never(p: float) -> bool:
            run.write_boolean(False, p)
            return False

        machine = run.machine
        if len(self.faults) > 1 and machine._swarm_options.distribution == "coins":
            run.write_integer(2 ** len(self.faults) - 1, 1, 2 ** len(self.faults) - 1)
        elif len(self.faults) > 1 and machine._swarm_options.distribution == "sizes":
            machine._draw_faults(never)
        if machine._swarm_options.chooses_rules:
            self._weights = machine._draw_weights(never).weights

    def draw_arguments(self, rule: Rule, run: RunContext, *, initialize: bool) -> dict[str, Any]:
        """Return the arguments, all drawn through Hypothesis so that it records them."""
        return run.draw_as_hypothesis(rule, initialize=initialize)

    def toggle(self, fault: Fault, on: bool, run: RunContext, observer: Observer | None) -> None:
        """Switch a fault, written as the nemesis rule that does it under Hypothesis."""
        if fault.active != on:
            if NEMESIS not in self.definition.order:
                raise InvalidDefinition(f"{self.definition.cls.__name__} has no rule that switches its faults")
            if is_initializing(run.machine):
                raise InvalidDefinition(f"fault {fault.name} is switched before all initialize rules have run")
            self._write_choice_of(self.definition.order.index(NEMESIS), run)
            if len(self.faults) > 1:
                run.write_integer(self.faults.index(fault), 0, len(self.faults) - 1)
        super().toggle(fault, on, run, observer)

    def _timed_out(self) -> BaseException:
        self._timed_out_in = self._current_rule
        return super()._timed_out()


class _WrittenChance:
    """The decisions of a run, each also written as the choice that a fault makes for it under Hypothesis.

    Attributes:
        contradicts: whether a decision was one that no choice of Hypothesis allows.
    """

    def __init__(self, run: RunContext) -> None:
        self.contradicts = False
        self._run = run

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        """Return the decision made in the run."""
        acts = self._run.buggify.decide(probability, is_point=is_point)
        if probability in (0, 1) and acts != bool(probability):
            self.contradicts = True
        elif not self._run.data.frozen:
            self._run.write_boolean(acts, probability)
        return acts
