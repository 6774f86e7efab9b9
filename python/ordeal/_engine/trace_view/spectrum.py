"""Suspicious lines: those that failing runs take and passing ones do not, among runs that begin alike."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType

import ordeal._native as _native
from ordeal._base.formatting import one_line
from ordeal._base.monitoring_tools import free_tool
from ordeal._engine.execution.bucket import falls_into
from ordeal._engine.execution.driver import FAULT_ON, Driver
from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._engine.replay.replayer import Replayer
from ordeal._engine.trace_view.likelihood import STEPS_MAX, STEPS_MIN, beginnings, continued, shape_of
from ordeal._engine.trace_view.view import SuspiciousLine
from ordeal._engine.trace_view.watch import code_at, shown_path
from ordeal._native import monotonic

RUNS_MAX = 400
#: Fewer passing runs say nothing.
PASSING_MIN = 8
LINES_MAX = 5
#: A line is suspicious when failing runs take it at least so many times as often as passing ones.
RATIO_MIN = 2
_MONITORING = sys.monitoring
_LINE = _MONITORING.events.LINE

Line = tuple[CodeType, int]


@dataclass(slots=True)
class Spectrum:
    """In how many runs each line ran, of so many that failed alike and so many that passed."""

    failing_runs: int = 0
    passing_runs: int = 0
    failing: Counter[Line] = field(default_factory=Counter)
    passing: Counter[Line] = field(default_factory=Counter)

    def add(self, lines: set[Line], *, failed: bool) -> None:
        """Count a run."""
        if failed:
            self.failing_runs += 1
            self.failing.update(lines)
        else:
            self.passing_runs += 1
            self.passing.update(lines)

    def ranked(self) -> list[SuspiciousLine]:
        """Return the most suspicious lines (Ochiai), neighbours of the same function as one."""
        if self.passing_runs < PASSING_MIN or not self.failing_runs:
            return []
        blocks: dict[tuple[CodeType, int, int], list[int]] = {}
        for (code, line), failed in self.failing.items():
            passed = self.passing[code, line]
            if failed * self.passing_runs >= RATIO_MIN * passed * self.failing_runs:
                blocks.setdefault((code, failed, passed), []).append(line)
        ranked = sorted(
            blocks.items(),
            key=lambda block: (-self._ochiai(*block[0][1:]), block[0][0].co_filename, min(block[1])),
        )
        return [self._shown(code, lines, failed, passed) for (code, failed, passed), lines in ranked[:LINES_MAX]]

    def _ochiai(self, failed: int, passed: int) -> float:
        return failed / math.sqrt(self.failing_runs * (failed + passed))

    def _shown(self, code: CodeType, lines: list[int], failed: int, passed: int) -> SuspiciousLine:
        first = min(lines)
        return SuspiciousLine(
            file=shown_path(code.co_filename),
            line=first,
            function=one_line(code.co_qualname),
            code=code_at(code.co_filename, first),
            more=len(lines) - 1,
            failing=failed,
            failing_runs=self.failing_runs,
            passing=passed,
            passing_runs=self.passing_runs,
        )


def suspicious_lines(
    driver: Driver,
    replayer: Replayer,
    tape: _native.Tape,
    bucket: str,
    is_watched: Callable[[CodeType], bool],
    seconds: float,
) -> list[SuspiciousLine]:
    """Return the lines that tell runs that fail in ``bucket`` from those that pass, of the code that ``tape`` runs."""
    tool = free_tool()
    if tool is None:
        return []
    found = Spectrum()
    total = len(tape)
    steps = min(STEPS_MAX, max(STEPS_MIN, 2 * total))
    faults = sorted({target for kind, target, _, _ in tape.steps() if kind == FAULT_ON})
    deadline = monotonic() + seconds
    lines: set[Line] = set()
    try:
        with driver.watchdog.until(deadline), _noted(tool, lines) as only:
            replayer.run(tape)
            only({code for code, _ in list(lines) if is_watched(code)})
            tried = [total, *(each for each in beginnings(total) if each < total)]
            for seed in range(RUNS_MAX // len(tried) + 1):
                # The whole trace leaves nothing to chance: it runs once.
                for beginning in tried[1 if seed else 0 :]:
                    lines.clear()
                    _MONITORING.restart_events()
                    start = tape.subset([number < beginning for number in range(total)])
                    going_on = _native.Continuation(shape_of(driver), faults, 0 if beginning == total else steps, seed)
                    seen = continued(replayer, start, going_on, deadline)
                    if seen is not None and (not seen or falls_into(seen, bucket)):
                        found.add(set(lines), failed=bool(seen))
    except OutOfTime:
        pass
    return found.ranked()


@contextmanager
def _noted(tool: int, lines: set[Line]) -> Iterator[Callable[[set[CodeType]], None]]:
    """Note each line that runs, once; what is yielded leaves only the lines of some functions to be noted."""

    def line(code: CodeType, number: int) -> object:
        lines.add((code, number))
        return _MONITORING.DISABLE

    watched: set[CodeType] = set()

    def only(codes: set[CodeType]) -> None:
        _MONITORING.set_events(tool, 0)
        watched.update(codes)
        for code in codes:
            _MONITORING.set_local_events(tool, code, _LINE)

    _MONITORING.use_tool_id(tool, "ordeal viewer")
    _MONITORING.register_callback(tool, _LINE, line)
    _MONITORING.restart_events()
    _MONITORING.set_events(tool, _LINE)
    try:
        yield only
    finally:
        _MONITORING.set_events(tool, 0)
        for code in watched:
            _MONITORING.set_local_events(tool, code, 0)
        _MONITORING.register_callback(tool, _LINE, None)
        _MONITORING.free_tool_id(tool)
