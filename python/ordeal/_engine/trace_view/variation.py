"""Which arguments of a failing trace may have other values: each is changed alone, and the trace is run again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import ordeal._native as _native
from ordeal._engine.execution.driver import Driver
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.trace_view.trials import Trials, with_choice
from ordeal._engine.trace_view.view import Variation
from ordeal._native import monotonic

#: What an integer is changed to, besides its neighbours; the replay takes the nearest value that the strategy allows.
_TRIED = (0, 1, 2, 3, 5, 10, 30, 100, 1_000, 1_000_000, 2**40, -1, -2, -5, -30, -1_000, -(2**40))
#: So many other values must have been possible for a statement.
OTHERS_MIN = 2
BISECTIONS_MAX = 48
#: So many values that pass among more that fail are named.
EXCEPTIONS_MAX = 3


def variations(
    driver: Driver,
    replayer: Replayer,
    tape: _native.Tape,
    bucket: str,
    texts: Sequence[Mapping[str, str]],
    seconds: float,
) -> list[Variation]:
    """Return what may be said of the arguments that one integer or boolean decides.

    ``texts`` are the arguments of each step as they are shown: a number is only compared where it is shown as itself,
    and not where it is the position of something in a list.
    """
    found = []
    names = driver.definition.argument_names
    steps = tape.steps()
    deadline = monotonic() + seconds
    trials = Trials(replayer, bucket, deadline)
    try:
        with driver.watchdog.until(deadline):
            for number, (_, _, _, arguments) in enumerate(steps):
                for at, (name, choices) in enumerate(arguments):
                    shown = texts[number].get(names[name]) if number < len(texts) else None
                    if shown is None or len(choices) != 1 or type(choices[0]) not in (int, bool):
                        continue
                    trial = _Trial(trials, steps, number, at)
                    said = _said(trial.fails, int(choices[0]), is_number=shown == str(choices[0]))
                    if said:
                        found.append(Variation(number + 1, names[name], said))
    except OutOfTime:
        pass
    return found


class _Trial:
    """Runs the trace with another value of one argument."""

    def __init__(self, trials: Trials, steps: Sequence[_native.StepTuple], number: int, at: int) -> None:
        self._trials = trials
        self._steps = steps
        self._number = number
        self._at = at

    def fails(self, value: int) -> tuple[int, bool] | None:
        """Return the value that the argument had, and whether the run failed alike; None if it had none.

        Raises:
            OutOfTime: the deadline has come.
        """
        replayed = self._trials.run(with_choice(self._steps, self._number, self._at, value))
        if replayed is None:
            return None
        _, _, origin, arguments = self._steps[self._number]
        name = arguments[self._at][0]
        for _, _, ran, drawn in replayed.tape.steps():
            if ran == origin:
                values = [choices for other, choices in drawn if other == name and len(choices) == 1]
                if values and isinstance(values[0][0], int):
                    return int(values[0][0]), self._trials.fails_alike(replayed)
        return None


def _said(fails: Callable[[int], tuple[int, bool] | None], value: int, *, is_number: bool) -> str:
    """Return what is to be said of an argument with the failing ``value``; nothing if too little is known."""
    tried = {value: True}
    for other in dict.fromkeys((value - 1, value + 1, 1 - value, *_TRIED)):
        seen = fails(other) if other not in tried and -(2**63) <= other < 2**63 else None
        if seen is not None:
            tried[seen[0]] = seen[1]
    others = len(tried) - 1
    if others < OTHERS_MIN:
        return ""
    failing = sorted(each for each, failed in tried.items() if failed)
    passing = sorted(each for each, failed in tried.items() if not failed)
    if not passing:
        return f"may be anything: {others} other values fail alike"
    if not is_number:
        return ""
    if len(failing) == 1:
        return f"must be {value}: none of {others} other values fails alike"
    if passing[-1] < failing[0]:
        return f"must be {_border(fails, passing[-1], failing[0])} or more"
    if failing[-1] < passing[0]:
        return f"must be {_border(fails, passing[0], failing[-1])} or less"
    if len(passing) <= EXCEPTIONS_MAX < len(failing):
        return f"may be anything but {' or '.join(map(str, passing))}: {len(failing) - 1} other values fail alike"
    return ""


def _border(fails: Callable[[int], tuple[int, bool] | None], passing: int, failing: int) -> int:
    """Return the failing value nearest to those that pass."""
    for _ in range(BISECTIONS_MAX):
        if abs(failing - passing) <= 1:
            break
        middle = (passing + failing) // 2
        seen = fails(middle)
        if seen is None or seen[0] != middle:
            break
        if seen[1]:
            failing = middle
        else:
            passing = middle
    return failing
