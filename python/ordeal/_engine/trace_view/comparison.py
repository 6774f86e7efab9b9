"""The nearest run that passes, step by step beside the failing one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import ordeal._native as _native
from ordeal._engine.execution.driver import FAULT_ON, Driver
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayed
from ordeal._engine.trace_view.trials import Trials, origins, passes, with_choice, without
from ordeal._engine.trace_view.view import Difference, PassingRun, PassingStep, StepView, TraceView
from ordeal._engine.trace_view.watch import StepWatch

DIFFERENCES_MAX = 40
#: So many values are tried where no step can be left out.
TRIED_MAX = 64


def compared(
    driver: Driver,
    trials: Trials,
    tape: _native.Tape,
    removed: Mapping[int, Replayed | None],
    view: TraceView,
    new_watch: Callable[[], StepWatch],
) -> PassingRun | None:
    """Return the nearest passing run beside the failing one of ``view``; None if none was found in time."""
    try:
        nearest = _nearest(driver, trials, tape, removed, view.steps)
        if nearest is None:
            return None
        how, passing = nearest
        watch = new_watch()
        with watch.watching():
            replayed = trials.run(passing, watch)
    except OutOfTime:
        return None
    if replayed is None or not passes(replayed):
        return None
    beside = TraceView(start=watch.start, steps=watch.views)
    return _beside(how, origins(tape), view, origins(replayed.tape), beside)


def _nearest(
    driver: Driver,
    trials: Trials,
    tape: _native.Tape,
    removed: Mapping[int, Replayed | None],
    views: Sequence[StepView],
) -> tuple[str, _native.Tape] | None:
    """Return a passing variant in words, and its tape.

    First without the last fault that is needed, then without the step that takes the fewest others with it, the last
    of these; then with another value of the last argument that allows one.
    """
    steps = tape.steps()
    left_out = {at: len(run.tape) for at, run in removed.items() if run is not None and passes(run)}
    if left_out:
        at = max(left_out, key=lambda at: (steps[at][0] == FAULT_ON, left_out[at], at))
        return f"without step {at + 1}", without(tape, at)
    names = driver.definition.argument_names
    tried = 0
    for number in reversed(range(min(len(steps), len(views)))):
        for at, (name, choices) in reversed(list(enumerate(steps[number][3]))):
            if len(choices) != 1 or type(choices[0]) not in (int, bool) or names[name] not in views[number].arguments:
                continue
            value = int(choices[0])
            for other in dict.fromkeys((value - 1, value + 1, 1 - value, 0, 2 * value, value // 2)):
                if other == value or not -(2**63) <= other < 2**63 or tried >= TRIED_MAX:
                    continue
                tried += 1
                candidate = with_choice(steps, number, at, other)
                replayed = trials.run(candidate)
                if replayed is not None and passes(replayed) and len(replayed.tape) == len(tape):
                    return f"with another {names[name]} in step {number + 1}", candidate
    return None


def _beside(
    how: str, failing_steps: Sequence[int], failing: TraceView, passing_steps: Sequence[int], passing: TraceView
) -> PassingRun:
    """Return where two runs differ, by the steps of the failing one."""
    at_by_origin = {origin: at for at, origin in enumerate(passing_steps[: len(passing.steps)])}
    failing_states, passing_states = failing.states(), passing.states()
    there = passing.start
    known: dict[str, Difference] = {}
    found: list[PassingStep] = []
    first = 0
    for number, (view, here) in enumerate(zip(failing.steps, failing_states, strict=True)):
        at = at_by_origin.get(failing_steps[number]) if number < len(failing_steps) else None
        there = there if at is None else passing_states[at]
        differs = _differing(there, here)
        new = [each for path, each in differs.items() if known.get(path) != each]
        gone = [Difference(path, here.get(path), here.get(path)) for path in known if path not in differs]
        other = None if at is None else passing.steps[at]
        result = "" if other is None or other.result == view.result else other.result or "nothing"
        arguments = {} if other is None or other.arguments == view.arguments else dict(other.arguments)
        if not first and at is not None and (new or result or arguments):
            first = number + 1
        found.append(
            PassingStep(ran=at is not None, arguments=arguments, result=result, differs=[*new, *gone][:DIFFERENCES_MAX])
        )
        known = differs
    return PassingRun(how=how, first=first, steps=found)


def _differing(there: Mapping[str, str], here: Mapping[str, str]) -> dict[str, Difference]:
    paths = [*here, *(path for path in there if path not in here)]
    return {
        path: Difference(path, there.get(path), here.get(path)) for path in paths if there.get(path) != here.get(path)
    }
