"""How often an argument that fails ends as the minimum that ``hypothesis.find`` leaves, of 55 strategies.

usage: python benchmarks/canonical_minima.py [--seeds N] [--only NAME...]

Each is a machine of one rule, which fails for the values that are asked for. Minima are compared as they are written.
Where the two differ, either may be the simpler one: both end where no change helps that they know.
"""

import argparse
from collections import Counter
from importlib.metadata import version
from typing import Any

import hypothesis
from harness.report import command, host, table
from hypothesis import HealthCheck
from hypothesis.stateful import RuleBasedStateMachine, rule
from shrinking.strategies import STRATEGIES, Asked

from ordeal import Explorer, trace
from ordeal.result import ProgressSnapshot

RUNS_MAX = 20_000


def machine_of(asked: Asked, seen: list[str]) -> type[RuleBasedStateMachine]:
    """A machine that fails for the values that are asked for, and writes down which one it was."""
    strategy, wanted = asked

    class Taker(RuleBasedStateMachine):
        @rule(value=strategy)
        def take(self, value: Any) -> None:
            if wanted(value):
                seen.append(repr(value))
                raise AssertionError

    return Taker


def ours(asked: Asked, seed: int) -> str:
    """The minimum that ordeal leaves."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt

    seen: list[str] = []
    machine = machine_of(asked, seen)
    result = Explorer(machine, seed=seed, workers=1).run(max_runs=RUNS_MAX, shrink=False, progress=stop)
    if not result.failures or result.failures[0].trace is None:
        return "not found"
    least = trace.shrink(result.failures[0].trace, machine)
    trace.replay(least, machine)
    return seen[-1]


def theirs(asked: Asked) -> str:
    """The minimum of ``hypothesis.find``."""
    limits = hypothesis.settings(
        max_examples=RUNS_MAX,
        database=None,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    return repr(hypothesis.find(*asked, settings=limits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10, help="(default: 10)")
    parser.add_argument("--only", nargs="+", default=list(STRATEGIES), choices=list(STRATEGIES), help="(default: all)")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`: ordeal {version('ordeal')}, Hypothesis {version('hypothesis')}\n")
    rows = []
    for name in options.only:
        minimum = theirs(STRATEGIES[name])
        left = Counter(ours(STRATEGIES[name], seed) for seed in range(options.seeds))
        others = ", ".join(f"{value} ({count})" for value, count in left.most_common() if value != minimum)
        rows.append([name, f"{left[minimum]} of {options.seeds}", minimum, others])
    alike = sum(not row[-1] for row in rows)
    print(f"{alike} of {len(rows)} strategies end alike with every seed. Those that do not:\n")
    print(table(["strategy", "alike", "hypothesis.find", "others"], [row for row in rows if row[-1]]))


if __name__ == "__main__":
    main()
