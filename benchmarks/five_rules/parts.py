"""Shows where the Explorer spends its time on the five rules: the stack is looked at every few milliseconds.

A sample counts for the innermost function on the stack that is named below, so what Hypothesis, ``copy`` or the C++
core do counts for the part that asked for it. A profiler that traces calls makes each Python call dearer and leaves the
work in C++ as it is: here it would mostly measure itself.
"""

import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from harness.report import table

from five_rules.rules import TALLY
from five_rules.run_ordeal import make

INTERVAL_S = 0.001

#: A function that neither loops nor calls sees no signal before it ends, so the loop and what it calls are one.
STEPS = "steps: the loop in C++, and the rules, preconditions and invariants that it calls"
MACHINE = "making fresh machines"
CONTEXT = "Hypothesis' context of a run"
RANDOMS = "reseeding random generators"
RESTORING = "restoring checkpoints"
TAKING = "taking checkpoints"
ENDING = "teardown"
RUN = "the rest of a run"

PARTS = {
    ("driver", "Driver._loop_steps"): STEPS,
    ("rules", "FiveRules.__init__"): MACHINE,
    ("driver", "Driver._renewed"): CONTEXT,
    ("run_context", "RunContext.__enter__"): CONTEXT,
    ("run_context", "RunContext.__exit__"): CONTEXT,
    ("randoms", "GlobalRandoms.reseed"): RANDOMS,
    ("snapshot", "Snapshots.restore"): RESTORING,
    ("snapshot", "Snapshots.take"): TAKING,
    ("chaos", "ChaosTest.teardown"): ENDING,
    ("search", "Search._one_run"): RUN,
}


class Sampler:
    """Counts the parts that are running when the timer of the processor's time rings."""

    def __init__(self) -> None:
        self.samples: Counter[str] = Counter()

    def __call__(self, _signum: int, frame: FrameType | None) -> None:
        """Count the part of this moment."""
        self.samples[part_of(frame)] += 1

    def watch(self, run: Callable[[], int]) -> float:
        """Run ``run()``; the seconds of processor time that it took."""
        signal.signal(signal.SIGPROF, self)
        started = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)
        try:
            run()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        return time.process_time() - started


def part_of(frame: FrameType | None) -> str:
    """The part that the innermost known function on the stack belongs to."""
    while frame is not None:
        code = frame.f_code
        part = PARTS.get((Path(code.co_filename).stem, code.co_qualname))
        if part is not None:
            return part
        frame = frame.f_back
    return "between runs"


def main() -> None:
    """Explore, and print the table."""
    explore, _ = make()
    sampler = Sampler()
    cpu_s = sampler.watch(explore)
    taken = sampler.samples.total()
    rows = [
        [part, f"{100 * count / taken:.1f} %", f"{1e6 * cpu_s / TALLY.steps * count / taken:.2f}"]
        for part, count in sampler.samples.most_common()
    ]
    print(table(["part", "share", "CPU us per step"], rows))
    print(f"\n{taken:,} samples, {TALLY.steps:,} steps, {1e6 * cpu_s / TALLY.steps:.2f} us each")


if __name__ == "__main__":
    main()
