"""Lowers a tape to Hypothesis' own flat choice sequence, so that its tools can replay what the Explorer found."""

from __future__ import annotations

from typing import Any

from hypothesis.errors import InvalidDefinition

from ordeal import _native
from ordeal._hypothesis import Rule, RunContext, position_among_initializers
from ordeal.driver import END, INITIALIZE, RULE, Driver, Observer, Script, Status
from ordeal.faults import Fault

#: The chance of the stop choice before each step of Hypothesis' loop.
STOP_PROBABILITY = 2**-16
#: The largest share of disabled rules that Hypothesis draws, in 255ths; 0 enables all.
DISABLED_MAX = 254
NEMESIS = "_nemesis"


class LoweringDriver(Driver):
    """Runs a tape and writes, around the arguments, the choices that Hypothesis' own loop would have made.

    The layout is that of ``get_state_machine_test``: stop or go on, which initialize rule (when several are left) or
    how many rules are disabled (once), which rule, whether it is disabled, then its arguments.
    """

    def __init__(self, driver: Driver) -> None:
        super().__init__(driver.definition, driver.factory, driver.faults, driver.rule_timeout)
        self._last_run: RunContext | None = None
        self._first_rule_seen = False
        self._initializers_left = 0

    def lower(self, tape: _native.Tape) -> tuple[Any, ...]:
        """The flat choices of ``tape``; those of a run that fails end where it failed."""
        self._first_rule_seen = False
        self._initializers_left = len(self.definition.initializers) + self.definition.swarm_initializer
        outcome = self.execute(_native.Replay(tape))
        if outcome.status is Status.REJECTED:
            raise InvalidDefinition("the tape does not run to its end on this machine")
        assert self._last_run is not None
        return self._last_run.choices

    def next_step(self, script: Script, run: RunContext) -> int:
        """The next step, after the choices that lead to it are written."""
        if self.definition.swarm_initializer and self._initializers_left > len(self.definition.initializers):
            self._write_swarm(run)
        code = script.next()
        run.write_boolean(code & 7 == END, STOP_PROBABILITY)
        self._last_run = run
        if code & 7 in (RULE, INITIALIZE):
            self._write_rule(code, run)
        return code

    def _write_rule(self, code: int, run: RunContext) -> None:
        if code & 7 == RULE:
            self._write_choice_of(self.definition.rules[code >> 3].index, run)
            return
        rule = self.definition.initializers[code >> 3]
        if self._initializers_left > 1:
            place, count = position_among_initializers(run.machine, rule)
            run.write_integer(place, 0, count - 1)
        self._initializers_left -= 1

    def _write_choice_of(self, index: int, run: RunContext) -> None:
        if not self._first_rule_seen:
            self._first_rule_seen = True
            run.write_integer(0, 0, DISABLED_MAX)
        run.write_integer(index, 0, len(self.definition.order) - 1)
        run.write_boolean(False)

    def _write_swarm(self, run: RunContext) -> None:
        """The initialize rule that draws which faults are on: all of them."""
        run.write_boolean(False, STOP_PROBABILITY)
        if self._initializers_left > 1:
            run.write_integer(0, 0, self._initializers_left - 1)
        run.write_integer(2 ** len(self.faults) - 1, 1, 2 ** len(self.faults) - 1)
        self._initializers_left -= 1

    def draw_arguments(self, rule: Rule, run: RunContext, *, initialize: bool) -> dict[str, Any]:
        """The arguments, all drawn through Hypothesis so that it records them."""
        return run.draw_as_hypothesis(rule, initialize=initialize)

    def toggle(self, fault: Fault, on: bool, run: RunContext, observer: Observer | None) -> None:
        """Switch a fault, written as the nemesis rule that does it under Hypothesis."""
        self._write_choice_of(self.definition.order.index(NEMESIS), run)
        if len(self.faults) > 1:
            # Hypothesis draws nothing to choose from one.
            run.write_integer(self.faults.index(fault), 0, len(self.faults) - 1)
        super().toggle(fault, on, run, observer)
