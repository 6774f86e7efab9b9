"""Schedules until a bug is found: steered by what earlier runs did, and by each single policy of drawing.

usage: python benchmarks/steering.py [--seeds N] [--runs N] [--released]

Ten programs with a deep bug, two with a shallow one, and with `--released` the libraries of `async_bugs.py`. A search
that finds nothing counts as its limit, which favours the policies that find less.
"""

import argparse
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from async_bugs import BUGS
from concurrency.deep import DEEP
from concurrency.shallow import SHALLOW
from harness.peers import folder_with
from harness.report import command, host, table

from ordeal import simulate
from ordeal.simulate.runtime import exploring

SINGLE = ("random", "sparse")
POLICIES = ("auto", *SINGLE)
ROOT = Path(__file__).parents[1]

type Runs = dict[str, list[int]]


def runs_of(main: Callable[..., Coroutine[Any, Any, Any]], faults: Any, seeds: int, limit: int) -> Runs:
    """How many runs each policy needs with each seed; the limit where it finds nothing."""

    def needed(policy: str, seed: int) -> int:
        report = simulate.explore(main, runs=limit, seed=1 + seed, faults=faults, policy=policy, check=False)
        return limit if report.failure is None else report.failure.run

    return {policy: [needed(policy, seed) for seed in range(seeds)] for policy in POLICIES}


def runs_of_released(name: str, requirements: tuple[str, ...], seeds: int, limit: int) -> Runs:
    """The same in a process that has these releases of libraries."""
    folder = folder_with(f"async/{requirements[0]}", *requirements)
    done = subprocess.run(
        [sys.executable, __file__, "--library", name, "--seeds", str(seeds), "--runs", str(limit)],
        env=os.environ | {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT / 'benchmarks'}", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def row(name: str, runs: Runs) -> tuple[str, ...]:
    """A line of the table: the geometric mean of each policy, and how much the better single one needs."""
    means = {policy: statistics.geometric_mean(found) for policy, found in runs.items()}
    ratio = min(means[policy] for policy in SINGLE) / means["auto"]
    return name, *(f"{means[policy]:,.0f}" for policy in POLICIES), f"{ratio:.1f}"


def total(name: str, all_runs: list[Runs]) -> tuple[str, ...]:
    """The last line: the geometric mean over programs."""
    logs = {
        policy: statistics.fmean(math.log(statistics.geometric_mean(runs[policy])) for runs in all_runs)
        for policy in POLICIES
    }
    return row(name, {policy: [max(1, round(math.exp(each)))] for policy, each in logs.items()})


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--released", action="store_true", help="also search releases of libraries, from PyPI")
    parser.add_argument("--library", choices=[bug.name for bug in BUGS], help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", simulate.SimulationWarning)
    exploring.SHRINK_RUNS_MAX = 0  # only when a bug is found is asked here
    if options.library:
        program = importlib.import_module(f"concurrency.{options.library}")
        faults = getattr(program, "FAULTS", [simulate.cancel()])
        print(json.dumps(runs_of(program.main, faults, options.seeds, options.runs)))
        return
    groups: dict[str, dict[str, Runs]] = {
        "ten deep programs": {each.__name__: runs_of(each, DEEP[each], options.seeds, options.runs) for each in DEEP},
        "shallow programs": {
            each.__name__: runs_of(each, SHALLOW[each], 4 * options.seeds, options.runs) for each in SHALLOW
        },
    }
    if options.released:
        groups["released libraries"] = {
            bug.name: runs_of_released(bug.name, bug.buggy, options.seeds, options.runs) for bug in BUGS
        }
    rows = []
    for group, found in groups.items():
        rows += [row(name, runs) for name, runs in found.items()]
        rows.append(total(f"**{group}**", list(found.values())))
    deep_and_released = [
        runs for group in ("ten deep programs", "released libraries") for runs in groups.get(group, {}).values()
    ]
    if options.released:
        rows.append(total("**deep programs and released libraries**", deep_and_released))
    print(host(), command(), table(("program", *POLICIES, "best single / auto"), rows), sep="\n\n")


if __name__ == "__main__":
    main()
