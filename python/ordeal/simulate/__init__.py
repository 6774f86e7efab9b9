"""Simulated parts of a program's environment: a clock that stands still, and a disk that loses what was not synced."""

from __future__ import annotations

from ordeal.simulate.clock import Clock
from ordeal.simulate.errors import SimulationError
from ordeal.simulate.file_system import FileFault, FileSystem

__all__ = ["Clock", "FileFault", "FileSystem", "SimulationError"]
