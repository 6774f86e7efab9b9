"""The trace of a failing schedule: one step, whose choices are the decisions; and how it is read again."""

from __future__ import annotations

from dataclasses import dataclass

from ordeal._base.trace_file import SCHEDULE, ChoiceValue, Trace, TraceFailure, TraceStep
from ordeal.errors import TraceError
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.runtime.decisions import SEED_MAX, Decided
from ordeal.simulate.runtime.report import ScheduleFailure
from ordeal.simulate.runtime.scheduled_faults import SimulatedFault, fault_of_text, fault_text
from ordeal.simulate.runtime.text import decision_text, replay_call

#: The names of its other choices: no argument of a rule can have them.
CHANCE, FAULTS = "(chance)", "(faults)"


@dataclass(frozen=True, slots=True)
class RecordedSchedule:
    """What a trace says of a schedule."""

    decided: list[Decided]
    chance: int
    faults: tuple[SimulatedFault, ...]
    bucket: str


def to_trace(failure: ScheduleFailure, test: str) -> Trace:
    """Return the trace of a failure of ``test``, which is ``module:function``."""
    world: list[ChoiceValue] = [part for label, value in failure.decisions.items() for part in (label, value)]
    step = TraceStep(
        kind="rule",
        name=test.rpartition(":")[2],
        choices={
            SCHEDULE: world,
            CHANCE: [failure.chance],
            FAULTS: [fault_text(fault) for fault in failure.faults],
        },
        draws=[decision_text(decision, failure.faults) for decision in failure.decided],
    )
    return Trace(
        run_id=failure.run,
        seed=failure.seed,
        test_class=test,
        steps=[step],
        failure=TraceFailure.of(failure.error, 1, failure.bucket),
        program=replay_call(failure, step.name.rpartition(".")[2]).splitlines(),
    )


def from_trace(trace: Trace) -> RecordedSchedule:
    """Return the schedule of a trace.

    Raises:
        TraceError: its choices are not those of a schedule.
    """
    choices = trace.steps[0].choices
    world, chance = choices[SCHEDULE], choices.get(CHANCE, [0])
    where = f"the trace of {trace.test_class}"
    if len(world) % 2 or len(chance) != 1:
        raise TraceError(f"{where} has an incomplete list of choices")
    (seed,) = chance
    if type(seed) is not int or not 0 <= seed <= SEED_MAX:
        raise TraceError(f"{where} has {seed!r:.50} as a seed")
    try:
        decided = [Decided.from_label(label, value) for label, value in zip(world[::2], world[1::2], strict=True)]
        faults = tuple(fault_of_text(str(text)) for text in choices.get(FAULTS, []))
    except SimulationError as error:
        raise TraceError(f"{where}: {error.message}") from None
    return RecordedSchedule(decided, seed, faults, trace.failure.bucket if trace.failure is not None else "")
