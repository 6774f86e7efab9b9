"""Looks at the states of a replay at full speed: an invariant behind all others, which always holds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine

#: The rule that led to a state, and the number that stands for it.
Step = tuple[str, int]


class Ends(BaseException):
    """Ends a replay of which enough is known."""


class Lookout:
    """Compares the states of a replay with those of the original, after the steps that are asked for.

    An observer would see more, but has each step run in Python. ``disarmed`` keeps the limit of rules out of it.

    Attributes:
        steps: how many states there were, the one before the first step included.
        other_at: the first step whose state differs, of those asked for.
        equal_at: the last step before it that was asked for; -1 where there is none.
        numbers: those of all states, where they were to be collected.
        shown: what ``show`` returned of the state that differs.
    """

    def __init__(
        self,
        number_of: Callable[[RuleBasedStateMachine], int],
        disarmed: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._number_of, self._disarmed = number_of, disarmed
        self._begin(0)

    def _begin(self, due: int, first: int = 0) -> None:
        self._due = due
        self._original: list[Step] = []
        self._show: Callable[[RuleBasedStateMachine], Any] | None = None
        self.steps = first
        self.other_at: int | None = None
        self.equal_at = -1
        self.shown: Any = None
        self.numbers: list[int] = []
        self._tell: Callable[[RuleBasedStateMachine], Any] | None = None

    def collect(self) -> None:
        """Note the numbers of all states of the next run."""
        self.tell(lambda machine: self.numbers.append(self._number_of(machine)), -1)

    def tell(self, look: Callable[[RuleBasedStateMachine], Any], due: int) -> None:
        """Have ``look`` see the machine in the next run, after the steps that have a bit in ``due``."""
        self._begin(due)
        self._tell = look

    def rest(self) -> None:
        """Look at no state of the runs that follow; what was seen stays."""
        self._due = 0

    def compare(
        self,
        original: list[Step],
        due: int,
        show: Callable[[RuleBasedStateMachine], Any] | None = None,
        first: int = 0,
    ) -> None:
        """Compare the next run, after the steps that have a bit in ``due``. With ``show``, end it where it differs.

        This is told of no step before ``first``.
        """
        self._begin(due, first)
        self._original, self._show = original, show

    def __call__(self, machine: RuleBasedStateMachine) -> None:
        """Look at the state after a step."""
        step = self.steps
        self.steps = step + 1
        if not self._due >> step & 1 or self.other_at is not None:
            return
        with self._disarmed():
            if self._tell is not None:
                self._tell(machine)
                return
            if step < len(self._original) and self._original[step][1] == self._number_of(machine):
                self.equal_at = step
                return
            self.other_at = step
            if self._show is not None:
                self.shown = self._show(machine)
        if self._show is not None and sys.exception() is None:
            raise Ends
