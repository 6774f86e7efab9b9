"""Runs until machines with a world find planted mistakes, with and without the order of tasks as coverage.

usage: python benchmarks/world_machines.py [--seeds N] [--runs N] [NAME ...]

Of each simulated program in `examples/`, or of those that are named, one thing is left out at a time. A machine uses it
as its test does (`concurrency/machines.py`), and each search may take so many runs. A search that finds nothing counts
as its limit, which favours what finds less. Runs and steps do not depend on the machine that this is measured on.
"""

import argparse
import functools
import importlib
import math
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any
from unittest.mock import patch

from concurrency.machines import MACHINES
from harness.report import command, host, table

from ordeal import _native
from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

EXAMPLES = Path(__file__).parents[1] / "examples"
UNLIMITED_S = 3600.0
#: What is left out of the coverage to see what it is worth.
ORDER = ("task step", "task order", "decision")


class Found:
    """How many runs a search took, and whether it found something."""

    def __init__(self, machine: Any, target: str, seed: int, runs: int, features_off: tuple[str, ...]) -> None:
        def stop(now: ProgressSnapshot) -> None:
            if now.failures:
                raise KeyboardInterrupt  # what a user would do

        session = functools.partial(_native.Session, features_off=features_off)
        began = time.process_time()
        with patch.object(_native, "Session", session):
            explorer = Explorer(machine, target_modules=[target], seed=seed, workers=1)
            result = explorer.run(max_time=UNLIMITED_S, max_runs=runs, shrink=False, progress=stop)
        self.is_found = bool(result.failures)
        self.runs = result.total_runs
        self.seconds = time.process_time() - began
        self.kinds = {type(failure.error).__name__ for failure in result.failures}


def cells(found: list[Found]) -> list[str]:
    """How often it was found, and the geometric mean of the runs."""
    mean = statistics.geometric_mean(each.runs for each in found)
    return [f"{sum(each.is_found for each in found)} of {len(found)}", f"{mean:.0f}"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    sys.path.insert(0, str(EXAMPLES))
    program = importlib.import_module("ablations")
    rows, logs, seconds = [], ([], []), [0.0, 0.0]  # type: ignore[var-annotated]
    for folder in options.names or MACHINES:
        ablations = program.Ablations(EXAMPLES / folder)
        for name in (*ablations.left_out, None):
            with ablations.without(name) as test:
                vars(sys.modules[ablations.program])["__file__"] = str(ablations.folder / f"{ablations.program}.py")
                machine = MACHINES[folder](sys.modules[ablations.program], test)
                ways: list[list[Found]] = [[], []]
                for seed in range(options.seeds):
                    for way, off in enumerate(((), ORDER)):
                        ways[way].append(Found(machine, ablations.program, seed, options.runs, off))
            for way, found in enumerate(ways):
                seconds[way] += sum(each.seconds for each in found)
                if name is not None:
                    logs[way].append(math.log(statistics.geometric_mean(each.runs for each in found)))
            kinds = ", ".join(sorted({kind for found in ways for each in found for kind in each.kinds}))
            rows.append((f"{folder}: {name or '**intact**'}", *cells(ways[0]), *cells(ways[1]), kinds))
            print(rows[-1], file=sys.stderr, flush=True)
    means = [math.exp(statistics.fmean(each)) for each in logs]
    rows.append(("**geometric mean**", "", f"{means[0]:.1f}", "", f"{means[1]:.1f}", ""))
    rows.append(("**processor seconds**", "", f"{seconds[0]:.0f}", "", f"{seconds[1]:.0f}", ""))
    header = ("what is left out", "found with order", "runs", "found without", "runs", "failures")
    print(host(), command(), table(header, rows), sep="\n\n")


if __name__ == "__main__":
    main()
