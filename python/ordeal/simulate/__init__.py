"""Simulated parts of a program's environment: a clock, a disk that loses what was not synced, and an event loop."""

from __future__ import annotations

from ordeal.simulate.clock import Clock
from ordeal.simulate.errors import (
    BlockedLoop,
    Deadlock,
    EscapedSimulation,
    LeakedTask,
    Livelock,
    SimulationError,
    SimulationFailure,
    SimulationWarning,
    StalledStep,
    UnhandledTaskError,
)
from ordeal.simulate.file_system import FileFault, FileSystem
from ordeal.simulate.runtime.exploring import explore, run
from ordeal.simulate.runtime.report import Report, ScheduleFailure
from ordeal.simulate.runtime.scheduled_faults import cancel, latency, stall
from ordeal.simulate.runtime.testing import test

__all__ = [
    "BlockedLoop",
    "Clock",
    "Deadlock",
    "EscapedSimulation",
    "FileFault",
    "FileSystem",
    "LeakedTask",
    "Livelock",
    "Report",
    "ScheduleFailure",
    "SimulationError",
    "SimulationFailure",
    "SimulationWarning",
    "StalledStep",
    "UnhandledTaskError",
    "cancel",
    "explore",
    "latency",
    "run",
    "stall",
    "test",
]
