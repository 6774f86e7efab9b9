"""When each fault of a failing trace must be on: it is switched earlier and later, and the trace runs again."""

from __future__ import annotations

from collections.abc import Sequence

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._engine.execution.driver import FAULT_OFF, FAULT_ON, Driver
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.trace_view.trials import Trials
from ordeal._engine.trace_view.view import FaultWindow, Switch

#: So many positions are tried for the switch on, and as many for the switch off.
POSITIONS_MAX = 16
FAULTS_MAX = 12


def fault_windows(driver: Driver, trials: Trials, tape: _native.Tape) -> list[FaultWindow]:
    """Return for each fault that the trace switches on at which positions of the switches it fails alike."""
    steps = tape.steps()
    found = []
    try:
        for at in [at for at, step in enumerate(steps) if step[0] == FAULT_ON][:FAULTS_MAX]:
            target = steps[at][1]
            off = next(
                (other for other in range(at + 1, len(steps)) if steps[other][:2] == (FAULT_OFF, target)), len(steps)
            )
            found.append(
                FaultWindow(
                    fault=one_line(driver.faults[target].name),
                    step=at + 1,
                    on=_tried(trials, steps, at, range(_earliest(steps, at), off)),
                    off=_switched_off(trials, steps, at, off),
                )
            )
    except OutOfTime:
        pass
    return found


def _earliest(steps: Sequence[_native.StepTuple], at: int) -> int:
    """Return the first position to which a switch can move without meeting another of the same fault."""
    target = steps[at][1]
    before = (other for other in range(at) if steps[other][0] in (FAULT_ON, FAULT_OFF) and steps[other][1] == target)
    return max(before, default=-1) + 1


def _tried(trials: Trials, steps: Sequence[_native.StepTuple], at: int, positions: Sequence[int]) -> list[Switch]:
    """Return whether the trace fails when the step ``at`` comes before others; those are named by their numbers."""
    found = []
    for position in _spread([each for each in positions if each not in (at, at + 1)]):
        order = [step for number, step in enumerate(steps) if number != at]
        order.insert(position if position < at else position - 1, steps[at])
        found.append(Switch(position + 1, trials.fails_alike(trials.run(_native.Tape.from_steps(order)))))
    if at + 1 < len(steps):
        found.append(Switch(at + 2, True))
    return sorted(found, key=lambda switch: switch.before)


def _switched_off(trials: Trials, steps: Sequence[_native.StepTuple], at: int, off: int) -> list[Switch]:
    """Return whether the trace fails when the fault is off again before each of the steps that follow."""
    kind_off: _native.StepTuple = (FAULT_OFF, steps[at][1], max(step[2] for step in steps) + 1, [])
    rest = [step for number, step in enumerate(steps) if number != off]
    found = []
    for position in _spread(list(range(at + 2, len(rest)))):
        order = [*rest[:position], kind_off, *rest[position:]]
        number = position + (position >= off)
        found.append(Switch(number + 1, trials.fails_alike(trials.run(_native.Tape.from_steps(order)))))
    return found


def _spread(positions: Sequence[int]) -> list[int]:
    """Return the positions, or of many some that are evenly spread."""
    if len(positions) <= POSITIONS_MAX:
        return list(positions)
    last = len(positions) - 1
    return [positions[round(number * last / (POSITIONS_MAX - 1))] for number in range(POSITIONS_MAX)]
