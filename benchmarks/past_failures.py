"""How long it takes to find a deep bug behind three shallow ones, against the same machine with those repaired.

usage: python benchmarks/past_failures.py [--seeds N ...] [--give-up SECONDS]

The ten machines of `behind/` are made for this. A search ends when it meets the deep bug, or after so many CPU seconds.
"""

import argparse
import statistics
import time
from typing import Any

from behind.machines import MACHINES, Behind, DeepError
from harness.report import command, host, table

from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

SEEDS = range(1, 11)
GIVE_UP_S = 30.0
UNLIMITED_S = 3600.0


def seconds_to_deep(machine: type[Behind], rng_seed: int, give_up_s: float) -> float | None:
    """The CPU seconds until the deep bug is met; None if it was not."""
    met: list[float] = []
    started = time.process_time()

    class Watched(machine):  # type: ignore[misc, valid-type]
        def deep(self, condition: bool) -> None:
            if condition and not met:
                met.append(time.process_time() - started)
            super().deep(condition)

    def stop(_now: ProgressSnapshot) -> None:
        if met or time.process_time() - started > give_up_s:
            raise KeyboardInterrupt  # What a user would do.

    Watched.__name__ = Watched.__qualname__ = machine.__name__
    modules = [machine.__module__]
    result = Explorer(Watched, target_modules=modules, seed=rng_seed, workers=1).run(
        max_time=UNLIMITED_S, shrink=False, progress=stop
    )
    is_reported = any(type(failure.error) is DeepError for failure in result.failures)
    return met[0] if met and is_reported else None


def row(machine: type[Behind], seeds: list[int], give_up_s: float) -> tuple[list[str], float | None, int]:
    """The table row of a machine, the ratio of its medians, and how many searches found the bug."""
    repaired: Any = type(machine.__name__, (machine,), {"shallow": False, "__module__": machine.__module__})
    behind, free = [], []
    for rng_seed in seeds:
        behind.append(seconds_to_deep(machine, rng_seed, give_up_s))
        free.append(seconds_to_deep(repaired, rng_seed, give_up_s))
    cells, medians = [machine.__name__], []
    for times in (behind, free):
        found = sorted(each for each in times if each is not None)
        medians.append(statistics.median(found) if found else None)
        cells.append(f"{len(found)} of {len(times)}")
        cells.append(f"{found[0]:.2f} / {medians[-1]:.2f} / {found[-1]:.2f}" if found else "-")
    ratio = medians[0] / medians[1] if medians[0] and medians[1] else None
    return [*cells, f"{ratio:.2f}" if ratio else "-"], ratio, sum(each is not None for each in behind)


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="1 to 10")
    parser.add_argument("--give-up", type=float, default=GIVE_UP_S, help="30")
    asked = parser.parse_args()
    # The first exploration of a process also loads what all need.
    seconds_to_deep(MACHINES[0], 0, 0.1)
    print(f"{host()}\n`{command()}`")
    print("CPU seconds to the deep bug: lowest, median and highest of those that found it; ratio of the medians\n")
    rows = [row(machine, asked.seeds, asked.give_up) for machine in MACHINES]
    header = ["machine", "found behind three", "seconds", "found with these repaired", "seconds", "ratio"]
    ratios = [ratio for _, ratio, _ in rows if ratio]
    print(table(header, (cells for cells, _, _ in rows)))
    print(f"\nGeometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}; highest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
