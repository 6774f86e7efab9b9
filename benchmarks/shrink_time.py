"""How long ordeal takes to shrink a failing run of a cache, which seven steps show, and runs with 4,000 integers.

usage: python benchmarks/shrink_time.py [--seeds N ...] [--peer]

The Explorer finds a failing run with each seed. Printed are milliseconds of processor time, replays and what is left.
With --peer, Hypothesis shrinks the same runs of the cache.
"""

import argparse
import statistics
import time
from collections import Counter

from harness.report import command, host, table
from hypothesis.stateful import RuleBasedStateMachine
from shrinking import run_hypothesis, run_ordeal
from shrinking.lru import STEPS, Lru
from shrinking.many_integers import MACHINES as OF_MANY

from ordeal import _native, trace
from ordeal._engine.replay.loading import load_for_replay

SECONDS_MAX = 60.0
#: For a run with 4,000 integers.
SECONDS_GOAL = 2.0


def shrink(failing: trace.Trace, machine: type[RuleBasedStateMachine] = Lru) -> tuple[_native.Tape, int, float]:
    """What is left, the replays, and the milliseconds of processor time."""
    bench = load_for_replay(failing, machine)
    with bench.running():
        (first, _) = bench.replayer.confirm(bench.tape)
        began = time.process_time()
        shrunk = bench.replayer.shrink(first.tape, first.bucket, SECONDS_MAX)
        took = time.process_time() - began
    return shrunk.tape, shrunk.candidates, 1e3 * took


def of_many(machine: type[RuleBasedStateMachine]) -> list[str]:
    """A line of the table of runs with 4,000 integers."""
    tape, replays, ms = shrink(run_ordeal.find(machine, 1), machine)
    values = Counter(int(choice) for *_, arguments in tape.steps() for _, choices in arguments for choice in choices)
    left = ", ".join(f"{count:,} of {value}" for value, count in sorted(values.items())[:4])
    verdict = f"{ms / 1e3:.2f} (goal {SECONDS_GOAL:g}: {'met' if ms / 1e3 <= SECONDS_GOAL else 'missed'})"
    return [(machine.__doc__ or "").rstrip("."), f"{replays:,}", verdict, left]


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
        [str(seed), str(len(failing.taken_steps())), str(len(tape)), str(replays), f"{ms:.1f}"]
        for seed, failing, (tape, replays, ms) in zip(options.seeds, runs, results, strict=True)
    ]
    print(table(["seed", "failing run", "steps left", "replays", "ms"], rows))
    least = sum(len(tape) == STEPS for tape, _, _ in results)
    print(
        f"\nmedian {statistics.median(ms for _, _, ms in results):.1f} ms; {least} of {len(results)} have {STEPS} steps"
    )
    print(f"\n{table(['4,000 integers', 'replays', 'CPU s', 'what is left'], map(of_many, OF_MANY))}")
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
