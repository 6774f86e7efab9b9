"""Modules to trace, and monitors for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import ordeal._native as _native

IDS = (4, 3)
LEVELS = ("novelty", "counts")

MakeModule = Callable[..., ModuleType]

BRANCHY = """
def run(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += 1
        else:
            total -= 1
    return total
"""


def file_of(module: ModuleType) -> str:
    assert module.__file__ is not None
    return str(Path(module.__file__).resolve())


def monitor_of(
    module: ModuleType, *, level: str = "novelty", coverage: _native.CoverageMap | None = None
) -> _native.Monitor:
    return _native.Monitor(coverage or _native.CoverageMap(), [(module.__name__, file_of(module), False)], level=level)


@contextmanager
def tracing(monitor: _native.Monitor) -> Iterator[_native.Monitor]:
    monitor.start()
    try:
        yield monitor
    finally:
        monitor.stop()
        assert monitor.error is None


def lines_of(module: ModuleType, call: Callable[[], Any], *, level: str = "novelty") -> list[int]:
    monitor = monitor_of(module, level=level)
    with tracing(monitor):
        call()
    return monitor.lines().get(file_of(module), [])


def tool_names() -> list[str | None]:
    return [sys.monitoring.get_tool(tool_id) for tool_id in range(6)]
