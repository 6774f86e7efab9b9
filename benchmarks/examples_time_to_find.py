"""Seconds until the Explorer finds each planted bug of the shipped examples: default settings, ten seeds, one worker.

usage: python benchmarks/examples_time_to_find.py [--seeds N ...]
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.peers import PeerError, folder_with
from harness.report import command, host, table

from ordeal._engine.execution.class_path import load_class
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult, ProgressSnapshot

EXAMPLES = Path(__file__).parents[1] / "examples"
SEEDS = (42, *range(1, 10))
LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Example:
    """A folder of examples/, the messages of its bugs, and whether it tests a library that requirements.txt pins."""

    bugs: Mapping[str, str]
    library: bool = False


SHIPPED = {
    "shop": Example(
        {
            "(a) amended order": "promised units and open orders disagree",
            "(b) refund twice": "a customer got more back than was collected",
            "(c) stock from nowhere": "the stock counts units that do not exist",
        }
    ),
    "cacheout_lfu": Example({"outgrown cache": "the cache holds more than its maxsize"}, library=True),
}


class Stopwatch:
    """Watches an exploration, notes when each failure is found, and ends it once there are ``wanted``."""

    def __init__(self, wanted: int) -> None:
        self.found_s: list[float] = []
        self._wanted = wanted

    def __call__(self, now: ProgressSnapshot) -> None:
        """Called after each run."""
        self.found_s += [now.elapsed] * (now.failures - len(self.found_s))
        if len(self.found_s) >= self._wanted:
            raise KeyboardInterrupt  # What a user would do; the Explorer then shrinks and reports what it has.


def explore(name: str, rng_seed: int) -> dict[str, float]:
    """In a process of its own: seconds by bug; "shrunk" is how long shrinking and reporting took afterwards."""
    project = EXAMPLES / name
    settings: dict[str, Any] = tomllib.loads((project / "ordeal.toml").read_text(encoding="utf-8"))
    if SHIPPED[name].library:
        library = folder_with(name, "--requirement", str(project / "requirements.txt"))
        sys.path[:0] = [str(library), str(project / "compat")]
    sys.path.insert(0, str(project))
    machine = load_class(settings["tests"][0]["class"])
    wanted = len(SHIPPED[name].bugs)
    while True:
        explorer = Explorer(machine, target_modules=settings["explorer"]["target_modules"], seed=rng_seed, workers=1)
        found = search(explorer, name, wanted)
        if found is not None:
            return found
        # A failure that is none of the bugs took the place of one: the same search again, for longer.
        wanted += 1


def search(explorer: Explorer, name: str, wanted: int) -> dict[str, float] | None:
    """Explore until ``wanted`` failures are found; None when a bug is not among them and there was time left."""
    stopwatch = Stopwatch(wanted)
    started = time.perf_counter()
    result = explorer.run(max_time=LIMIT_S, progress=stopwatch)
    total_s = time.perf_counter() - started
    cut_short = result.stopped_reason == "interrupted"
    times = by_bug(name, result, stopwatch.found_s)
    if cut_short and not set(SHIPPED[name].bugs) <= set(times):
        return None
    return times | {"shrunk": total_s - (stopwatch.found_s[-1] if cut_short else LIMIT_S)}


def by_bug(name: str, result: ExplorationResult, found_s: list[float]) -> dict[str, float]:
    """The second in which each bug was found; failures come in the order of their discovery."""
    letters = {message: bug for bug, message in SHIPPED[name].bugs.items()}
    times: dict[str, float] = {}
    for failure, second in zip(result.failures, found_s, strict=True):
        bug = letters.get(str(failure.error), f"other: {failure.bucket}")
        times.setdefault(bug, second)
    return times


def rows(name: str, seeds: list[int]) -> Iterator[list[str]]:
    """The table rows of an example."""
    searches = [search_apart(name, rng_seed) for rng_seed in seeds]
    others = sorted({bug for found in searches for bug in found} - {*SHIPPED[name].bugs, "shrunk"})
    shrinking = f"{max(found['shrunk'] for found in searches):.1f}"
    for bug in [*SHIPPED[name].bugs, *others]:
        times = [found[bug] for found in searches if bug in found]
        missed = len(seeds) - len(times)
        # A search that found nothing counts as the limit, or a bug that is rarely found would seem quick to find.
        counted = [*times, *[LIMIT_S] * missed]
        worst = f"over {LIMIT_S:g}" if missed else f"{max(counted):.2f}"
        middle = statistics.median(counted)
        median = f"over {LIMIT_S:g}" if middle >= LIMIT_S else f"{middle:.2f}"
        yield [name, bug, f"{len(times)} of {len(seeds)}", f"{min(counted):.2f}", median, worst, shrinking]


def search_apart(name: str, rng_seed: int) -> dict[str, float]:
    """``explore`` in a process of its own."""
    one = [sys.executable, __file__, "--example", name, "--seeds", str(rng_seed)]
    done = subprocess.run(one, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {name} with seed {rng_seed} failed\n{done.stderr}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="42 and 1 to 9")
    parser.add_argument("--example", choices=SHIPPED, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.example:
        print(json.dumps(explore(options.example, options.seeds[0])))
        return
    print(f"{host()}\n`{command()}`: seconds of wall time, one process a search\n")
    measured: list[list[str]] = []
    missing: list[str] = []
    for name, example in SHIPPED.items():
        try:
            if example.library:
                folder_with(name, "--requirement", str(EXAMPLES / name / "requirements.txt"))
            measured += rows(name, options.seeds)
        except PeerError as error:
            missing.append(f"Not measured: {name}, whose library could not be installed ({error}).")
    print(table(["example", "bug", "found", "min", "median", "max", "shrinking all, max"], measured))
    print("\n".join(["", *missing]), end="")


if __name__ == "__main__":
    main()
