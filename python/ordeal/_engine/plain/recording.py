"""Records one replay of a failing trace, and makes the plain program of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, override

import msgspec
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.formatting import one_line
from ordeal._base.memory_limit import limited_memory
from ordeal._base.records_used import records
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.bucket import Bucketer, user_frames
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.driver import Status
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.execution.recorder import RunRecorder
from ordeal._engine.plain.program import Program
from ordeal._engine.plain.recorder import FaultHit, Recorder
from ordeal._engine.plain.writing import CannotWriteError, program_of
from ordeal._engine.replay.loading import tape_of
from ordeal._engine.replay.replayer import Replayer
from ordeal._hypothesis.machines import Rule
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal.errors import OrdealError
from ordeal.faults import Fault, LambdaFault
from ordeal.faults.call_faults import CallFault


class Recorded(msgspec.Struct, kw_only=True):
    """What was recorded: a program with the place of its failure, or the reason why there is none."""

    program: Program | None = None
    place: str = ""
    reason: str = ""


class _Watcher(RunRecorder):
    """Reports to the recorder of calls where the machine is."""

    def __init__(self, calls: Recorder) -> None:
        super().__init__()
        self._calls = calls
        self.made: Recorded | None = None

    @override
    def started(self, machine: RuleBasedStateMachine) -> None:
        super().started(machine)
        self._calls.in_check = True

    @override
    def rule(self, rule: Rule, initialize: bool, values: dict[str, Any], resolved: dict[str, Any]) -> None:
        super().rule(rule, initialize, values, resolved)
        self._calls.in_check = False
        self._calls.step += 1

    @override
    def rule_done(self, rule: Rule, result: Any, names: list[list[str]]) -> None:
        super().rule_done(rule, result, names)
        self._calls.in_check = True

    @override
    def fault(self, fault: Fault, on: bool) -> None:
        super().fault(fault, on)
        self._calls.in_check = False
        self._calls.step += 1

    @override
    def ending(self) -> None:
        super().ending()
        error = sys.exception()
        if error is not None:
            # Later its frames may be gone, and the teardown may have changed what they hold.
            self.made = made_of(self._calls, error)


def record(request: Mapping[str, Any], calls: Recorder) -> bytes:
    """Return what a replay of the requested trace showed, as JSON."""
    try:
        trace = Trace.of_request(request["trace"])
        trust(trace.test_class)
        driver = make_driver(load_class(trace.test_class), trace.rule_timeout)
        for fault in driver.faults:
            _watch_fault(fault, calls)
        randoms = GlobalRandoms()
        watcher = _Watcher(calls)
        with (
            randoms.managed(),
            driver.watching(),
            limited_memory(trace.max_memory),
            records.replaying(trace),
        ):
            replayed = Replayer(driver, Bucketer([]), randoms).run(tape_of(trace, driver), watcher)
        failed = replayed.outcome.error
        if replayed.outcome.status is not Status.FAILED or failed is None:
            made = Recorded(reason="the recording did not fail: what the test looks at changes how it runs")
        else:
            made = watcher.made or made_of(calls, failed)
    except OrdealError as error:
        made = Recorded(reason=error.message[:500])
    except Exception as error:  # noqa: BLE001 - objects of the user's may raise anything when they are looked at
        made = Recorded(reason=one_line(f"the recording failed: {type(error).__name__}: {error}"))
    return msgspec.json.encode(made)


def made_of(calls: Recorder, error: BaseException) -> Recorded:
    """Return the program of what was recorded up to ``error``, or why there is none."""
    try:
        program = program_of(calls, error)
    except CannotWriteError as reason:
        return Recorded(reason=str(reason))
    raised = next((each.raised for each in reversed(calls.operations) if each.raised is not None), error)
    # The innermost function outside the test that the error came through, if there is one.
    frames = user_frames(raised if program.end.error else error)
    outside = [code.co_qualname for code, _ in frames if code.co_filename not in calls.files]
    return Recorded(program=program, place=outside[-1] if outside else "")


def _watch_fault(fault: Fault, calls: Recorder) -> None:
    """Have the recorder learn of each call that ``fault`` changes."""

    def switching(switch: Callable[[], None]) -> None:
        try:
            switch()
        finally:
            calls.in_check = True  # after a switch, as after a rule, the invariants run

    for name in ("activate", "deactivate"):
        setattr(fault, name, partial(switching, getattr(fault, name)))
    if isinstance(fault, LambdaFault):
        on, off = fault._on_activate, fault._on_deactivate
        fault._on_activate, fault._on_deactivate = partial(calls.switch, on), partial(calls.switch, off)
    if not isinstance(fault, CallFault):
        return
    before, target = fault._before, fault.target

    def noting(number: int) -> None:
        assert before is not None
        try:
            before(number)
        except Exception as error:
            written = calls.expressions.write(type(error))
            message = calls.expressions.write(str(error))
            calls.hit(FaultHit(target, written.join([message], f"{written.text}({message.text})")))
            raise

    if before is not None:
        fault._before = noting
    if fault._answer is not None or fault._after is not None:
        fault.tell_hits(lambda _: calls.refuse(f"the fault {fault.name} changes results"))
