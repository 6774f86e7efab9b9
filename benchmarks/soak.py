"""Explores a machine for a long time and fails when a process holds more and more memory.

usage: python benchmarks/soak.py [--minutes M] [--machine shop|depth] [--workers N]

After the first minutes, in which a search learns most of what it keeps, the resident memory of each process is looked
at in windows of time. Growth is what the median of the last window is above that of the first.

The machines: the example shop, with its target module, in runs of 50 steps; and one that comes to a state that was
never seen with every step, in runs as long as a tape may be.
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

HERE = Path(__file__).parent
SEED = 42
WORKERS = 2
MINUTES = 60.0
PERIOD_S = 3.0
WINDOWS = 5
#: A median of fewer samples says nothing.
SAMPLES_MIN = 3
GROWTH_MAX = 0.05
#: The exit code that says so; another one says that nothing was measured.
GREW = 3
MIB = 1024 * 1024
SUPERVISOR = "supervisor"


@dataclass(frozen=True, slots=True)
class Soaked:
    """What is explored: a machine in a folder, how long its runs are, and how long the search learns most."""

    folder: Path
    class_path: str
    target_modules: tuple[str, ...]
    steps_per_run: int
    warm_up_s: float


MACHINES = {
    "shop": Soaked(HERE.parent / "examples" / "shop", "tests.test_shop_chaos:ShopChaos", ("shop",), 50, 60.0),
    "depth": Soaked(HERE, "deep.machine:Deep", (), 10_000, 120.0),
}
WARM_UP_S = MACHINES["shop"].warm_up_s


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


def explore(soaked: Soaked, seconds: float, workers: int) -> None:
    """Explore the machine in processes of their own, and print what was done."""
    sys.path.insert(0, str(soaked.folder))
    targets = soaked.target_modules
    explorer = Explorer(load_class(soaked.class_path), target_modules=targets, seed=SEED, workers=workers, isolate=True)
    result = explorer.run(max_time=seconds, shrink=False, steps_per_run=soaked.steps_per_run)
    counts = sum(failure.count for failure in result.failures)
    print(
        f"{result.total_runs:,} runs, {result.total_steps:,} steps, {result.unique_edges:,} edges, "
        f"{len(result.failures)} failures in {counts:,} runs",
        flush=True,
    )
    for note in result.notes:
        print(f"note: {note}", flush=True)


def soak(machine: str, seconds: float, workers: int) -> dict[str, list[Sample]]:
    """Have a process explore, and look at it and its workers while it does."""
    told = ["--seconds", str(seconds), "--machine", machine, "--workers", str(workers)]
    with subprocess.Popen([sys.executable, __file__, *told]) as process:
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
    parser.add_argument("--machine", choices=MACHINES, default="shop", help="what is explored (shop)")
    parser.add_argument("--workers", type=int, default=WORKERS, help="how many processes explore (2)")
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    soaked = MACHINES[options.machine]
    if options.seconds is not None:
        explore(soaked, options.seconds, options.workers)
        return
    least_s = soaked.warm_up_s + WINDOWS * SAMPLES_MIN * PERIOD_S
    if options.minutes * 60 < least_s:
        parser.error(f"that is too short to see growth: {least_s / 60:.0f} minutes are the least")
    print(f"{host()}\n`{command()}`\n", flush=True)
    samples = soak(options.machine, options.minutes * 60, options.workers)
    judged = {name: growth(name, each, warm_up_s=soaked.warm_up_s) for name, each in samples.items()}
    header = ["process", "samples", *(f"RSS of window {number + 1}, MiB" for number in range(WINDOWS))]
    print()
    print(table([*header, "PSS at the end", "growth"], [row(judged[name], each) for name, each in samples.items()]))
    grown = [each.process for each in judged.values() if each.is_too_much]
    if grown:
        print(f"\n{', '.join(grown)} grew by {100 * GROWTH_MAX:g} % or more after {soaked.warm_up_s:g} s.")
        sys.exit(GREW)
    print(f"\nNo process grew by {100 * GROWTH_MAX:g} % after {soaked.warm_up_s:g} s.")


if __name__ == "__main__":
    main()
