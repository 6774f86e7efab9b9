"""The decisions of buggify: on the tape of a run, step by step, or among the choices of a Hypothesis test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hypothesis import currently_in_test_context
from hypothesis.control import current_build_context

if TYPE_CHECKING:
    from ordeal._hypothesis.choice_source import ChoiceSource
    from ordeal._native import ChoiceValue, Journal, StepLoop

#: The name of the argument that they are recorded under. No argument of a rule can have it.
BUGGIFY_ARGUMENT = "(buggify)"

#: A step records so many decisions; the points it passes after them do not act. A loop must not fill the memory.
DECISIONS_PER_STEP_MAX = 10_000


class BuggifyDraws:
    """What the points reached in one run do. Owned by the driver, which says when steps begin and end.

    The decisions of a step are kept apart until it has ended: a point may be reached in the middle of an argument,
    whose choices must not be torn. They include those of the invariants after the step. Outside of the steps, while a
    machine is made or torn down and while preconditions are asked, no point acts: no step could hold the decision.

    A replay takes what was recorded for the step, and no point beyond that acts. In a live run none does without
    ``points_act``; what faults draw is for their own switches to say.

    Attributes:
        in_step: whether a step is under way, as the driver says. A step loop, ``loop``, says so itself.
        drawn: the decisions of the step that is under way.
        journal: is told of each at once, if there is one: the process may not come to the end of the step.
    """

    __slots__ = ("_argument", "_points_act", "_recorded", "_source", "drawn", "in_step", "journal", "loop")

    def __init__(self, source: ChoiceSource, argument: int, *, points_act: bool = True) -> None:
        self.in_step = False
        self._points_act = points_act
        self._source = source
        self._argument = argument
        self.drawn: list[bool] = []
        self.journal: Journal | None = None
        self.loop: StepLoop | None = None
        self._recorded: Iterator[ChoiceValue] | None = None

    def renew(self, source: ChoiceSource, *, points_act: bool) -> None:
        """Be as new for another run."""
        self._source = source
        self._points_act = points_act
        self._recorded = None
        self.in_step = False
        self.journal = None
        self.drawn.clear()

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        """Whether the point, or the effect of a fault, acts: with ``probability`` when the run is no replay."""
        if (
            not (self.in_step or (self.loop is not None and self.loop.in_step))
            or len(self.drawn) >= DECISIONS_PER_STEP_MAX
        ):
            return False
        source = self._source
        if source.live:
            if is_point and not self._points_act:
                return False
            acts = source.raw_unit() < probability
        else:
            if self._recorded is None:
                self._recorded = iter(source.recorded_for(self._argument))
            acts = next(self._recorded, False) is True
        self.drawn.append(acts)
        if self.journal is not None:
            self.journal.add_decision(self._argument, acts)
        return acts

    def end_step(self) -> None:
        """Write the decisions of the step to the tape. Without any, its tape is as if there were no buggify."""
        self.in_step = False
        self._recorded = None
        if not self.drawn:
            return
        source = self._source
        source.begin_argument(self._argument)
        for acts in self.drawn:
            if source.live:
                source.put(acts)
            else:
                # Comes to the same decision, and the source learns that it could be False and which were missing.
                source.boolean(0.5)
        self.drawn.clear()


def decide_in_test(probability: float) -> bool | None:
    """A choice of the Hypothesis test that runs in this thread, true with ``probability``; None outside of one."""
    if not currently_in_test_context():
        return None
    data = current_build_context().data
    return False if data.frozen else data.draw_boolean(probability)
