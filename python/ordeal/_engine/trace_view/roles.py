"""What each step of a failing trace is needed for: the trace runs without it, and in another order."""

from __future__ import annotations

from collections.abc import Sequence

import ordeal._native as _native
from ordeal._base.formatting import describe_error
from ordeal._engine.execution.driver import RULE, Status
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayed
from ordeal._engine.trace_view.trials import Trials, origins, without
from ordeal._engine.trace_view.view import Role, StepView

#: Of a longer trace, nothing is said: it was not shrunk, and most of its steps are needed for nothing.
STEPS_MAX = 100
NAMED_MAX = 6


def removals(trials: Trials, tape: _native.Tape) -> dict[int, Replayed | None]:
    """Return what the trace does without each of its steps but the last, by their positions, as far as time allows."""
    found: dict[int, Replayed | None] = {}
    if len(tape) <= STEPS_MAX:
        try:
            for number in reversed(range(len(tape) - 1)):
                found[number] = trials.run(without(tape, number))
        except OutOfTime:
            pass
    return found


def roles(
    trials: Trials, tape: _native.Tape, removed: dict[int, Replayed | None], views: Sequence[StepView]
) -> list[Role]:
    """Return what each step is needed for, in order."""
    traded = _traded(trials, tape, removed)
    found = []
    for number in sorted(removed):
        said = _said(trials, tape, number, removed[number], views)
        if number in traded:
            said = f"{said}; may trade places with step {number + 2}" if said else ""
        if said:
            found.append(Role(number + 1, said))
    return found


def _said(trials: Trials, tape: _native.Tape, number: int, replayed: Replayed | None, views: Sequence[StepView]) -> str:
    if replayed is None:
        return ""
    if trials.fails_alike(replayed):
        return "not needed: without it the trace fails alike"
    error = replayed.outcome.error
    if replayed.outcome.status is Status.FAILED and error is not None:
        return f"needed: without it the trace fails in another way, with {describe_error(error)}"
    there = set(origins(replayed.tape))
    missing = [at for at, origin in enumerate(origins(tape)) if at > number and origin not in there]
    if not missing:
        return "needed: without it the run passes"
    made = _made_by(views[number])
    used = [at for at in missing if made.intersection(views[at].arguments.values())]
    if used:
        return f"needed: makes what {_named(used)}"
    return f"needed: without it {_named(missing, 'cannot run')}"


def _made_by(view: StepView) -> set[str]:
    return {part.partition(" = ")[0] for part in view.result.split(", ") if " = " in part}


def _named(steps: Sequence[int], verb: str = "") -> str:
    """Return steps by their numbers, as a subject of a verb: ``step 2 takes``, ``steps 2, 4 to 6 take``."""
    ranges: list[list[int]] = []
    for step in steps:
        if ranges and ranges[-1][1] == step:
            ranges[-1][1] = step + 1
        else:
            ranges.append([step + 1, step + 1])
    parts: list[str] = []
    for first, last in ranges[:NAMED_MAX]:
        parts += [f"{first} to {last}"] if last - first > 1 else map(str, range(first, last + 1))
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]
    more = " and others" if len(ranges) > NAMED_MAX else ""
    return f"steps {listed}{more} {verb or 'take'}" if len(steps) > 1 else f"step {listed} {verb or 'takes'}"


def _traded(trials: Trials, tape: _native.Tape, removed: dict[int, Replayed | None]) -> set[int]:
    """Return the needed rules which may come after the needed rule that follows them; the last step fails."""
    steps = tape.steps()
    needed = {at for at, replayed in removed.items() if steps[at][0] == RULE and not trials.fails_alike(replayed)}
    found = set()
    try:
        for at in sorted(needed):
            if at + 1 in needed:
                order = [*steps[:at], steps[at + 1], steps[at], *steps[at + 2 :]]
                replayed = trials.run(_native.Tape.from_steps(order))
                if replayed is not None and not replayed.rejected and trials.fails_alike(replayed):
                    found.add(at)
    except OutOfTime:
        pass
    return found
