"""What a numeric assertion is worth as guidance: runs until a limit that lies further and further away is passed.

usage: python benchmarks/guidance.py [--seeds N ...]

A tank is filled and drained at random, in steps of 1,000 litres at most, and a run has at most 50 steps. With guidance
the machine tells its level by `sometimes_gt`; without, by `sometimes`, which says no more than whether the limit is
passed.
Runs and steps do not depend on the machine that this is measured on.
"""

import argparse
import statistics
from dataclasses import dataclass

from harness.report import command, host, table
from hypothesis import strategies as st

from ordeal import ChaosTest, Explorer, rule
from ordeal.assertions import sometimes, sometimes_gt
from ordeal.result import ProgressSnapshot

SEEDS = (42, 1, 2, 3, 4)
LIMITS = (10_000, 20_000, 50_000, 100_000, 1_000_000)
RUNS_MAX = 20_000
UNLIMITED_S = 3600.0


class Tank(ChaosTest):
    """Overflows above ``limit``."""

    limit = 0

    def __init__(self) -> None:
        super().__init__()
        self.level = 0

    @rule(litres=st.integers(0, 1000))
    def pour(self, litres: int) -> None:
        self.level += litres
        self.tell()
        assert self.level <= self.limit, "the tank overflows"

    @rule(litres=st.integers(0, 1000))
    def drain(self, litres: int) -> None:
        self.level = max(0, self.level - litres)

    def tell(self) -> None:
        sometimes(self.level > self.limit, "the tank overflows")


class ToldTank(Tank):
    """Says how much is missing."""

    def tell(self) -> None:
        sometimes_gt(self.level, self.limit, "the tank overflows")


@dataclass(frozen=True, slots=True)
class Search:
    """How one search ended. One that found nothing counts with all its runs."""

    found: bool
    runs: int
    steps: int


def search(machine: type[Tank], limit: int, rng_seed: int) -> Search:
    """Explore until the tank overflows, or RUNS_MAX runs are over."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt  # What a user would do.

    limited = type(machine.__name__, (machine,), {"limit": limit})
    explorer = Explorer(limited, target_modules=[__name__], seed=rng_seed)
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
    told = [search(ToldTank, limit, rng_seed) for rng_seed in seeds]
    blind = [search(Tank, limit, rng_seed) for rng_seed in seeds]
    ratio = statistics.median(each.runs for each in blind) / statistics.median(each.runs for each in told)
    at_least = "at least " if not all(each.found for each in blind) else ""
    return [f"{limit:,}", *cells(told), *cells(blind), f"{at_least}{ratio:.1f}"]


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="42 and 1 to 4")
    seeds: list[int] = parser.parse_args().seeds
    print(f"{host()}\n`{command()}`: medians, {RUNS_MAX:,} runs at most\n")
    header = ["limit", "found, told", "runs", "steps", "found, blind", "runs", "steps", "ratio of runs"]
    print(table(header, [row(limit, seeds) for limit in LIMITS]))


if __name__ == "__main__":
    main()
