"""Whether simulated runs are the same in each process, and whether deadlocks are told at once and only where they are.

usage: python benchmarks/async_certainty.py [--programs N] [--schedules N]

Generated async programs run in two processes with other hash seeds, folders, time zones and allocators, one of them
beside a busy one: the hashes of what happened in them are compared. Then each of the twelve classics of deadlocks is
searched until it is told, and its twin, which is right, in ten thousand schedules.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from harness.report import command, host, table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.unit.simulate.runtime import test_waits as tables  # noqa: E402

from ordeal import simulate  # noqa: E402

CLASSICS = (
    tables.two_locks,
    tables.a_full_queue,
    tables.an_empty_queue,
    tables.a_lock_twice,
    tables.an_event,
    tables.a_semaphore,
    tables.a_condition,
    tables.a_barrier,
    tables.a_future,
    tables.each_other,
    tables.a_thread_safe_call,
    tables.a_dropped_future,
)
RUNS_MAX = 1_000


def hashes(programs: int, *, is_odd: bool) -> list[str]:
    """What the programs did in a process of their own."""
    odd = {"PYTHONHASHSEED": "4321", "TZ": "Asia/Kathmandu", "PYTHONMALLOC": "malloc"} if is_odd else {}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-m", "tests.unit.samples.async_programs", str(programs), "1"],
            env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"} | odd,
            cwd=folder if is_odd else ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stdout.splitlines()


def differing(programs: int) -> tuple[int, int]:
    """How many programs differ between the processes, and how many different hashes there are."""
    one = hashes(programs, is_odd=False)
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as busy:
        other = hashes(programs, is_odd=True)
        busy.kill()
    assert len(one) == len(other) == programs
    return sum(a != b for a, b in zip(one, other, strict=True)), len({line.split()[2] for line in one})


def row(classic: tables.Main, twin: tables.Main, schedules: int) -> tuple[str, ...]:
    """How long it takes to tell a deadlock, and how often its twin is called one."""
    began = time.process_time()
    failure = simulate.explore(classic, runs=RUNS_MAX, check=False).failure
    took_s = time.process_time() - began
    report = simulate.explore(twin, runs=schedules, faults=[simulate.stall()], check=False)
    error = "nothing" if failure is None else type(failure.error).__name__
    wrong = "none" if report.failure is None else type(report.failure.error).__name__
    return classic.__name__, error, f"{1000 * took_s:.0f}", twin.__name__, f"{wrong} in {report.runs:,}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=10_000)
    parser.add_argument("--schedules", type=int, default=10_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    differ, kinds = differing(options.programs)
    said = f"{differ:,} of {options.programs:,} programs differ between two processes ({kinds:,} different hashes)."
    rows = [row(*each, options.schedules) for each in zip(CLASSICS, tables.TWINS, strict=True)]
    header = ("deadlock", "told as", "processor ms until it is told", "right twin", "reports in schedules")
    print(host(), command(), said, table(header, rows), sep="\n\n")


if __name__ == "__main__":
    main()
