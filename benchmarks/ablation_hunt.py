"""Runs until each planted mistake of the simulated examples is found, and how many runs without one stay green.

usage: python benchmarks/ablation_hunt.py [--seeds N] [--seconds S] [--intact-runs N] [--first SEED] [--only TEXT]
           [NAME ...]

Of each program in `examples/` that has an `ablations.toml`, or of those that are named, one thing is left out at a
time, and each search may take 200 runs. The intact program is searched for some seconds, or in so many runs with
`--intact-runs`; `--first` begins with another seed, so that many runs can be made in parts. `--seeds 0` leaves nothing
out, and `--only` what has a text in its name.
"""

import argparse
import importlib
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from harness.report import command, host, table

EXAMPLES = Path(__file__).parents[1] / "examples"
RUNS = 200
#: How many runs of an intact program are searched between two looks at the clock.
_AT_ONCE = 500


def searched(ablations: Any, name: str, seeds: int) -> tuple[str, ...]:
    """Search for one mistake with several seeds."""
    reports = [ablations.search(name, RUNS, seed) for seed in range(seeds)]
    runs = [report.failure.run for report in reports if report.failure is not None]
    needed = [len(report.failure.decisions) for report in reports if report.failure is not None]
    return (
        f"{ablations.folder.name}: {name}",
        f"{len(runs)} of {seeds}",
        f"{sorted(runs)[len(runs) // 2]}" if runs else "",
        f"{max(runs)}" if runs else "",
        f"{sorted(needed)[len(needed) // 2]}" if runs else "",
        "",
    )


def intact(ablations: Any, seconds: float, runs_max: int | None, first: int) -> tuple[str, ...]:
    """Search the intact program for that many seconds of processor time, or in that many runs."""
    begin, runs, found, simulated_s = time.process_time(), 0, 0, 0.0
    while not found and (time.process_time() < begin + seconds if runs_max is None else runs < runs_max):
        report = ablations.search(None, _AT_ONCE if runs_max is None else min(_AT_ONCE, runs_max - runs), first + runs)
        runs += report.runs
        simulated_s += report.simulated_s
        found += report.failure is not None
    pace = simulated_s / (time.process_time() - begin)
    return f"**{ablations.folder.name}, intact**", f"{found} in {runs:,} runs", "", "", "", f"{pace:,.0f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--intact-runs", type=int)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(EXAMPLES))
    program = importlib.import_module("ablations")
    rows = []
    for path in sorted(EXAMPLES.glob("*/ablations.toml")):
        if options.names and path.parent.name not in options.names:
            continue
        ablations = program.Ablations(path.parent)
        if options.seeds:
            left_out = [name for name in ablations.left_out if options.only in name]
            rows += [searched(ablations, name, options.seeds) for name in left_out]
        rows.append(intact(ablations, options.seconds, options.intact_runs, options.first))
    header = (
        *("what is left out", "found with seeds", "median run", "latest run", "decisions needed (median)"),
        "simulated seconds in one of the processor",
    )
    print(host(), command(), table(header, rows), sep="\n\n")


if __name__ == "__main__":
    main()
