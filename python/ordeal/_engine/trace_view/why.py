"""Why a trace fails: its variants show which step decided, which lines did, what may vary, and what passes nearby."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from types import CodeType

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._base.limits import LISTED_MAX
from ordeal._base.monitoring_tools import free_tool, take_tool
from ordeal._engine.execution.bucket import falls_into
from ordeal._engine.execution.driver import FAULT_ON, Driver, Status
from ordeal._engine.execution.where import shown_path
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayed, Replayer
from ordeal._engine.trace_view.view import FailShare, PassingRun, SuspiciousLine, TraceView, Variation
from ordeal._engine.trace_view.watch import ReplayWatch, code_at
from ordeal._hypothesis.internals import skip_types
from ordeal._native import monotonic
from ordeal.errors import OrdealError

#: Runs after each number of steps: with 64, benchmarks/decided_steps.py names the right step of ten puzzles out of ten.
RUNS = 64
#: Runs before the next number of steps has its turn, so that a time limit leaves all with about the same number.
ROUND = 8
#: A step decided the failure if the share of failing runs rises by this much after it.
JUMP = 0.3
#: Positions that are tried in a longer trace.
POSITIONS_MAX = 41
#: What an integer is changed to, besides its neighbours; the replay takes the nearest value that the strategy allows.
_TRIED = (0, 1, 2, 3, 5, 10, 30, 100, 1_000, 1_000_000, 2**40, -1, -2, -5, -30, -1_000, -(2**40))


class Variants:
    """Runs variants of the trace ``tape``, which fails in ``bucket``, until a deadline."""

    def __init__(self, driver: Driver, replayer: Replayer, tape: _native.Tape, bucket: str, deadline: float) -> None:
        self.driver = driver
        self.tape = tape
        self.steps = tape.steps()
        self.deadline = deadline
        self._replayer = replayer
        self._bucket = bucket

    def run(self, tape: _native.Tape, watch: ReplayWatch | None = None) -> Replayed | None:
        """Return what ``tape`` did; None if it asked to be skipped, or one of its faults could not be switched.

        Raises:
            OutOfTime: the deadline has come.
        """
        if monotonic() >= self.deadline:
            raise OutOfTime
        try:
            return self._replayer.run(tape, watch)
        except OrdealError:
            return None
        except skip_types():
            return None

    def with_choice(self, number: int, at: int, value: int) -> _native.Tape:
        """Return the trace where the argument ``at`` of a step, which one choice decides, has another value."""
        kind, target, origin, arguments = self.steps[number]
        name, (before,) = arguments[at]
        changed = list(arguments)
        changed[at] = name, [bool(value) if isinstance(before, bool) else value]
        step: _native.StepTuple = (kind, target, origin, changed)
        return _native.Tape.from_steps([*self.steps[:number], step, *self.steps[number + 1 :]])

    def fails_continued(self, steps: int, seed: int) -> bool | None:
        """Return True if a run that takes the first ``steps`` steps and then random ones fails the same way.

        Returns None if it neither fails the same way nor passes.
        """
        total, definition = len(self.tape), self.driver.definition
        shape = len(definition.rules), len(definition.initializers), len(self.driver.faults)
        faults = sorted({target for kind, target, _, _ in self.steps if kind == FAULT_ON})
        # The whole trace leaves nothing to chance. The others go on for the same number of steps, to be comparable.
        going_on = _native.Continuation(shape, faults, 0 if steps == total else min(60, max(12, 2 * total)), seed)
        start = self.tape.subset([number < steps for number in range(total)])
        try:
            bucket = self._replayer.continued(start, going_on, self.deadline)
        except OrdealError:
            return None
        except skip_types():
            return None
        return falls_into(bucket, self._bucket) or (None if bucket else False)

    def fails_alike(self, replayed: Replayed | None) -> bool:
        """Return True if a run failed as the trace does."""
        return replayed is not None and falls_into(replayed.bucket, self._bucket)


def spread(positions: Sequence[int]) -> list[int]:
    """Return the positions; if there are many, some that are evenly spread, with the first and the last."""
    last, most = len(positions) - 1, POSITIONS_MAX
    return [positions[round(at * last / (most - 1))] for at in range(most)] if last >= most else list(positions)


# -- when it was decided


def likelihood(
    variants: Variants, codes: Iterable[CodeType] = ()
) -> tuple[list[FailShare], list[int], list[SuspiciousLine]]:
    """Return the share of failing runs after each number of steps, and the steps after which it was much higher.

    Also return the lines of ``codes`` that failing runs take much more often than passing ones.
    """
    counts = {number: [0, 0] for number in spread(range(len(variants.tape) + 1))}
    spectrum: dict[bool, Counter[Line]] = {True: Counter(), False: Counter()}
    total: Counter[bool] = Counter()
    try:
        with variants.driver.watchdog.until(variants.deadline), lines_of(codes) as lines:
            for first in range(0, RUNS, ROUND):
                for beginning, count in counts.items():
                    for seed in range(first, first + ROUND):
                        failed = variants.fails_continued(beginning, seed)
                        count[1] += bool(failed)
                        count[0] += 1
                        seen = lines()
                        if failed is not None:
                            total[failed] += 1
                            spectrum[failed].update(seen)
    except OutOfTime:
        pass
    shares = [FailShare(steps=steps, runs=runs, failed=failed) for steps, (runs, failed) in counts.items() if runs]
    return shares, decided(shares), suspicious(spectrum, total)


def decided(shares: list[FailShare]) -> list[int]:
    """Return the steps after which the share was higher by a jump; at least the one with the largest rise."""
    rises = [(now.failed / now.runs - before.failed / before.runs, now.steps) for before, now in pairwise(shares)]
    found = [step for rise, step in rises if rise >= JUMP]
    if not found and rises:
        rise, step = max(rises, key=lambda pair: (pair[0], -pair[1]))
        found = [step] if rise > 0 else []
    return found


# -- which lines failing runs take and passing ones do not


#: A line of a function.
Line = tuple[CodeType, int]
#: A line is suspicious if failing runs take it at least this many times as often as passing ones.
RATIO_MIN = 2


@contextmanager
def lines_of(codes: Iterable[CodeType]) -> Iterator[Callable[[], set[Line]]]:
    """Note which lines of ``codes`` run in the block. What is yielded returns those since it was last called."""
    codes, seen, monitoring = list(codes), set[Line](), sys.monitoring
    tool = free_tool() if codes else None
    if tool is None:
        yield set
        return

    def note(code: CodeType, line: int) -> object:
        seen.add((code, line))
        return monitoring.DISABLE

    def take() -> set[Line]:
        found = set(seen)
        seen.clear()
        monitoring.restart_events()
        return found

    take_tool(tool, "ordeal viewer")
    monitoring.register_callback(tool, monitoring.events.LINE, note)
    for code in codes:
        monitoring.set_local_events(tool, code, monitoring.events.LINE)
    try:
        yield take
    finally:
        for code in codes:
            monitoring.set_local_events(tool, code, 0)
        monitoring.register_callback(tool, monitoring.events.LINE, None)
        monitoring.free_tool_id(tool)


def suspicious(spectrum: Mapping[bool, Counter[Line]], total: Mapping[bool, int]) -> list[SuspiciousLine]:
    """Return the most suspicious lines, by Ochiai's coefficient; of lines that always run together, the first."""
    blocks: dict[tuple[CodeType, int, int], int] = {}
    for (code, line), failing in spectrum[True].items():
        passing = spectrum[False][code, line]
        if failing * total[False] >= RATIO_MIN * passing * total[True] and total[False]:
            block = code, failing, passing
            blocks[block] = min(line, blocks.get(block, line))

    def rank(block: tuple[CodeType, int, int]) -> tuple[float, str, int]:
        code, failing, passing = block
        return -failing / math.sqrt(total[True] * (failing + passing)), code.co_filename, blocks[block]

    return [
        SuspiciousLine(
            shown_path(code.co_filename),
            blocks[code, failing, passing],
            code_at(code.co_filename, blocks[code, failing, passing]),
            one_line(code.co_qualname),
            failing,
            total[True],
            passing,
            total[False],
        )
        for code, failing, passing in sorted(blocks, key=rank)[:LISTED_MAX]
    ]


