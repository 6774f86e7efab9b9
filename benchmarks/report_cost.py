"""What a search loses while every format of `--report` is asked for: runs with and without, in turns.

usage: python benchmarks/report_cost.py [--pairs N] [--runs N]

By processor time until the search of the class is over. What the reports take then is not the search's, and printed
from one run that is left to its end.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from ordeal.config.options import FORMATS

EXAMPLE = Path(__file__).parent.parent / "examples/shop"
ALL = ("--report", ",".join(FORMATS))


def started(folder: Path, runs: int, more: Sequence[str]) -> subprocess.Popen[bytes]:
    """Begin to explore."""
    limits = ["--max-runs", str(runs), "--max-time", "600", "--workers", "1", "--no-shrink", "--no-seeds"]
    command = [sys.executable, "-m", "ordeal", "explore", *limits, *more]
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )


def search(folder: Path, runs: int, more: Sequence[str] = ()) -> float:
    """Explore, and return the runs per second of processor time, which other programs do not take away."""
    known = set(folder.glob(".ordeal/runs/*"))
    with started(folder, runs, more) as process:
        seconds = 0.0
        while process.poll() is None:
            seconds = processor_seconds(process.pid) or seconds
            if done := made(folder, known):
                os.killpg(process.pid, 9)
                return done / seconds
            time.sleep(0.01)
    raise RuntimeError(f"the search ended with {process.returncode}")


def made(folder: Path, known: set[Path]) -> int:
    """Return how many runs a search made that is over, 0 until then."""
    for run in set(folder.glob(".ordeal/runs/2*")) - known:
        for line in Path(run, "events.ndjson").read_bytes().split(b"\n"):
            if b'"class_done"' in line:
                return int(json.loads(line)["runs"])
    return 0


def processor_seconds(pid: int) -> float:
    """The processor time of a process, of its children and of theirs, so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(processor_seconds(int(child)) for child in children)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--runs", type=int, default=4_000)
    given = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "shop"
        subprocess.run(["cp", "-r", str(EXAMPLE), str(folder)], check=True)
        for number in range(given.pairs):
            rates = {bool(more): search(folder, given.runs, more) for more in ((ALL, ()) if number % 2 else ((), ALL))}
            ratios.append(rates[True] / rates[False])
        known, began = set(folder.glob(".ordeal/runs/*")), time.monotonic()
        with started(folder, given.runs, ALL) as process:
            while not made(folder, known) and process.poll() is None:
                time.sleep(0.01)
            searched = time.monotonic()
        took = time.monotonic() - searched
    print(f"runs by second of processor time, with all formats ({', '.join(FORMATS)}) / without:", end=" ")
    print(f"median {statistics.median(ratios):.3f} of {given.pairs} pairs ({min(ratios):.3f} to {max(ratios):.3f})")
    print(f"a search of {searched - began:.1f} s, then {took:.1f} s for the reports")
    return 0


if __name__ == "__main__":
    sys.exit(main())
