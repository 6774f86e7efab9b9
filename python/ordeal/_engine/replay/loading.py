"""Prepares a trace to run again: its tape, with the driver and the replayer of its class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

import ordeal._native as _native
from ordeal._base.limits import MEBIBYTE
from ordeal._base.memory_limit import limited_memory
from ordeal._base.records_used import records
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.bucket import Bucketer, ends_process
from ordeal._engine.execution.class_path import load_class
from ordeal._engine.execution.driver import FAULT_OFF, FAULT_ON, INITIALIZE, RULE, Driver
from ordeal._engine.execution.machine import MachineFactory, make_driver
from ordeal._engine.isolation.child import Limits
from ordeal._engine.replay.crash_replayer import CrashReplayer
from ordeal._engine.replay.replayer import Replayer
from ordeal._hypothesis.randoms import GlobalRandoms
from ordeal.errors import OutdatedTraceError, TraceError


class LoadedTrace(msgspec.Struct, frozen=True):
    """A tape with what runs it. Not thread-safe, because its driver is not."""

    tape: _native.Tape
    driver: Driver
    replayer: Replayer
    randoms: GlobalRandoms
    trace: Trace

    @contextmanager
    def running(self) -> Iterator[None]:
        """Limit rules and memory, and serve what was recorded. Restore the program's random generators afterwards."""
        with (
            self.randoms.managed(),
            self.driver.watching(),
            limited_memory(self.trace.max_memory),
            records.replaying(self.trace),
        ):
            yield


def load_for_replay(
    trace: Trace, test_class: MachineFactory | None = None, *, rule_timeout: float | None = None
) -> LoadedTrace:
    """Prepare ``trace`` to run again. ``test_class`` defaults to the class that the trace names.

    ``rule_timeout``, in seconds, defaults to the limit that the trace was recorded with, else to the class's.

    Raises:
        OutdatedTraceError: a rule, fault or argument of the trace is gone from the class; the message names it.
        OrdealError: the class cannot be imported or is not a rule machine.
    """
    limit = trace.rule_timeout if rule_timeout is None else rule_timeout
    driver = make_driver(test_class if test_class is not None else load_class(trace.test_class), limit)
    randoms = GlobalRandoms()
    replayer = Replayer(driver, Bucketer([]), randoms)
    failure = trace.failure
    if failure is not None and ends_process(failure.error_type, failure.bucket):
        replayer = CrashReplayer(driver, Bucketer([]), randoms, Limits(trace.max_memory * MEBIBYTE))
    return LoadedTrace(tape_of(trace, driver), driver, replayer, randoms, trace)


def tape_of(trace: Trace, driver: Driver) -> _native.Tape:
    """Return the tape of ``trace``, with names looked up in the machine of ``driver``.

    Raises:
        OutdatedTraceError: a rule, fault or argument is gone; the message names it.
    """
    definition = driver.definition
    rules = {rule.name: i for i, rule in enumerate(definition.rules)}
    initializers = {rule.name: i for i, rule in enumerate(definition.initializers)}
    faults = {fault.name: i for i, fault in enumerate(driver.faults)}
    arguments = {name: i for i, name in enumerate(definition.argument_names)}

    def look_up(table: dict[str, int], what: str, name: str) -> int:
        if name not in table:
            known = ", ".join(known for known in table if not known.startswith("("))
            raise OutdatedTraceError(
                f"the trace no longer applies to {trace.test_class}: it has no {what} {name!r}",
                hint=f"it has: {known or 'none'}",
            )
        return table[name]

    steps: list[_native.StepTuple] = []
    for number, step in enumerate(trace.taken_steps()):
        name = step.name
        if step.kind == "rule":
            kind, target = RULE, look_up(rules, "rule", name)
        elif step.kind == "initialize":
            kind, target = INITIALIZE, look_up(initializers, "initialize rule", name)
        elif step.kind != "fault_toggle":
            raise TraceError(f"step {number + 1} of the trace has the unknown kind {step.kind!r}")
        elif name[:1] not in ("+", "-"):
            raise TraceError(f"the fault toggle {name!r} of the trace begins with neither + nor -")
        else:
            kind, target = FAULT_ON if name[0] == "+" else FAULT_OFF, look_up(faults, "fault", name[1:])
        drawn = [(look_up(arguments, "argument", each), choices) for each, choices in step.choices.items()]
        steps.append((kind, target, number, drawn))
    return _native.Tape.from_steps(steps)
