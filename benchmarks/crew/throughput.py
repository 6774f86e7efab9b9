"""Explores one machine for a short and a long time, in a process of its own, and prints what the difference took.

What is in both is start-up and the end: forking, the first runs, and merging what the workers know.
"""

import argparse
import json
import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from five_rules.run_ordeal import FiveRulesChaos
from harness.processes import Time, children_of, time_of

from crew.busy import Busy
from ordeal import Explorer

ALONE, APART, SUPERVISED = "one in process", "two apart", "one supervised"
TWO, TWO_IN_ROUNDS = "two workers", "two workers, in rounds"
WAYS: dict[str, dict[str, Any]] = {
    ALONE: {},
    APART: {},  # two programs that know nothing of each other: what the machine gives at most
    SUPERVISED: {"isolate": True},
    TWO: {"workers": 2},
    TWO_IN_ROUNDS: {"workers": 2},
}
MACHINES = {"busy": (Busy, "crew.labour"), "five rules": (FiveRulesChaos, "five_rules.shelf")}
#: Where a number of runs ends it, it is one that takes about as long as the seconds that end the other ways.
RUNS_PER_SECOND = {"busy": 1_500, "five rules": 15_000}
STEPS_PER_RUN = 50
SHORT_SHARE = 0.2
SAMPLE_S = 0.05
UNLIMITED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Spent:
    """What an exploration took. ``awake_s`` is without the time that a worker had to wait for a core, in the mean."""

    runs: int
    steps: int
    wall_s: float
    cpu_s: float
    awake_s: float

    def less(self, other: "Spent") -> "Spent":
        """What this one took more than ``other``."""
        mine, its = asdict(self), asdict(other)
        return Spent(**{name: mine[name] - its[name] for name in mine})


class Watcher:
    """Looks at the workers every now and then, or at this process where it has none."""

    def __init__(self, *, alone: bool) -> None:
        self.seen: dict[int, Time] = {}
        self._alone = alone
        self._over = threading.Event()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Look until the block ends."""
        began = time_of(os.getpid())
        thread = threading.Thread(target=self._look_on, daemon=True)
        if not self._alone:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            ended = time_of(os.getpid())
            if not self._alone:
                thread.join()
            elif began is not None and ended is not None:
                self.seen[0] = Time(ended.ran_s - began.ran_s, ended.delayed_s - began.delayed_s)

    def delayed_s(self) -> float:
        """How long a process had to wait for a core, in the mean."""
        return sum(each.delayed_s for each in self.seen.values()) / max(len(self.seen), 1)

    def _look_on(self) -> None:
        while not self._over.wait(SAMPLE_S):
            for process in children_of(os.getpid()):
                now = time_of(process)
                if now is not None:
                    self.seen[process] = now


def explore(way: str, options: argparse.Namespace, share: float) -> Spent:
    """Explore for a share of the time, or of the runs."""
    watcher = Watcher(alone=way == ALONE)
    wall, cpu = time.perf_counter(), _cpu_s()
    with watcher.watching():
        runs, steps = in_two(options, share) if way == APART else in_one(way, options, share, options.seed)
    wall_s, cpu_s = time.perf_counter() - wall, _cpu_s() - cpu
    return Spent(runs, steps, wall_s, cpu_s, wall_s - watcher.delayed_s())


def in_one(way: str, options: argparse.Namespace, share: float, seed: int) -> tuple[int, int]:
    """The runs and steps of one exploration."""
    cls, target = MACHINES[options.machine]
    explorer = Explorer(cls, target_modules=[target] if options.coverage else None, seed=seed, **WAYS[way])
    runs = round(2 * RUNS_PER_SECOND[options.machine] * options.seconds * share) if way == TWO_IN_ROUNDS else None
    limit = UNLIMITED_S if runs else options.seconds * share
    result = explorer.run(max_time=limit, max_runs=runs, steps_per_run=STEPS_PER_RUN, shrink=False)
    assert not result.failures, result.failures
    return result.total_runs, result.total_steps


def in_two(options: argparse.Namespace, share: float) -> tuple[int, int]:
    """The runs and steps of two explorations in two processes."""
    with multiprocessing.get_context("fork").Pool(2) as pool:
        seeds = (options.seed, options.seed + 1_000)
        made = pool.starmap(in_one, [(APART, options, share, seed) for seed in seeds], chunksize=1)
        pool.close()
        pool.join()
    return sum(runs for runs, _ in made), sum(steps for _, steps in made)


def _cpu_s() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", choices=MACHINES, required=True)
    parser.add_argument("--way", choices=WAYS, required=True)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--turns", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    Busy.turns = options.turns
    short = explore(options.way, options, SHORT_SHARE)
    whole = explore(options.way, options, 1.0)
    print(json.dumps({"short": asdict(short), "whole": asdict(whole)}))


if __name__ == "__main__":
    main()
