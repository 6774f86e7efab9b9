"""Finds failing runs with the Explorer, which does not shrink them, and shrinks them as ``ordeal replay --shrink``."""

import time

from hypothesis.stateful import RuleBasedStateMachine

from ordeal import trace
from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot
from shrinking.shrunk import Shrunk, Tally, counted

SEARCH_S_MAX = 60.0
SHRINK_S_MAX = 60.0


def find(machine: type[RuleBasedStateMachine], rng_seed: int) -> trace.Trace:
    """The first failing run, as it was found."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt  # What a user would do.

    explorer = Explorer(machine, target_modules=[machine.__module__], seed=rng_seed, workers=1)
    found = explorer.run(max_time=SEARCH_S_MAX, shrink=False, progress=stop).failures[0].trace
    assert found is not None
    return found


def shrink(machine: type[RuleBasedStateMachine], failing: trace.Trace) -> Shrunk:
    """Shrink a failing run; its first execution and the one that writes the program down count."""
    tally = Tally()
    counting = counted(machine, tally)
    started = time.process_time()
    small = trace.shrink(failing, counting, max_time=SHRINK_S_MAX)
    cpu_s = time.process_time() - started
    # A program that an invariant ends names it in a line of its own, which is not a step.
    calls = [call for call in small.program[1:-1] if not call.endswith("# the invariant")]
    return Shrunk(tuple(calls), tally.made, cpu_s)