# -- the nearest run that passes


def nearest(
    variants: Variants, texts: Sequence[Mapping[str, str]], watch: ReplayWatch, *, last_checks: bool
) -> PassingRun | None:
    """Return the first variant that passes, recorded by ``watch``; None if none does in time.

    With ``last_checks`` the last step is varied last: where a rule itself fails, it only shows what went wrong before.
    """
    try:
        with variants.driver.watchdog.until(variants.deadline):
            for number, argument, tape in _neighbours(variants, texts, last_checks):
                replayed = variants.run(tape)
                if replayed is None or replayed.outcome.status is not Status.DONE:
                    continue
                with watch.watching():
                    again = variants.run(replayed.tape, watch)
                if again is None or again.outcome.status is not Status.DONE:
                    return None
                there = {origin: at for at, (_, _, origin, _) in enumerate(again.tape.steps()[: len(watch.views)])}
                at = [there.get(origin) for _, _, origin, _ in variants.steps]
                return PassingRun(
                    step=number + 1, argument=argument, view=TraceView(start=watch.start, steps=watch.views), at=at
                )
    except OutOfTime:
        pass
    return None


def _neighbours(
    variants: Variants, texts: Sequence[Mapping[str, str]], last_checks: bool
) -> Iterator[tuple[int, str, _native.Tape]]:
    """Yield tapes near that of the trace: without a fault, with another value, without a step; the last of each first.

    Each comes with the step that differs, and the argument that has another value.
    """
    steps, names = variants.steps, variants.driver.definition.argument_names

    def without(number: int) -> tuple[int, str, _native.Tape]:
        return number, "", variants.tape.subset([other != number for other in range(len(steps))])

    faults = [number for number, step in enumerate(steps) if step[0] == FAULT_ON]
    yield from map(without, reversed(faults))
    order = sorted(range(len(steps)), key=lambda number: (last_checks and number == len(steps) - 1, -number))
    for number in order:
        for at, (name, choices) in enumerate(steps[number][3]):
            if len(choices) == 1 and type(choices[0]) in (int, bool) and names[name] in texts[number]:
                value = int(choices[0])
                for other in dict.fromkeys((value - 1, value + 1, 1 - value, 0)):
                    if other != value and -(2**63) <= other < 2**63:
                        yield number, names[name], variants.with_choice(number, at, other)
    yield from (without(number) for number in order if number not in faults)


