"""How likely a failure is after each step of its trace: runs that begin alike and then go on at random."""

from __future__ import annotations

import math
from itertools import pairwise

import ordeal._native as _native
from ordeal._engine.execution.bucket import falls_into
from ordeal._engine.execution.driver import FAULT_ON, Driver
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.trace_view.view import Chance
from ordeal._hypothesis import skip_types
from ordeal._native import monotonic
from ordeal.errors import OrdealError

#: Runs after each number of steps, made in rounds, so that a limit of time leaves all with about as many.
RUNS = 64
ROUND = 8
#: How many random steps follow: as many for each beginning, so that the shares can be compared.
STEPS_MIN = 12
STEPS_MAX = 60
#: Of a longer trace, this many beginnings are tried.
BEGINNINGS_MAX = 41
#: By how much the share must rise for its step to have decided the failure.
JUMP = 0.3
#: For an interval of 95 %.
_Z = 1.96


def likelihood(
    driver: Driver, replayer: Replayer, tape: _native.Tape, bucket: str, seconds: float
) -> tuple[list[Chance], list[int]]:
    """Return the shares of runs that fail in ``bucket``, by the number of steps that they have from ``tape``.

    Also the steps that decided it: after each of them, failing was much more likely than before.
    """
    total = len(tape)
    counts = {number: [0, 0] for number in beginnings(total)}
    steps = min(STEPS_MAX, max(STEPS_MIN, 2 * total))
    faults = sorted({target for kind, target, _, _ in tape.steps() if kind == FAULT_ON})
    deadline = monotonic() + seconds
    try:
        with driver.watchdog.until(deadline):
            for first in range(0, RUNS, ROUND):
                for beginning, count in counts.items():
                    start = tape.subset([number < beginning for number in range(total)])
                    for seed in range(first, first + ROUND):
                        # Where all steps are taken, nothing is left to chance.
                        going_on = _native.Continuation(
                            shape_of(driver), faults, 0 if beginning == total else steps, seed
                        )
                        count[1] += falls_into(continued(replayer, start, going_on, deadline) or "", bucket)
                        count[0] += 1
    except OutOfTime:
        pass
    chances = [_chance(number, runs, failed) for number, (runs, failed) in counts.items() if runs]
    return chances, decided(chances)


def beginnings(total: int) -> list[int]:
    """Return the numbers of first steps to try, evenly spread where the trace is long."""
    if total < BEGINNINGS_MAX:
        return list(range(total + 1))
    return sorted({round(number * total / (BEGINNINGS_MAX - 1)) for number in range(BEGINNINGS_MAX)})


def decided(chances: list[Chance]) -> list[int]:
    """Return the steps after which the share was higher by a jump; at least the one with the largest rise."""
    rises = [(now.failed / now.runs - before.failed / before.runs, now.steps) for before, now in pairwise(chances)]
    found = [step for rise, step in rises if rise >= JUMP]
    if not found and rises:
        rise, step = max(rises, key=lambda pair: (pair[0], -pair[1]))
        found = [step] if rise > 0 else []
    return found


def shape_of(driver: Driver) -> tuple[int, int, int]:
    """Return how many rules, initialize rules and faults a machine has."""
    definition = driver.definition
    return len(definition.rules), len(definition.initializers), len(driver.faults)


def continued(replayer: Replayer, start: _native.Tape, going_on: _native.Continuation, deadline: float) -> str | None:
    """Return the bucket of a run that goes on at random after ``start``; empty if it passes, None if it is skipped."""
    try:
        return replayer.continued(start, going_on, deadline)
    except OrdealError:
        return None
    except skip_types():
        return None


def _chance(steps: int, runs: int, failed: int) -> Chance:
    """Return a share with its interval (Wilson's score, 95 %)."""
    share, square = failed / runs, _Z * _Z
    middle = (share + square / (2 * runs)) / (1 + square / runs)
    half = _Z / (1 + square / runs) * math.sqrt(share * (1 - share) / runs + square / (4 * runs * runs))
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Chance(steps=steps, runs=runs, failed=failed, low=round(low, 4), high=round(high, 4))
