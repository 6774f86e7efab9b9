"""Count reports that are longer than the shortest run of their bucket that the search executed.

Usage: python benchmarks/shortest_reports.py [--targets 30] [--seeds 10] [--runs 200] [--workers 1] [--fails raise]

Each target is a graph of states, drawn at random: a rule goes along one edge, and several paths of different lengths
lead to the state in which a rule fails. One target in three also needs a number of calls that depends on the path. What
failed is counted in the machine itself, in shared memory.
"""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Callable
from mmap import mmap
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from ordeal import Explorer

STATES = 7
LENGTHS = mmap(-1, 256)  # by steps: whether a run of that length failed


def edge_rule(source: int, to: int) -> Callable[..., Any]:
    """Return the rule that goes along one edge."""

    def step(self: Any) -> None:
        self.at, self.steps, self.calls = to, self.steps + 1, 0

    step.__name__ = f"from_{source}_to_{to}"
    return precondition(lambda self: self.at == source)(rule()(step))


class Graph(RuleBasedStateMachine):
    """Counts its steps, and the calls since it came to a state."""

    def __init__(self) -> None:
        super().__init__()
        self.at = self.steps = self.calls = 0


def end(how: str) -> None:
    """Fail in this way."""
    if how == "exit":
        os._exit(3)
    raise ValueError("reached")


def machine(number: int, how: str) -> type[RuleBasedStateMachine]:
    """Return the target of this number."""
    draw = random.Random(number)
    edges = {(draw.randrange(at), at) for at in range(1, STATES)}
    edges |= {(draw.randrange(STATES - 1), draw.randrange(1, STATES)) for _ in range(STATES)}

    def fail(self: Any) -> None:
        self.steps, self.calls = self.steps + 1, self.calls + 1
        if number % 3 or self.calls > self.steps % 3:
            LENGTHS[self.steps] = 1
            end(how)

    last = precondition(lambda self: self.at == STATES - 1)(rule()(fail))
    rules = {f"from_{one}_to_{other}": edge_rule(one, other) for one, other in sorted(edges) if one != other}
    return type(f"Graph{number}", (Graph,), {"fail": last, **rules})


def main() -> None:
    """Explore all targets with all seeds."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else "")
    parser.add_argument("--targets", type=int, default=30)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--fails", choices=["raise", "exit"], default="raise")
    options = parser.parse_args()
    found = longer = 0
    for number in range(options.targets):
        target = machine(number, options.fails)
        for seed in range(options.seeds):
            LENGTHS[:] = bytes(len(LENGTHS))
            explorer = Explorer(target, seed=seed, workers=options.workers)
            failures = explorer.run(max_runs=options.runs).failures
            shortest = LENGTHS.find(b"\1")
            if not failures:
                continue
            found += 1
            if failures[0].step > shortest:
                longer += 1
                print(f"{target.__name__}, seed {seed}: {failures[0].step} steps, a run of {shortest} had failed")
    print(f"{longer} of {found} reports are longer than a run that had failed")


if __name__ == "__main__":
    main()
