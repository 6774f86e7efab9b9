"""What a numeric assertion is worth as guidance: runs until a limit that lies further and further away is passed.

usage: python benchmarks/guidance.py [--seeds N ...]

The tank of a puzzle is filled and drained at random, in steps of 1,000 litres at most, and a run has at most 50 steps.
With guidance the machine tells its level by `sometimes_gt`; without, by `sometimes`, which says only whether the limit
is passed. Runs and steps do not depend on the machine that this is measured on.
"""

import argparse
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.report import command, host, table

from ordeal._engine.execution.class_path import load_class
from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

ROOT = Path(__file__).parents[1]
MODULE = "tests.puzzles.far_limit"
TOLD, BLIND = "ToldDistance", "FarLimit"

SEEDS = (42, 1, 2, 3, 4)
LIMITS = (10_000, 20_000, 50_000, 100_000, 1_000_000)
RUNS_MAX = 20_000
UNLIMITED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Search:
    """How one search ended. One that found nothing counts with all its runs."""

    found: bool
    runs: int
    steps: int


def search(machine: str, limit: int, rng_seed: int) -> Search:
    """Explore until the tank overflows, or RUNS_MAX runs are over."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt  # What a user would do.

    limitless: Any = load_class(f"{MODULE}:{machine}")
    limited = type(machine, (limitless,), {"limit": limit})
    explorer = Explorer(limited, target_modules=[MODULE], seed=rng_seed, workers=1)
    result = explorer.run(max_time=UNLIMITED_S, max_runs=RUNS_MAX, shrink=False, progress=stop)
    return Search(bool(result.failures), result.total_runs, result.total_steps)


def cells(searches: list[Search]) -> list[str]:
    """How often the bug was found, and the medians of runs and steps."""
    found = sum(each.found for each in searches)
    over = "over " if found <= len(searches) // 2 else ""
    runs, steps = (statistics.median(getattr(each, what) for each in searches) for what in ("runs", "steps"))
    return [f"{found} of {len(searches)}", f"{over}{runs:,.0f}", f"{over}{steps:,.0f}"]


def row(limit: int, seeds: list[int]) -> list[str]:
    """The table row of a limit."""
    told = [search(TOLD, limit, rng_seed) for rng_seed in seeds]
    blind = [search(BLIND, limit, rng_seed) for rng_seed in seeds]
    ratio = statistics.median(each.runs for each in blind) / statistics.median(each.runs for each in told)
    at_least = "at least " if not all(each.found for each in blind) else ""
    return [f"{limit:,}", *cells(told), *cells(blind), f"{at_least}{ratio:.1f}"]


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="42 and 1 to 4")
    seeds: list[int] = parser.parse_args().seeds
    sys.path.insert(0, str(ROOT))  # The tests are a package of the checkout, which nothing installs.
    print(f"{host()}\n`{command()}`: medians, {RUNS_MAX:,} runs at most\n")
    header = ["limit", "found, told", "runs", "steps", "found, blind", "runs", "steps", "ratio of runs"]
    print(table(header, [row(limit, seeds) for limit in LIMITS]))


if __name__ == "__main__":
    main()
