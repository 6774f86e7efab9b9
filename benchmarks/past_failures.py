"""How long it takes to find a deep bug behind three shallow ones, against the same machine with those repaired.

usage: python benchmarks/past_failures.py [--seeds N ...] [--give-up SECONDS | --runs N] [--busy MICROSECONDS]

The ten machines of `behind/` are made for this. A search ends when it meets the deep bug, or after so many CPU seconds.
Beside the seconds stand the runs, which say how much of the difference is search, and how much the price of failures.
Their steps take about a microsecond; with ``--busy``, each takes so many more, as those of programs do. With
``--runs``, searches go on past the deep bug until so many runs are made, and the table says what a run takes.
"""

import argparse
import statistics
import time
from collections.abc import Callable

from behind.machines import MACHINES, Behind, DeepError
from harness.report import command, host, table
from hypothesis.stateful import invariant

from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

SEEDS = range(1, 11)
GIVE_UP_S = 30.0
UNLIMITED_S = 3600.0


def explored(machine: type[Behind], busy_us: float, deep: Callable[[bool], None]) -> type[Behind]:
    """The machine to explore, which hands over whether it meets the deep bug."""

    class Watched(machine):  # type: ignore[misc, valid-type]
        def deep(self, condition: bool) -> None:
            deep(condition)

    class Busy(Watched):
        @invariant()
        def works(self) -> None:
            until = time.perf_counter_ns() + int(busy_us * 1000)
            while time.perf_counter_ns() < until:
                pass

    chosen = Busy if busy_us else Watched
    chosen.__name__ = chosen.__qualname__ = machine.__name__
    return chosen


def way_to_deep(machine: type[Behind], rng_seed: int, give_up_s: float, busy_us: float = 0) -> tuple[float, int] | None:
    """The CPU seconds and the runs until the deep bug is met; None if it was not."""
    met: list[float] = []
    runs = 0
    started = time.process_time()

    def deep(condition: bool) -> None:
        if condition and not met:
            met.append(time.process_time() - started)
        if condition:
            raise DeepError

    def stop(now: ProgressSnapshot) -> None:
        nonlocal runs
        runs = now.total_runs
        if met or time.process_time() - started > give_up_s:
            raise KeyboardInterrupt  # What a user would do.

    cls, modules = explored(machine, busy_us, deep), [machine.__module__]
    result = Explorer(cls, target_modules=modules, seed=rng_seed, workers=1).run(
        max_time=UNLIMITED_S, shrink=False, progress=stop
    )
    is_reported = any(type(failure.error) is DeepError for failure in result.failures)
    return (met[0], runs) if met and is_reported else None


def us_of_run(machine: type[Behind], rng_seed: int, runs: int, busy_us: float) -> float:
    """The CPU µs of a run, in a search of so many that passes by the deep bug."""
    cls, modules = explored(machine, busy_us, lambda _condition: None), [machine.__module__]
    explorer = Explorer(cls, target_modules=modules, seed=rng_seed, workers=1)
    started = time.process_time()
    explorer.run(max_runs=runs, max_time=UNLIMITED_S, shrink=False)
    return (time.process_time() - started) * 1e6 / runs


def row_of_price(machine: type[Behind], seeds: list[int], runs: int, busy_us: float) -> tuple[list[str], float]:
    """The table row of a machine, and the ratio of its medians."""
    behind, free = (
        statistics.median([us_of_run(each, seed, runs, busy_us) for seed in seeds])
        for each in (machine, repaired(machine))
    )
    return [machine.__name__, f"{behind:.0f}", f"{free:.0f}", f"{behind / free:.2f}"], behind / free


def repaired(machine: type[Behind]) -> type[Behind]:
    """The machine without its shallow bugs."""
    return type(machine.__name__, (machine,), {"shallow": False, "__module__": machine.__module__})


def row(machine: type[Behind], seeds: list[int], give_up_s: float, busy_us: float) -> tuple[list[str], list[float]]:
    """The table row of a machine, and the ratios of its medians: of seconds and of runs. Empty where one is missing."""
    without = repaired(machine)
    behind, free = [], []
    for rng_seed in seeds:
        behind.append(way_to_deep(machine, rng_seed, give_up_s, busy_us))
        free.append(way_to_deep(without, rng_seed, give_up_s, busy_us))
    cells, medians = [machine.__name__], list[tuple[float, float]]()
    for ways in (behind, free):
        found = sorted(each for each in ways if each is not None)
        seconds, runs = [each[0] for each in found], [each[1] for each in found]
        if found:
            medians.append((statistics.median(seconds), statistics.median(runs)))
        cells.append(f"{len(found)} of {len(ways)}")
        cells.append(f"{seconds[0]:.2f} / {statistics.median(seconds):.2f} / {seconds[-1]:.2f}" if found else "-")
    ratios = [ours / theirs for ours, theirs in zip(*medians, strict=True)] if len(medians) == 2 else []
    return [*cells, *([f"{ratio:.2f}" for ratio in ratios] or ["-", "-"])], ratios


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="1 to 10")
    parser.add_argument("--give-up", type=float, default=GIVE_UP_S, help="30")
    parser.add_argument("--busy", type=float, default=0, help="0")
    parser.add_argument("--runs", type=int, default=0, help="measure what a run takes, in searches of so many")
    asked = parser.parse_args()
    # The first exploration of a process also loads what all need.
    way_to_deep(MACHINES[0], 0, 0.1)
    print(f"{host()}\n`{command()}`")
    if asked.runs:
        prices = [row_of_price(machine, asked.seeds, asked.runs, asked.busy) for machine in MACHINES]
        print("CPU µs of a run, medians of the seeds\n")
        print(table(["machine", "behind three", "with these repaired", "ratio"], (cells for cells, _ in prices)))
        print(f"\nGeometric mean of the ratios: {statistics.geometric_mean(ratio for _, ratio in prices):.2f}")
        return
    print("CPU seconds to the deep bug: lowest, median and highest of those that found it; ratios of the medians\n")
    rows = [row(machine, asked.seeds, asked.give_up, asked.busy) for machine in MACHINES]
    header = [
        "machine",
        "found behind three",
        "seconds",
        "found with these repaired",
        "seconds",
        "ratio",
        "ratio of runs",
    ]
    print(table(header, (cells for cells, _ in rows)))
    both = zip(*(ratios for _, ratios in rows if ratios), strict=True)
    for what, ratios in zip(("ratios", "ratios of runs"), both, strict=True):
        print(f"\nGeometric mean of the {what}: {statistics.geometric_mean(ratios):.2f}; highest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
