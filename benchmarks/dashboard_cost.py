"""What a search loses while a dashboard is open on it: runs with and without, in turns.

usage: python benchmarks/dashboard_cost.py [--pairs N] [--seconds S]

A reader does what the page in a browser does: it loads the part of the newest run that may change every two seconds.
All is by processor time: on a machine with a core to spare a search loses the first figure alone, and on one without
the second as well.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples/shop"
CORES = os.cpu_count() or 1
ORDEAL = (sys.executable, "-m", "ordeal")


def explore(folder: Path, seconds: float) -> float:
    """Explore for so long, and return the runs per second of processor time, which other programs do not take away."""
    command = [*ORDEAL, "explore", "--max-time", str(seconds), "--workers", "1", "--no-shrink", "--no-seeds", "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return float(json.loads(found.stdout)["results"][0]["total_runs"] / took)


class Reader:
    """Follows the newest run as the page does, until it is stopped."""

    def __init__(self, address: str, known: set[str]) -> None:
        self._address, self._known = address, known
        self._stopped = False
        self.loads = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped = True

    def _read(self) -> None:
        while not self._stopped:
            with urllib.request.urlopen(f"{self._address}runs.json") as answer:
                new = [row["id"] for row in json.load(answer) if row["id"] not in self._known]
            if new:
                self._follow(new[0])
                return
            time.sleep(0.5)

    def _follow(self, run: str) -> None:
        while not self._stopped:
            with urllib.request.urlopen(f"{self._address}runs/{run}/main") as answer:
                answer.read()
            self.loads += 1
            time.sleep(2.0)


def processor_seconds(pid: int) -> float:
    """The processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder: Path, pairs: int, seconds: float) -> None:
    """Measure, and print the figures."""
    ratios: list[float] = []
    shares: list[float] = []
    loads = 0
    for _ in range(pairs):
        without = explore(folder, seconds)
        runs = {path.name for path in (folder / ".ordeal/runs").iterdir()}
        with subprocess.Popen([*ORDEAL, "dashboard"], cwd=folder, stdout=subprocess.PIPE, text=True) as dashboard:
            assert dashboard.stdout is not None
            address = re.sub(r"\s", "", dashboard.stdout.readline())
            with urllib.request.urlopen(address) as answer:  # it has started then
                answer.read()
            reader = Reader(address, runs)
            before, began = processor_seconds(dashboard.pid), time.monotonic()
            ratios.append(explore(folder, seconds) / without)
            shares.append((processor_seconds(dashboard.pid) - before) / (time.monotonic() - began))
            loads += reader.loads
            reader.stop()
            dashboard.terminate()
    print(
        f"runs by second of processor time, with the dashboard open / without: median {statistics.median(ratios):.3f}",
        end=" ",
    )
    print(f"of {pairs} pairs ({min(ratios):.3f} to {max(ratios):.3f})")
    share = statistics.median(shares)
    print(f"processor time of the dashboard: {100 * share:.2f} % of one core, {loads} loads of the page")
    print(f"where each of {CORES} cores searches, that leaves it {1 - share / CORES:.3f} of its runs a second")


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "shop"
        subprocess.run(["cp", "-r", str(EXAMPLE), str(folder)], check=True)
        measure(folder, given.pairs, given.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
