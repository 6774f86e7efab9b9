"""What it costs to write each choice to a journal: explorations of the five rules with one and without, in turns.

usage: python benchmarks/journal_cost.py [--rounds N] [--runs N]

All rounds explore the same, from the same seed, in one process, and every second one in the reverse order. Printed are
nanoseconds of processor time for a step, and two ratios to those without a journal: of the least, as what else the
machine does makes a round slower and never faster, and the median of the ratios of one round each.
"""

import argparse
import gc
import mmap
import statistics
import time

from five_rules.rules import TALLY
from five_rules.run_ordeal import FiveRulesChaos
from harness.report import command, host, table

import ordeal._native as _native
from ordeal.explore import Explorer

#: Our runs draw their length from 1 to this: 50 in the mean.
STEPS = 99
BYTES = 1 << 20
LIMIT = 1.03


def explore(journal: _native.Journal | None, runs: int) -> float:
    """Nanoseconds of processor time for a step."""
    explorer = Explorer(FiveRulesChaos, seed=1, workers=1)
    explorer._driver.journal = journal
    gc.collect()
    steps, started = TALLY.steps, time.process_time_ns()
    result = explorer.run(max_time=60, max_runs=runs, steps_per_run=STEPS, shrink=False)
    took = time.process_time_ns() - started
    assert not result.failures, result.failures
    return took / (TALLY.steps - steps)


def measure(rounds: int, runs: int) -> tuple[list[float], list[float]]:
    """For each round the time of a step, without a journal and with one."""
    journal = _native.Journal(mmap.mmap(-1, BYTES))
    without: list[float] = []
    with_one: list[float] = []
    explore(journal, runs)
    for number in range(rounds):
        turns = [(without, None), (with_one, journal)]
        for times, used in turns if number % 2 == 0 else reversed(turns):
            times.append(explore(used, runs))
    return without, with_one


def ratios(times: list[float], base: list[float]) -> tuple[str, str]:
    """Of the least, and the median of those of one round."""
    of_rounds = [one / other for one, other in zip(times, base, strict=True)]
    return f"{min(times) / min(base):.3f}", f"{statistics.median(of_rounds):.3f}"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="explorations of each kind (default: 100)")
    parser.add_argument("--runs", type=int, default=1_000, help="runs of an exploration (default: 1000)")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    without, with_one = measure(options.rounds, options.runs)
    rows = [
        [name, f"{min(times):.1f}", f"{statistics.median(times):.1f}", *ratios(times, without), limit]
        for name, times, limit in (("without a journal", without, "-"), ("with a journal", with_one, str(LIMIT)))
    ]
    print(table(["five rules", "ns a step, least", "median", "ratio of the least", "of a round", "limit"], rows))


if __name__ == "__main__":
    main()
