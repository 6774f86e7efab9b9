"""How many rule calls each engine needs until it finds a shallow bug: figures that a busy machine does not change.

usage: python benchmarks/shallow_steps.py [--seeds N] [--steps S] [--targets NAME ...] [--engines NAME ...]

A search that finds nothing in S calls counts as S. ``blind`` is ordeal without a module to watch. A target is shallow
if one of the engines finds its bug in fewer than 500 calls in the median.
"""

import argparse
import math
import statistics

from bugs.catalog import TARGETS, target_named
from bugs.environments import engine_named
from bugs.libraries import folder_of
from harness.cells import said_by
from harness.report import command, host, table

SEEDS = 20
STEPS = 1_000
SHALLOW = 500
# A name in the table, and the engine that it stands for.
ENGINES = {"ordeal": "ordeal", "blind": "ordeal", "Hypothesis": "Hypothesis", "Hegel": "Hegel"}
REAL = [target.name for target in TARGETS if target.is_real]


def median_calls(name: str, target: str, seeds: int, steps: int) -> float:
    """The median over the seeds; NaN where the engine cannot run."""
    engine = engine_named(ENGINES[name])
    arguments = ["--engine", engine.module, "--target", target, "--seeds", str(seeds), "--steps", str(steps)]
    blind = ["--blind"] if name == "blind" else []
    said = said_by(engine.python, "bugs.steps", *arguments, *blind, limit_s=10.0 * seeds)
    calls = said.get("calls")
    return statistics.median(calls) if isinstance(calls, list) else math.nan


def compared(own: list[float], others: list[float]) -> str:
    """The geometric mean and the median of the ratios, of the targets that both can run."""
    ratios = [one / other for one, other in zip(own, others, strict=True) if not math.isnan(one + other)]
    return f"{statistics.geometric_mean(ratios):.2f} (geometric mean), {statistics.median(ratios):.2f} (median)"


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"seeds 1 to N ({SEEDS})")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"rule calls of a search ({STEPS})")
    parser.add_argument("--targets", nargs="+", default=REAL, help="all real ones")
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES), help="all")
    options = parser.parse_args()
    rows = {}
    for name in options.targets:
        folder_of(target_named(name), repaired=False)
        rows[name] = [median_calls(each, name, options.seeds, options.steps) for each in options.engines]
    shallow = {name: calls for name, calls in rows.items() if min(calls) < SHALLOW}
    cells = [[name, *(f"{each:.0f}" for each in calls)] for name, calls in shallow.items()]
    print(f"{host()}\n`{command()}`\n")
    print(table(["target", *options.engines], cells))
    if not shallow:
        return
    first, *others = zip(*shallow.values(), strict=True)
    for name, other in zip(options.engines[1:], others, strict=True):
        print(f"- {options.engines[0]} / {name}: {compared(list(first), list(other))}")


if __name__ == "__main__":
    main()
