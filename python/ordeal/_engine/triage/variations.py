"""Runs near a failing one: without one of its steps, or with one choice changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ordeal._native as _native


def codes_of(tape: _native.Tape) -> list[int]:
    """Return the code of each step."""
    return [target << 3 | kind for kind, target, *_ in tape.steps()]


def changed_tapes(tape: _native.Tape, limit: int) -> Iterator[tuple[_native.Tape, bool]]:
    """Yield up to ``limit`` tapes: without one step before the last, then with one choice changed, the last step first.

    With each, yield whether it differs before its last step.
    """
    steps = tape.steps()
    made = 0
    for left_out in range(min(len(steps) - 1, limit // 4)):
        made += 1
        yield tape.subset([at != left_out for at in range(len(steps))]), True
    for at in reversed(range(len(steps))):
        for changed in changed_steps(steps[at]):
            if made >= limit:
                return
            made += 1
            yield _native.Tape.from_steps([*steps[:at], changed, *steps[at + 1 :]]), at < len(steps) - 1


def changed_arguments(one: _native.Tape, other: _native.Tape) -> frozenset[tuple[int, int]] | None:
    """Return the arguments that differ, each by its step and its name; None where the steps themselves differ."""
    if codes_of(one) != codes_of(other):
        return None
    changed = set()
    for at, (mine, others) in enumerate(zip(one.steps(), other.steps(), strict=True)):
        values, other_values = dict(mine[3]), dict(others[3])
        changed |= {
            (at, name) for name in values.keys() | other_values.keys() if values.get(name) != other_values.get(name)
        }
    return frozenset(changed)


def changed_steps(step: _native.StepTuple) -> Iterator[_native.StepTuple]:
    """Yield a step of a tape with one choice changed to a value near it."""
    kind, target, origin, arguments = step
    for place, (name, choices) in enumerate(arguments):
        for which, choice in enumerate(choices):
            for value in near_values(choice):
                changed = [*choices[:which], value, *choices[which + 1 :]]
                yield kind, target, origin, [*arguments[:place], (name, changed), *arguments[place + 1 :]]


def near_values(choice: Any) -> list[Any]:
    """Return values of the same type near a choice, and the simplest."""
    values: list[Any] = []
    if isinstance(choice, bool):
        return [not choice]
    if isinstance(choice, int):
        values = [choice + by for by in (-1, 1, -2, 2, -3, 3)] + [choice // 2, 0, 1, -choice]
    elif isinstance(choice, float):
        values = [choice - 1, choice + 1, choice / 2, 0.0, -choice]
    elif isinstance(choice, str):
        values = [choice[:-1], choice + "a", "a" * len(choice), choice[1:], ""]
    elif isinstance(choice, bytes):
        values = [choice[:-1], choice + b"\0", bytes(len(choice)), b""]
    return [value for value in dict.fromkeys(values) if value != choice]
