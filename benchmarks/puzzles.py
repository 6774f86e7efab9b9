"""The puzzles of tests/puzzles: how often and how soon they fall, with the capability that each needs and without.

usage: python benchmarks/puzzles.py [--seeds N ...]

These machines are made to show one capability each, so they say what it is worth where it is needed, and nothing of how
good an engine is on programs that were not written for it.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hypothesis
from harness.report import command, host, table
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from ordeal._engine.execution.class_path import load_class
from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot

ROOT = Path(__file__).parents[1]
SEEDS = (42, 1, 2, 3, 4)
RUNS_MAX = 4_000
UNLIMITED_S = 3600.0
HYPOTHESIS_RUNS = 300

Machine = type[RuleBasedStateMachine]


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A machine with the capability, as a class path in tests.puzzles, and the machine or the options without it."""

    capability: str
    machine: str
    options: Mapping[str, Any] = field(default_factory=dict)
    machine_without: str = ""
    options_without: Mapping[str, Any] = field(default_factory=dict)


PUZZLES = [
    Puzzle("checkpoints", "deep_chain:DeepChain", options_without={"checkpoint_prob": 0.0}),
    Puzzle("fault toggles", "two_faults:TwoFaults", options_without={"fault_toggle_prob": 0.0}),
    Puzzle("rule swarm", "full_shelf:FullShelf", {"rule_swarm": True}, options_without={"rule_swarm": False}),
    Puzzle(
        "energy",
        "dead_ends:DeadEnds",
        {"checkpoint_strategy": "energy"},
        options_without={"checkpoint_strategy": "uniform"},
    ),
    Puzzle("state_hash", "hidden_progress:ToldProgress", machine_without="hidden_progress:HiddenProgress"),
    Puzzle("distances", "far_limit:ToldDistance", machine_without="far_limit:FarLimit"),
    Puzzle("bundles", "handed_out:HandedOut", machine_without="handed_out:Guessed"),
]


@dataclass(frozen=True, slots=True)
class Search:
    """How one search ended: seconds of processor time until the bug was found, or until it gave up."""

    found: bool
    cpu_s: float


def explore(machine: Machine, rng_seed: int, options: Mapping[str, Any]) -> Search:
    """Explore until the bug is found, or RUNS_MAX runs are over."""

    def stop(now: ProgressSnapshot) -> None:
        if now.failures:
            raise KeyboardInterrupt  # What a user would do.

    explorer = Explorer(machine, target_modules=[machine.__module__], seed=rng_seed, workers=1, **options)
    return timed(
        lambda: bool(explorer.run(max_time=UNLIMITED_S, max_runs=RUNS_MAX, shrink=False, progress=stop).failures)
    )


def generate(machine: Machine, rng_seed: int) -> Search:
    """The same machine under Hypothesis alone, which stops at the first failure too."""
    generate_only = settings(
        max_examples=HYPOTHESIS_RUNS,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )

    def run() -> bool:
        seeded = hypothesis.seed(rng_seed)(type(machine.__name__, (machine,), {"__module__": machine.__module__}))
        try:
            run_state_machine_as_test(seeded, settings=generate_only)
        except AssertionError:
            return True
        return False

    return timed(run)


def timed(run: Callable[[], bool]) -> Search:
    """Time one search."""
    started = time.process_time()
    found = run()
    return Search(found, time.process_time() - started)


def cells(searches: list[Search]) -> list[str]:
    """Found how often, and in how many seconds (median of those that found it, or of all when none did)."""
    times = [search.cpu_s for search in searches if search.found]
    if times:
        return [f"{len(times)} of {len(searches)}", f"{statistics.median(times):.2f} (max {max(times):.2f})"]
    return [f"0 of {len(searches)}", f"gave up after {statistics.median(search.cpu_s for search in searches):.2f}"]


def row(puzzle: Puzzle, seeds: list[int]) -> list[str]:
    """The table row of a puzzle."""
    machine: Any = load_class(f"tests.puzzles.{puzzle.machine}")
    without: Any = load_class(f"tests.puzzles.{puzzle.machine_without or puzzle.machine}")
    return [
        f"{machine.__name__}: {puzzle.capability}",
        *cells([explore(machine, rng_seed, puzzle.options) for rng_seed in seeds]),
        *cells([explore(without, rng_seed, puzzle.options_without) for rng_seed in seeds]),
        *cells([generate(machine, rng_seed) for rng_seed in seeds]),
    ]


def main() -> None:
    """Search, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="42 and 1 to 4")
    seeds: list[int] = parser.parse_args().seeds
    sys.path.insert(0, str(ROOT))  # The tests are a package of the checkout, which nothing installs.
    print(f"{host()}, Hypothesis {hypothesis.__version__}\n`{command()}`")
    print(f"CPU seconds; {RUNS_MAX:,} runs at most, {HYPOTHESIS_RUNS:,} longer ones for Hypothesis\n")
    header = ["puzzle: needs", "found", "seconds", "without it", "seconds", "Hypothesis", "seconds"]
    print(table(header, [row(puzzle, seeds) for puzzle in PUZZLES]))


if __name__ == "__main__":
    main()
