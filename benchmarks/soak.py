"""Explores the shop for a long time with two workers and fails when a process holds more and more memory.

usage: python benchmarks/soak.py [--minutes M]

After the first minute, in which a search learns most of what it keeps, the resident memory of each process is looked at
in windows of time. Growth is what the median of the last window is above that of the first.
"""

import argparse
import itertools
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.processes import Memory, descendants_of, memory_of
from harness.report import command, host, table

from ordeal._engine.execution.class_path import load_class
from ordeal.explore import Explorer

SHOP = Path(__file__).parents[1] / "examples" / "shop"
MACHINE, TARGET = "tests.test_shop_chaos:ShopChaos", "shop"
SEED = 42
WORKERS = 2
MINUTES = 60.0
PERIOD_S = 3.0
WARM_UP_S = 60.0
WINDOWS = 5
#: A median of fewer samples says nothing.
SAMPLES_MIN = 3
GROWTH_MAX = 0.05
#: The exit code that says so; another one says that nothing was measured.
GREW = 3
MIB = 1024 * 1024
SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True)
class Sample:
    """What a process held, so many seconds after the beginning."""

    second: float
    memory: Memory


@dataclass(frozen=True, slots=True)
class Growth:
    """Medians of the resident memory, window by window, in bytes. None when the process did not live long enough."""

    process: str
    windows: tuple[float, ...]
    samples: int

    @property
    def share(self) -> float | None:
        """How much more the last window has than the first."""
        return self.windows[-1] / self.windows[0] - 1 if self.windows else None

    @property
    def is_too_much(self) -> bool:
        """Whether that is growth, and no noise."""
        return self.share is not None and self.share >= GROWTH_MAX


def growth(process: str, samples: Sequence[Sample], *, warm_up_s: float = WARM_UP_S) -> Growth:
    """How the memory of a process grew after the warm-up: windows of equal numbers of samples, oldest first."""
    counted = [each.memory.rss for each in samples if each.second >= warm_up_s]
    if len(counted) < WINDOWS * SAMPLES_MIN:
        return Growth(process, (), len(counted))
    ends = [len(counted) * number // WINDOWS for number in range(WINDOWS + 1)]
    medians = [statistics.median(counted[low:high]) for low, high in itertools.pairwise(ends)]
    return Growth(process, tuple(medians), len(counted))


class Sampler:
    """Looks at a process and at those it has started, until told to end."""

    def __init__(self, process: int) -> None:
        self.samples: dict[str, list[Sample]] = {}
        self._process = process
        self._started = time.monotonic()

    def look(self) -> None:
        """Take one sample of each process."""
        self._take(SUPERVISOR, self._process)
        for generation, process in descendants_of(self._process):
            # Between the supervisor and each worker stands one that guards it.
            self._take(f"{'guard' if generation == 1 else 'worker'} {process}", process)

    def _take(self, name: str, process: int) -> None:
        memory = memory_of(process)
        if memory is not None:
            self.samples.setdefault(name, []).append(Sample(time.monotonic() - self._started, memory))


def explore(seconds: float) -> None:
    """Explore the shop, and print what was done."""
    sys.path.insert(0, str(SHOP))
    explorer = Explorer(load_class(MACHINE), target_modules=[TARGET], seed=SEED, workers=WORKERS)
    result = explorer.run(max_time=seconds, shrink=False)
    counts = sum(failure.count for failure in result.failures)
    print(
        f"{result.total_runs:,} runs, {result.total_steps:,} steps, {result.unique_edges:,} edges, "
        f"{len(result.failures)} failures in {counts:,} runs",
        flush=True,
    )
    for note in result.notes:
        print(f"note: {note}", flush=True)


def soak(seconds: float) -> dict[str, list[Sample]]:
    """Have a process explore, and look at it and its workers while it does."""
    with subprocess.Popen([sys.executable, __file__, "--seconds", str(seconds)]) as process:
        sampler = Sampler(process.pid)
        until = time.monotonic() + seconds
        while process.poll() is None:
            # What comes after the search belongs to other processes, and shrinking is no leak.
            if time.monotonic() < until:
                sampler.look()
            time.sleep(PERIOD_S)
        if process.returncode:
            sys.exit(f"error: the exploration ended with exit code {process.returncode}")
    return sampler.samples


def row(grown: Growth, samples: Sequence[Sample]) -> list[str]:
    """The table row of a process."""
    share = "lived too short" if grown.share is None else f"{100 * grown.share:+.1f} %"
    pss = statistics.median(each.memory.pss for each in samples[-SAMPLES_MIN:])
    last = [f"{median / MIB:.2f}" for median in grown.windows] or ["-"] * WINDOWS
    return [grown.process, str(grown.samples), *last, f"{pss / MIB:.2f}", share]


def main() -> None:
    """Explore, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long (60)")
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.seconds is not None:
        explore(options.seconds)
        return
    if options.minutes * 60 < WARM_UP_S + WINDOWS * SAMPLES_MIN * PERIOD_S:
        parser.error("that is too short to see growth: 2 minutes are the least")
    print(f"{host()}\n`{command()}`\n", flush=True)
    samples = soak(options.minutes * 60)
    judged = {name: growth(name, each) for name, each in samples.items()}
    header = ["process", "samples", *(f"RSS of window {number + 1}, MiB" for number in range(WINDOWS))]
    print()
    print(table([*header, "PSS at the end", "growth"], [row(judged[name], each) for name, each in samples.items()]))
    grown = [each.process for each in judged.values() if each.is_too_much]
    if grown:
        print(f"\n{', '.join(grown)} grew by {100 * GROWTH_MAX:g} % or more after the first minute.")
        sys.exit(GREW)
    print(f"\nNo process grew by {100 * GROWTH_MAX:g} % after the first minute.")


if __name__ == "__main__":
    main()