# -- which arguments may have other values


def variations(variants: Variants, texts: Sequence[Mapping[str, str]]) -> list[Variation]:
    """Return what other values the arguments may have that one integer or boolean decides.

    ``texts`` are the arguments of each step as they are shown: a number is only compared where it is shown as itself,
    and not where it is the position of something in a list.
    """
    found = []
    names = variants.driver.definition.argument_names
    try:
        with variants.driver.watchdog.until(variants.deadline):
            for number, (_, _, _, arguments) in enumerate(variants.steps):
                for at, (name, choices) in enumerate(arguments):
                    shown = texts[number].get(names[name]) if number < len(texts) else None
                    if shown is None or len(choices) != 1 or type(choices[0]) not in (int, bool):
                        continue
                    said = _variation(variants, number, at, is_number=shown == str(choices[0]))
                    if said:
                        found.append(Variation(number + 1, names[name], said))
    except OutOfTime:
        pass
    return found


def _variation(variants: Variants, number: int, at: int, *, is_number: bool) -> str:
    """Return what other values an argument may have; empty if too little is known."""
    _, _, origin, arguments = variants.steps[number]
    name, (failing_choice,) = arguments[at]
    value = int(failing_choice)
    tried = {value: True}

    def attempt(wanted: int) -> None:
        """Run with the value ``wanted``, and note how the value failed that the argument had in fact."""
        replayed = variants.run(variants.with_choice(number, at, wanted))
        for _, _, ran, drawn in [] if replayed is None else replayed.tape.steps():
            values = [choices[0] for other, choices in drawn if ran == origin and other == name and len(choices) == 1]
            if values and isinstance(values[0], int):
                tried.setdefault(int(values[0]), variants.fails_alike(replayed))

    def border(passing: int, failing: int) -> int:
        """Return the failing value nearest to those that pass."""
        while abs(failing - passing) > 1:
            middle = (passing + failing) // 2
            attempt(middle)
            if middle not in tried:
                break
            passing, failing = (passing, middle) if tried[middle] else (middle, failing)
        return failing

    for other in dict.fromkeys((value - 1, value + 1, 1 - value, *_TRIED)):
        if other not in tried and -(2**63) <= other < 2**63:
            attempt(other)
    others = len(tried) - 1
    failing = sorted(each for each, failed in tried.items() if failed)
    passing = sorted(each for each, failed in tried.items() if not failed)
    if others < 2:
        return ""
    if not passing:
        return f"may be anything: {others} other values fail the same way"
    if not is_number:
        return ""
    if len(failing) == 1:
        return f"must be {value}: none of {others} other values fails the same way"
    if passing[-1] < failing[0]:
        return f"must be {border(passing[-1], failing[0])} or more"
    if failing[-1] < passing[0]:
        return f"must be {border(passing[0], failing[-1])} or less"
    if len(passing) <= 3 < len(failing):
        return (
            f"may be anything but {' or '.join(map(str, passing))}: {len(failing) - 1} other values fail the same way"
        )
    return ""
