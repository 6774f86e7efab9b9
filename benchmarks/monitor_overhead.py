"""What tracing costs: the time of a loop-heavy program under each collector, relative to the same program untraced.

usage: python benchmarks/monitor_overhead.py [--processes N] [--rounds N]

Each collector runs in a process of its own, N times in turn, so that a busy moment of the machine meets all of them.
A process loads two copies of loop/target.py, lets the collector see everything once in one of them, and then times the
two copies alternately. Printed is processor time traced / untraced: the smallest times of all rounds divided, and the
median of the ratios of the rounds. A collector that is not installed is reported as such.

  ordeal, novelty   edges that never ran before; silent in the steady state that is measured here
  ordeal, counts    every function entry and branch, into hit-count buckets
  coverage.py       lines, on sys.monitoring; before Python 3.14 it has no branches there
  SlipCover         lines
  sys.settrace      pairs of lines, by a trace function in Python: what a collector without sys.monitoring does
"""

import argparse
import importlib
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

from harness.report import command, host, table

TARGET = Path(__file__).with_name("loop") / "target.py"
WARM_UP_CALLS = 3
Stop = Callable[[], object]


def ordeal_monitor(level: str) -> Callable[[ModuleType], Stop]:
    def start(module: ModuleType) -> Stop:
        native = importlib.import_module("ordeal._native")
        monitor = native.Monitor(native.CoverageMap(), [(module.__name__, module.__file__, False)], level=level)
        monitor.start()
        return monitor.stop  # type: ignore[no-any-return]

    return start


def coverage_py(module: ModuleType) -> Stop:
    os.environ["COVERAGE_CORE"] = "sysmon"
    coverage = importlib.import_module("coverage")
    branch = sys.version_info >= (3, 14)
    measured = coverage.Coverage(data_file=None, config_file=False, include=[module.__file__], branch=branch)
    measured.start()
    return measured.stop  # type: ignore[no-any-return]


def slipcover(module: ModuleType) -> Stop:
    instrument = importlib.import_module("slipcover").Slipcover().instrument
    for value in vars(module).values():
        if isinstance(getattr(value, "__code__", None), CodeType):
            instrument(value)
    return lambda: None  # it cannot stop, but it watches the code objects of one copy only


def settrace(module: ModuleType) -> Stop:
    edges: dict[tuple[str, int, int], int] = {}
    target = module.__file__

    def on_call(frame: FrameType, _event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != target:
            return None
        name, last = frame.f_code.co_qualname, 0

        def on_line(frame: FrameType, event: str, _argument: Any) -> Any:
            nonlocal last
            if event == "line":
                edge = (name, last, frame.f_lineno)
                edges[edge] = edges.get(edge, 0) + 1
                last = frame.f_lineno
            return on_line

        return on_line

    sys.settrace(on_call)
    return lambda: sys.settrace(None)


@dataclass(frozen=True, slots=True)
class Collector:
    """``start`` begins to trace a module and returns what ends it; ``needs`` is the module that must be installed."""

    name: str
    start: Callable[[ModuleType], Stop]
    needs: str | None = None
    goal: float | None = None


COLLECTORS = (
    Collector("ordeal, novelty", ordeal_monitor("novelty"), "ordeal._native", goal=1.05),
    Collector("ordeal, counts", ordeal_monitor("counts"), "ordeal._native", goal=2.5),
    Collector("coverage.py", coverage_py, "coverage"),
    Collector("SlipCover", slipcover, "slipcover"),
    Collector("sys.settrace", settrace),
)


def seconds(call: Callable[[], object]) -> float:
    """Processor time of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(collector: Collector, rounds: int) -> list[tuple[float, float]]:
    """(untraced, traced) seconds of each round, in this process."""
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for name in ("plain_copy", "traced_copy"):
            shutil.copyfile(TARGET, Path(folder, f"{name}.py"))
        plain, traced = importlib.import_module("plain_copy"), importlib.import_module("traced_copy")
        for _ in range(WARM_UP_CALLS):
            plain.run()
            traced.run()
        times = []
        for _ in range(rounds):
            untraced_s = seconds(plain.run)
            stop = collector.start(traced)
            for _ in range(WARM_UP_CALLS):
                traced.run()
            times.append((untraced_s, seconds(traced.run)))
            stop()
    return times


def measured_elsewhere(collector: Collector, rounds: int) -> list[tuple[float, float]]:
    """The same, in a process of its own."""
    place = COLLECTORS.index(collector)
    arguments = [sys.executable, __file__, "--rounds", str(rounds), "--collector", str(place)]
    done = subprocess.run(arguments, check=True, capture_output=True, text=True)
    return [(untraced_s, traced_s) for untraced_s, traced_s in json.loads(done.stdout)]


def is_installed(collector: Collector) -> bool:
    if collector.needs is None:
        return True
    try:
        return importlib.util.find_spec(collector.needs) is not None
    except ModuleNotFoundError:
        return False


def row(collector: Collector, times: list[tuple[float, float]]) -> list[str]:
    goal = "" if collector.goal is None else f"{collector.goal:.2f}"
    if not times:
        return [collector.name, "not installed", "", "", goal]
    smallest = min(traced for _, traced in times) / min(untraced for untraced, _ in times)
    median = statistics.median(traced / untraced for untraced, traced in times)
    untraced_ms = 1000 * min(untraced for untraced, _ in times)
    return [collector.name, f"{smallest:.3f}", f"{median:.3f}", f"{untraced_ms:.1f}", goal]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=3, help="processes for each collector (default: 3)")
    parser.add_argument("--rounds", type=int, default=10, help="rounds in each process (default: 10)")
    parser.add_argument("--collector", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.collector is not None:
        print(json.dumps(measure(COLLECTORS[options.collector], options.rounds)))
        return
    machine = host()
    times: dict[str, list[tuple[float, float]]] = {collector.name: [] for collector in COLLECTORS}
    for _ in range(options.processes):
        for collector in COLLECTORS:
            if is_installed(collector):
                times[collector.name] += measured_elsewhere(collector, options.rounds)
    header = ("collector", "of smallest times", "median of rounds", "untraced, ms", "goal at most")
    print(f"`{command()}` on {machine}\n")
    print(table(header, [row(collector, times[collector.name]) for collector in COLLECTORS]))


if __name__ == "__main__":
    main()
