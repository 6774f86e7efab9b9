"""Instructions that a run of the five rules takes, counted by callgrind: the same on a busy machine as on a quiet one.

usage: python benchmarks/run_instructions.py [--runs N] [--against PYTHON]

A run is what 2 * N runs take beyond N runs, divided by N, so the start is left out; that is told as well. PYTHON is an
interpreter that has the ordeal of another commit: its count, and the ratio of both, are printed beside it. Valgrind has
to be there.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
#: Runs draw their length from 1 to what they are told.
STEPS = 99
COLLECTED = re.compile(r"Collected : (\d+)")


def instructions(python: str, runs: int) -> int:
    """Count the instructions of a process that explores for a number of runs."""
    environment = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONHASHSEED": "0"}
    explore = [python, "-m", "five_rules.run_ordeal", "--runs", str(runs), "--steps", str(STEPS), "--seed", "1"]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *explore]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode or (counted := COLLECTED.search(done.stderr)) is None:
        raise SystemExit(f"error: {python} could not be counted\n\n{done.stderr[-2000:]}")
    if json.loads(done.stdout)["runs"] != runs:
        raise SystemExit("error: its time ended before its runs\n\nhint: give a smaller number as --runs")
    return int(counted[1])


def counted(python: str, runs: int) -> float:
    """Print what a run takes with an interpreter; return it."""
    few, many = instructions(python, runs), instructions(python, 2 * runs)
    a_run = (many - few) / runs
    print(f"{a_run / 1000:8.1f} k instructions a run, {(few - a_run * runs) / 1e9:.2f} G for the start: {python}")
    return a_run


def main() -> None:
    """Count for this interpreter, and for the other that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500, metavar="N")
    parser.add_argument("--against", metavar="PYTHON")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        raise SystemExit("error: there is no valgrind\n\nhint: apt-get install valgrind")
    here = counted(sys.executable, options.runs)
    if options.against:
        print(f"{here / counted(options.against, options.runs):8.3f} times as many as the other")


if __name__ == "__main__":
    main()
