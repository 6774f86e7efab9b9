"""How long ordeal takes to shrink a failing run of a cache, which seven steps show, beside Hypothesis.

usage: python benchmarks/shrink_time.py [--seeds N ...] [--peer]

The Explorer finds a failing run with each seed. Printed are milliseconds of processor time, replays and what is left.
With --peer, Hypothesis shrinks the same runs.
"""

import argparse
import statistics
import time

from harness.report import command, host, table
from shrinking import run_hypothesis, run_ordeal
from shrinking.lru import STEPS, Lru

from ordeal import trace
from ordeal._engine.replay.loading import load_for_replay

SECONDS_MAX = 60.0


def shrink(failing: trace.Trace) -> tuple[int, int, float]:
    """The steps that are left, the replays, and the milliseconds of processor time."""
    bench = load_for_replay(failing, Lru)
    with bench.running():
        (first, _) = bench.replayer.confirm(bench.tape)
        began = time.process_time()
        shrunk = bench.replayer.shrink(first.tape, first.bucket, SECONDS_MAX)
        took = time.process_time() - began
    return len(shrunk.tape), shrunk.candidates, 1e3 * took


def main() -> None:
    """Shrink, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(20)), help="0 to 19")
    parser.add_argument("--peer", action="store_true", help="have Hypothesis shrink the same runs")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    runs = [run_ordeal.find(Lru, seed) for seed in options.seeds]
    results = [shrink(failing) for failing in runs]
    rows = [
        [str(seed), str(len(failing.taken_steps())), str(steps), str(replays), f"{ms:.1f}"]
        for seed, failing, (steps, replays, ms) in zip(options.seeds, runs, results, strict=True)
    ]
    print(table(["seed", "failing run", "steps left", "replays", "ms"], rows))
    least = sum(steps == STEPS for steps, _, _ in results)
    print(
        f"\nmedian {statistics.median(ms for _, _, ms in results):.1f} ms; {least} of {len(results)} have {STEPS} steps"
    )
    if options.peer:
        peer = [
            run_hypothesis.shrink(Lru, run_hypothesis.lowered(Lru, failing), len(failing.taken_steps()), seed)
            for seed, failing in zip(options.seeds, runs, strict=True)
        ]
        least = sum(len(each.program) == STEPS for each in peer)
        median = 1e3 * statistics.median(each.cpu_s for each in peer)
        print(f"Hypothesis: median {median:.1f} ms; {least} of {len(peer)} have {STEPS} steps")


if __name__ == "__main__":
    main()
