"""Explores one machine in several ways, in turns, each for a short and a long time: what the difference took counts.

What is in both is start-up and the end: forking, the first runs, and merging what the workers know. All ways take their
turn within seconds in one process, so that a machine whose speed changes does so for all of them.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from five_rules.run_ordeal import FiveRulesChaos

from crew.busy import Busy
from ordeal import Explorer

ALONE, APART, SUPERVISED = "one in process", "two apart", "one supervised"
TWO, TWO_IN_ROUNDS = "two workers", "two workers, in rounds"
MACHINES = {"busy": (Busy, "crew.labour"), "five rules": (FiveRulesChaos, "five_rules.shelf")}
#: So many runs take somewhat more than a second.
RUNS = {"busy": 2_000, "five rules": 24_000}
STEPS_PER_RUN = 50
SHORT_SHARE = 0.15
UNLIMITED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Explored:
    """Steps, and the seconds that they took."""

    steps: int
    seconds: float


def explored(options: argparse.Namespace, seed: int, *, runs: int | None = None, seconds: float = UNLIMITED_S,
             **kind: Any) -> Explored:  # fmt: skip
    """One exploration, which ends by a number of runs or by the clock."""
    cls, target = MACHINES[options.machine]
    explorer = Explorer(cls, target_modules=[target] if options.coverage else None, seed=seed, **{"workers": 1} | kind)
    began = time.perf_counter()
    result = explorer.run(max_time=seconds, max_runs=runs, steps_per_run=STEPS_PER_RUN, shrink=False)
    took = time.perf_counter() - began
    assert not result.failures, result.failures
    return Explored(result.total_steps, took)


def apart(options: argparse.Namespace, seed: int, runs: int) -> Explored:
    """Two explorations in two processes that know nothing of each other: what the machine gives at most."""
    began = time.perf_counter()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        calls = [pool.apply_async(explored, (options, each), {"runs": runs}) for each in (seed, seed + 1_000)]
        steps = sum(call.get().steps for call in calls)
    return Explored(steps, time.perf_counter() - began)


def ways(options: argparse.Namespace, seed: int, seconds: float) -> dict[str, Callable[[float], Explored]]:
    """What each way does for a share of its work. ``seconds`` is how long that takes where the clock ends it."""

    def runs(share: float) -> int:
        return round(RUNS[options.machine] * share)

    return {
        ALONE: lambda share: explored(options, seed, runs=runs(share)),
        SUPERVISED: lambda share: explored(options, seed, runs=runs(share), isolate=True),
        TWO: lambda share: explored(options, seed, seconds=seconds * share, workers=2),
        TWO_IN_ROUNDS: lambda share: explored(options, seed, runs=2 * runs(share), workers=2),
        APART: lambda share: apart(options, seed, runs(share)),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", choices=MACHINES, required=True)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--turns", type=int, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    options = parser.parse_args()
    Busy.turns = options.turns
    seconds = explored(options, 0, runs=RUNS[options.machine]).seconds  # and all is warm
    # Two explorations of one seed do the same work.
    turns = list(ways(options, 1, seconds).items())
    made: dict[str, list[tuple[int, float, int, float]]] = {}
    for number in range(options.rounds):
        for name, way in turns if number % 2 == 0 else reversed(turns):
            short, whole = way(SHORT_SHARE), way(1.0)
            made.setdefault(name, []).append((short.steps, short.seconds, whole.steps, whole.seconds))
    print(json.dumps(made))


if __name__ == "__main__":
    main()
