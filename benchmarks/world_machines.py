"""Runs until machines with a world find planted mistakes, with and without the order of tasks as coverage.

usage: python benchmarks/world_machines.py [--seeds N] [--runs N] [--first SEED] [--deep] [NAME ...]

Of each simulated program in `examples/`, or of those that are named, one thing is left out at a time. A machine uses it
as its test does (`concurrency/machines.py`), and each search may take so many runs. A search that finds nothing counts
as its limit, which favours what finds less. `--deep` searches the puzzle `relay_race` alone, whose progress nothing but
tasks show, without target modules. Runs and steps do not depend on the machine that this is measured on.
"""

import argparse
import functools
import importlib
import math
import statistics
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from concurrency.machines import MACHINES
from harness.report import command, host, table

import ordeal._native as _native
from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
INTACT = "**intact**"
UNLIMITED_S = 3600.0
#: What is left out of the coverage to see what it is worth.
ORDER = ("task step", "task order", "decision")


class Found:
    """How many runs a search took, and whether it found something."""

    def __init__(self, machine: Any, targets: list[str], seed: int, runs: int, features_off: tuple[str, ...]) -> None:
        def stop(now: ProgressSnapshot) -> None:
            if now.failures:
                raise KeyboardInterrupt  # what a user would do

        session = functools.partial(_native.Session, features_off=features_off)
        began = time.process_time()
        with patch.object(_native, "Session", session):
            explorer = Explorer(machine, target_modules=targets, seed=seed, workers=1)
            result = explorer.run(max_time=UNLIMITED_S, max_runs=runs, shrink=False, progress=stop)
        self.is_found = bool(result.failures)
        self.runs = result.total_runs
        self.seconds = time.process_time() - began
        self.kinds = {type(failure.error).__name__ for failure in result.failures}


def cells(found: list[Found]) -> list[str]:
    """How often it was found, and the geometric mean of the runs."""
    mean = statistics.geometric_mean(each.runs for each in found)
    return [f"{sum(each.is_found for each in found)} of {len(found)}", f"{mean:.0f}"]


def deep() -> Iterator[tuple[str, Any, list[str]]]:
    """Yield the name of the puzzle, its machine, and no targets."""
    sys.path.insert(0, str(ROOT))
    yield "relay_race", importlib.import_module("tests.puzzles.relay_race").RelayRace, []


def ablated(folders: list[str]) -> Iterator[tuple[str, Any, list[str]]]:
    """Yield a name, a machine and its targets for each mistake, and for the intact programs, while it can be used."""
    sys.path.insert(0, str(EXAMPLES))
    program = importlib.import_module("ablations")
    for folder in folders:
        ablations = program.Ablations(EXAMPLES / folder)
        for name in (*ablations.left_out, None):
            with ablations.without(name) as test:
                module = sys.modules[ablations.program]
                vars(module)["__file__"] = str(ablations.folder / f"{ablations.program}.py")
                yield f"{folder}: {name or INTACT}", MACHINES[folder](module, test), [ablations.program]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(options.first, options.first + options.seeds)
    rows, logs, seconds = [], ([], []), [0.0, 0.0]  # type: ignore[var-annotated]
    for name, machine, targets in deep() if options.deep else ablated(options.names or list(MACHINES)):
        ways: list[list[Found]] = [[], []]
        for seed in seeds:
            for way, off in enumerate(((), ORDER)):
                ways[way].append(Found(machine, targets, seed, options.runs, off))
        for way, found in enumerate(ways):
            seconds[way] += sum(each.seconds for each in found)
            if not name.endswith(INTACT):
                logs[way].append(math.log(statistics.geometric_mean(each.runs for each in found)))
        kinds = ", ".join(sorted({kind for found in ways for each in found for kind in each.kinds}))
        rows.append((name, *cells(ways[0]), *cells(ways[1]), kinds))
    means = [math.exp(statistics.fmean(each)) for each in logs]
    rows.append(("**geometric mean**", "", f"{means[0]:.1f}", "", f"{means[1]:.1f}", ""))
    rows.append(("**processor seconds**", "", f"{seconds[0]:.0f}", "", f"{seconds[1]:.0f}", ""))
    header = ("what is left out", "found with order", "runs", "found without", "runs", "failures")
    print(host(), command(), table(header, rows), sep="\n\n")


if __name__ == "__main__":
    main()
