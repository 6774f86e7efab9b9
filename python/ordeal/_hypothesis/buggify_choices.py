"""The decisions of buggify: on the tape of a run, step by step, or among the choices of a Hypothesis test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hypothesis import currently_in_test_context

from ordeal._hypothesis.private import private

if TYPE_CHECKING:
    from ordeal._hypothesis.provider import ChoiceSource
    from ordeal._native import ChoiceValue, Journal, StepLoop

_test_context = private("hypothesis.control:current_build_context", None)

#: The argument name under which decisions are recorded. No argument of a rule can have it.
BUGGIFY_ARGUMENT = "(buggify)"

#: A step records this many decisions; points reached after them do not act. A loop must not fill the memory.
DECISIONS_PER_STEP_MAX = 10_000


class BuggifyDraws:
    """Decides for the points reached in one run. Owned by the driver, which reports when steps begin and end.

    The decisions of a step are written when it has ended: a point may be reached in the middle of an argument, whose
    choices must stay together. They include those of the invariants after the step. Outside steps, while a machine is
    made or torn down and while preconditions are checked, no point acts: no step could record the decision.

    A replay repeats the decisions recorded for the step, and no point beyond them acts. In a live run points act only
    with ``points_act``; the draws of faults depend on their own switches.

    Attributes:
        in_step: whether a step is under way, as the driver reports. A step loop, ``loop``, reports it instead.
        drawn: the decisions of the current step.
        journal: records each decision at once, if there is one: the process may die before the step ends.
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
        """Reset for another run."""
        self._source = source
        self._points_act = points_act
        self._recorded = None
        self.in_step = False
        self.journal = None
        self.drawn.clear()

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        """Decide whether the point, or the effect of a fault, acts: with ``probability`` unless the run is a replay."""
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
        """Write the decisions of the step to the tape; a step without any leaves no mark there."""
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
                # This gives the same decision. It also reports to the source that False was possible, and which
                # decisions were missing.
                source.boolean(0.5)
        self.drawn.clear()


def decide_in_test(probability: float) -> bool | None:
    """Draw a choice of the Hypothesis test in this thread, true with ``probability``; None outside a test."""
    if _test_context is None or not currently_in_test_context():
        return None
    data = _test_context().data
    return False if data.frozen else data.draw_boolean(probability)
