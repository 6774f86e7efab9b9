"""Prepares a trace to run again: its tape, with the driver and the replayer of its class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

import ordeal._native as _native
from ordeal._base.limits import MEBIBYTE
from ordeal._base.memory_limit import limited_memory
from ordeal._base.trace_file import Trace, TraceStep
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
    max_memory: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Limit rules and memory during the block, and restore the program's random generators after it."""
        with self.randoms.managed(), self.driver.watching(), limited_memory(self.max_memory):
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
    return LoadedTrace(tape_of(trace, driver), driver, replayer, randoms, trace.max_memory)


def tape_of(trace: Trace, driver: Driver) -> _native.Tape:
    """Return the tape of ``trace``, with names looked up in the machine of ``driver``.

    Raises:
        OutdatedTraceError: a rule, fault or argument is gone; the message names it.
    """
    tables = _Tables(trace.test_class, driver)
    return _native.Tape.from_steps([tables.packed(number, step) for number, step in enumerate(trace.taken_steps())])


class _Tables:
    """The names of a machine with their indices."""

    def __init__(self, test_class: str, driver: Driver) -> None:
        definition = driver.definition
        self._test_class = test_class
        self._rules = {rule.name: i for i, rule in enumerate(definition.rules)}
        self._initializers = {rule.name: i for i, rule in enumerate(definition.initializers)}
        self._faults = {fault.name: i for i, fault in enumerate(driver.faults)}
        self._arguments = {name: i for i, name in enumerate(definition.argument_names)}
        self._kinds: dict[str, Callable[[str], tuple[int, int]]] = {
            "rule": lambda name: (RULE, self._look_up(self._rules, "rule", name)),
            "initialize": lambda name: (INITIALIZE, self._look_up(self._initializers, "initialize rule", name)),
            "fault_toggle": self._toggle,
        }

    def _toggle(self, name: str) -> tuple[int, int]:
        if name[:1] not in ("+", "-"):
            raise TraceError(f"the fault toggle {name!r} of the trace begins with neither + nor -")
        return FAULT_ON if name[0] == "+" else FAULT_OFF, self._look_up(self._faults, "fault", name[1:])

    def packed(self, number: int, step: TraceStep) -> _native.StepTuple:
        """Return the step as the core takes it; ``number`` counts from 0."""
        if step.kind not in self._kinds:
            raise TraceError(f"step {number + 1} of the trace has the unknown kind {step.kind!r}")
        kind, target = self._kinds[step.kind](step.name)
        drawn = [(self._look_up(self._arguments, "argument", name), choices) for name, choices in step.choices.items()]
        return kind, target, number, drawn

    def _look_up(self, table: dict[str, int], what: str, name: str) -> int:
        if name not in table:
            known = ", ".join(known for known in table if not known.startswith("("))
            raise OutdatedTraceError(
                f"the trace no longer applies to {self._test_class}: it has no {what} {name!r}",
                hint=f"it has: {known or 'none'}",
            )
        return table[name]
