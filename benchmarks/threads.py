"""What threads cost, and what they lose, with the GIL or without: run it with a free-threaded interpreter.

usage: python benchmarks/threads.py [--events N] [--rounds N]

The GIL is looked at in separate processes: after an import, an exploration, and a session of ``pytest --chaos``. Counts
are those of 8 threads that run one function, against what one thread counts. Cost is the CPU time of 8 threads with
coverage against that without, in turn. Scaling is how much more two threads do in a second than one. They run before
all else for these tenths of a second where the system allows it: on a busy machine two would wait for one core.
"""

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.report import command, host, spread, table

THREADS = 8
PROGRAM = """
def work(n):
    odd = 0
    for i in range(n):
        if i & 1:
            odd += 1
    return odd
"""
MACHINE = """
from ordeal import ChaosTest, rule

class Counter(ChaosTest):
    @rule()
    def count(self):
        self.number = getattr(self, "number", 0) + 1

TestCounter = Counter.TestCase
"""
SAY = "import sys; print('enabled' if getattr(sys, '_is_gil_enabled', lambda: True)() else 'off')"
GIL = {
    "import ordeal": ["-c", f"import ordeal; {SAY}"],
    "an exploration": ["-c", f"import counter, ordeal; ordeal.Explorer(counter.Counter).run(max_runs=200); {SAY}"],
    "pytest --chaos": ["-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "--chaos", "counter.py", "said.py"],
}


def seconds_of(call: Callable[[], object], threads: int, clock: Callable[[], float]) -> float:
    """What ``threads`` threads take that call at once."""
    started = [threading.Thread(target=call) for _ in range(threads)]
    start = clock()
    for each in started:
        each.start()
    for each in started:
        each.join()
    return clock() - start


def scaling_of(call: Callable[[], object]) -> float:
    """How much more two threads do in a second than one."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        return 2 * seconds_of(call, 1, time.perf_counter) / seconds_of(call, 2, time.perf_counter)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def gil(folder: Path) -> list[list[str]]:
    """Whether the GIL is on after each of ``GIL``."""
    (folder / "pyproject.toml").touch()
    (folder / "counter.py").write_text(MACHINE, encoding="utf-8")
    (folder / "said.py").write_text(f"def test_said():\n    {SAY}\n", encoding="utf-8")
    rows = []
    for name, arguments in GIL.items():
        done = subprocess.run([sys.executable, *arguments], check=False, cwd=folder, capture_output=True, text=True)
        found = [each for each in ("enabled", "off") if each in done.stdout]
        rows.append([f"the GIL after {name}", found[0] if done.returncode == 0 and found else done.stdout[-200:]])
    return rows


def counted(program: ModuleType, monitor_of: Callable[[str], Any], events: int) -> list[str]:
    """How many events of all threads are missing from the count."""
    monitor = monitor_of("counts")
    monitor.start()
    program.work(1000)
    before = monitor.events
    program.work(1000)
    each = (monitor.events - before) / 1000
    turns = round(events / each)
    before = monitor.events
    program.work(turns)
    alone = monitor.events - before
    before = monitor.events
    seconds_of(lambda: program.work(turns), THREADS, time.process_time)
    lost = THREADS * alone - (monitor.events - before)
    monitor.stop()
    return [f"events lost of {THREADS} threads, {alone:,} each", f"{lost:,}"]


def costs(program: ModuleType, monitor_of: Callable[[str], Any], rounds: int) -> list[list[str]]:
    """The ratio of CPU time with coverage and without, and of the speed of two threads and one."""
    ratios: dict[str, list[float]] = {"novelty": [], "counts": []}
    scaling: dict[str, list[float]] = {"without coverage": [], "novelty": []}

    def run() -> None:
        program.work(1_000_000)

    for _ in range(rounds):
        bare = seconds_of(run, THREADS, time.process_time)
        scaling["without coverage"].append(scaling_of(run))
        for level, found in ratios.items():
            monitor = monitor_of(level)
            monitor.start()
            program.work(1000)
            found.append(seconds_of(run, THREADS, time.process_time) / bare)
            if level == "novelty":
                scaling[level].append(scaling_of(run))
            monitor.stop()
    return [
        *([f"CPU of {THREADS} threads, {name} / no coverage", spread(each, ".3f")] for name, each in ratios.items()),
        *([f"speed of 2 threads / of 1, {name}", spread(each, ".2f")] for name, each in scaling.items()),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=10_000_000, help="events of each thread (default: 10000000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of the costs (default: 7)")
    options = parser.parse_args()
    machine = host()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        sys.path.insert(0, place)
        program, native = importlib.import_module("program"), importlib.import_module("ordeal._native")

        def monitor_of(level: str) -> Any:
            return native.Monitor(native.CoverageMap(), [("program", str(folder / "program.py"), False)], level=level)

        rows = [*gil(folder), counted(program, monitor_of, options.events), *costs(program, monitor_of, options.rounds)]
    print(f"{machine}\n`{command()}`\n\n{table(('what', 'figure (min / median / max)'), rows)}")


if __name__ == "__main__":
    main()
