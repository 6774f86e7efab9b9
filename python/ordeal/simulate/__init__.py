"""Simulated parts of a program's environment: a clock, a disk that loses what was not synced, and an event loop."""

from __future__ import annotations

from ordeal.simulate.clock import Clock
from ordeal.simulate.errors import (
    BlockedLoop,
    BrokenProperty,
    Deadlock,
    EscapedSimulation,
    LeakedTask,
    Livelock,
    LongWait,
    NotDeterministic,
    NotReached,
    NotRestored,
    OrphanedWait,
    RecordDrift,
    RecordError,
    SimulationError,
    SimulationFailure,
    SimulationWarning,
    StalledStep,
    StrayCancellation,
    UnhandledTaskError,
)
from ordeal.simulate.file_system import FileFault, FileSystem
from ordeal.simulate.nodes.machine_world import world
from ordeal.simulate.nodes.node import Node
from ordeal.simulate.nodes.world import World
from ordeal.simulate.outside.declared import Command, Output
from ordeal.simulate.outside.http import Request, Response
from ordeal.simulate.recorded.recording import record
from ordeal.simulate.runtime.exploring import explore, run
from ordeal.simulate.runtime.faults import (
    cancel,
    clog,
    crash,
    disk_error,
    disk_full,
    latency,
    partition,
    pause,
    reset,
    skew,
    slow,
    stall,
)
from ordeal.simulate.runtime.odd_process import check
from ordeal.simulate.runtime.report import Report, ScheduleFailure
from ordeal.simulate.runtime.testing import test
from ordeal.simulate.ticks.real_time import e2e, run_log
from ordeal.simulate.ticks.world import TickWorld

__all__ = [
    "BlockedLoop",
    "BrokenProperty",
    "Clock",
    "Command",
    "Deadlock",
    "EscapedSimulation",
    "FileFault",
    "FileSystem",
    "LeakedTask",
    "Livelock",
    "LongWait",
    "Node",
    "NotDeterministic",
    "NotReached",
    "NotRestored",
    "OrphanedWait",
    "Output",
    "RecordDrift",
    "RecordError",
    "Report",
    "Request",
    "Response",
    "ScheduleFailure",
    "SimulationError",
    "SimulationFailure",
    "SimulationWarning",
    "StalledStep",
    "StrayCancellation",
    "TickWorld",
    "UnhandledTaskError",
    "World",
    "cancel",
    "check",
    "clog",
    "crash",
    "disk_error",
    "disk_full",
    "e2e",
    "explore",
    "latency",
    "partition",
    "pause",
    "record",
    "reset",
    "run",
    "run_log",
    "skew",
    "slow",
    "stall",
    "test",
    "world",
]
