"""Explores rule machines made by chance, and has Hypothesis' own loop replay what was recorded: all must be alike.

usage: python benchmarks/lowering_audit.py [--machines N] [--first SEED] [--workers N]

A machine has rules, initialize rules, bundles, preconditions, invariants and faults by chance, and arguments from a
wide table of strategies. A mismatch is a run whose replay, or whose replay by Hypothesis, has other steps, other
arguments or another outcome; each is printed with the seed of its machine. Any makes the script fail.
"""

import argparse
import multiprocessing
import sys
import time
import warnings
from pathlib import Path

from harness.report import command, host, table

ROOT = Path(__file__).parent.parent
SHARE = 100
#: Hypothesis remembers each class and its strategies, some 2.6 MB a machine: a process ends before that is much.
SHARES_PER_PROCESS = 4


def audit(seeds: range) -> tuple[list[int], list[str]]:
    """The counts of machines, runs, steps, failing runs and runs refused as none of Hypothesis', and the mismatches."""
    sys.path.insert(0, str(ROOT))  # The tests are a package of the checkout, which nothing installs.
    from tests.contract.lowering_audit import Audit  # noqa: PLC0415 - importable only now

    warnings.simplefilter("ignore")
    done = Audit()
    for seed in seeds:
        done.add(seed)
    return [done.machines, done.runs, done.steps, done.failures, done.refused], done.mismatches


def main() -> None:
    """Audit, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--machines", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first machine")
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    options = parser.parse_args()
    last = options.first + options.machines
    shares = [range(first, min(first + SHARE, last)) for first in range(options.first, last, SHARE)]
    started = time.perf_counter()
    counts, mismatches = [0] * 5, []
    with multiprocessing.get_context("spawn").Pool(options.workers, maxtasksperchild=SHARES_PER_PROCESS) as pool:
        for found, told in pool.imap_unordered(audit, shares):
            counts = [one + other for one, other in zip(counts, found, strict=True)]
            mismatches += told
            for mismatch in told:
                print(mismatch[:1000], file=sys.stderr, flush=True)
    print(f"{host()}\n{command()}\n")
    heads = ["machines", "runs", "steps", "failing runs", "refused", "mismatches", "s"]
    row = [*(f"{count:,}" for count in (*counts, len(mismatches))), f"{time.perf_counter() - started:.0f}"]
    print(table(heads, [row]))
    sys.exit(bool(mismatches))


if __name__ == "__main__":
    main()
