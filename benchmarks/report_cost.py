"""What a search loses while every format of `--report` is asked for: runs with and without, side by side.

usage: python benchmarks/report_cost.py [--pairs N] [--runs N]

Both of a pair run at the same time, so that other programs slow both. By processor time until the search is over.
What the reports take then is not the search's, and printed from one run that is left to its end.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
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


def pair(folder: Path, runs: int, wanted: Sequence[Sequence[str]]) -> list[float]:
    """Explore side by side, each in a copy of the shop; return the runs per second of processor time of each."""
    places = [folder / str(number) for number, _ in enumerate(wanted)]
    for place in places:
        shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns(".*", "__pycache__"))
    processes = [started(place, runs, more) for place, more in zip(places, wanted, strict=True)]
    rates = [0.0] * len(places)
    seconds = [0.0] * len(places)
    try:
        while not all(rates):
            for number, process in enumerate(processes):
                if rates[number]:
                    continue
                if process.poll() is not None:
                    raise RuntimeError(f"the search ended with {process.returncode}")
                seconds[number] = processor_seconds(process.pid) or seconds[number]
                if done := made(places[number]):
                    rates[number] = done / seconds[number]
                    os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.01)
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return rates


def made(folder: Path) -> int:
    """Return how many runs the search in a folder made that is over, 0 until then."""
    for events in folder.glob(".ordeal/runs/2*/events.ndjson"):
        for line in events.read_bytes().split(b"\n"):
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
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--runs", type=int, default=1_000)
    given = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(given.pairs):
            wanted = (ALL, ()) if number % 2 else ((), ALL)
            one, other = pair(Path(temporary, str(number)), given.runs, wanted)
            ratios.append(one / other if number % 2 else other / one)
        place = Path(temporary, "last")
        shutil.copytree(EXAMPLE, place, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        began = time.monotonic()
        with started(place, given.runs, ALL) as process:
            while not made(place) and process.poll() is None:
                time.sleep(0.01)
            searched = time.monotonic()
        took = time.monotonic() - searched
    print(f"runs by second of processor time, with all formats ({', '.join(FORMATS)}) / without:", end=" ")
    print(f"median {statistics.median(ratios):.3f} of {given.pairs} pairs ({min(ratios):.3f} to {max(ratios):.3f})")
    print(f"a search of {searched - began:.1f} s, then {took:.1f} s for the reports")
    return 0


if __name__ == "__main__":
    sys.exit(main())
