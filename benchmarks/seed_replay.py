"""What replaying 1,000 saved seeds adds to a pytest run, beside what 1,000 tests that do nothing add.

usage: python benchmarks/seed_replay.py [--seeds N] [--rounds N]
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from harness.report import command, host, spread, table

import _ordeal_pytest
from ordeal._base.trace_file import Trace, TraceFailure, TraceStep

GOAL_S = 2.0

MACHINE = """
    import pytest
    from hypothesis import strategies as st
    from ordeal import ChaosTest, rule

    FIXED = True


    class Account(ChaosTest):
        def __init__(self):
            super().__init__()
            self.balance = 0

        @rule(amount=st.integers(0, 10**6))
        def deposit(self, amount):
            self.balance += amount

        @rule(amount=st.integers(0, 10**6))
        def withdraw(self, amount):
            if amount <= self.balance or not FIXED:
                self.balance -= amount
            assert self.balance >= 0
"""

NOTHING = """

    @pytest.mark.parametrize("number", range({number}))
    def test_nothing(number):
        pass
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of pytest took, in seconds."""

    wall_s: float
    cpu_s: float


def save_seeds(folder: Path, number: int) -> None:
    """Save seeds of five steps, each with arguments of its own, of a bug that is fixed by now."""
    folder.mkdir(parents=True)
    for each in range(number):
        amounts = [each, 10, each + 10, each + 1]
        steps = [("deposit", amounts[0]), ("deposit", 10), ("withdraw", amounts[2]), ("deposit", 0)]
        steps.append(("withdraw", amounts[3]))
        trace = Trace(
            run_id=each,
            seed=42,
            test_class="test_account:Account",
            steps=[
                TraceStep("rule", name, choices={"amount": [amount]}, text={"amount": str(amount)})
                for name, amount in steps
            ],
            failure=TraceFailure("AssertionError", "", len(steps)),
            program=[f"state.{name}(amount={amount})" for name, amount in steps],
        )
        (folder / f"seed-{trace.content_hash()}.json").write_bytes(trace.to_json())


def run_pytest(project: Path, *options: str, passing: int) -> Cost:
    """Run pytest in the project and see that as many tests pass as should."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(_ordeal_pytest.__file__).parent),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
    arguments = [sys.executable, "-m", "pytest", "-q", "-p", "_ordeal_pytest", *options]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(arguments, cwd=project, env=environment, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if f"{passing} passed" not in done.stdout:
        sys.exit(f"error: pytest did not pass {passing} tests\n{done.stdout}{done.stderr}")
    return Cost(wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def measure(root: Path, seeds: int, rounds: int) -> Mapping[str, list[Cost]]:
    """Run each kind in turn, after one round that fills the caches of compiled modules."""
    with_seeds, with_tests = root / "seeds", root / "tests"
    for project, tests in ((with_seeds, 1), (with_tests, seeds)):
        project.mkdir()
        (project / "pytest.ini").write_text("[pytest]\n")
        (project / "test_account.py").write_text(dedent(MACHINE + NOTHING.format(number=tests)))
    save_seeds(with_seeds / ".ordeal/seeds/Account", seeds)
    kinds = {
        "one test": lambda: run_pytest(with_seeds, "--no-ordeal-seeds", passing=1),
        "one test and the seeds": lambda: run_pytest(with_seeds, passing=seeds + 1),
        "as many tests": lambda: run_pytest(with_tests, passing=seeds),
    }
    costs: dict[str, list[Cost]] = {kind: [] for kind in kinds}
    for number in range(rounds + 1):
        for kind in sorted(kinds, reverse=bool(number % 2)):
            cost = kinds[kind]()
            if number:
                costs[kind].append(cost)
    return costs


def rows(costs: Mapping[str, list[Cost]]) -> list[list[str]]:
    """Each kind, and what the seeds add to the other two in the same round."""
    own = [[kind, *_cells(of_kind)] for kind, of_kind in costs.items()]
    for kind in ("one test", "as many tests"):
        pairs = zip(costs["one test and the seeds"], costs[kind], strict=True)
        added = [Cost(more.wall_s - less.wall_s, more.cpu_s - less.cpu_s) for more, less in pairs]
        own.append([f"seeds over {kind}", *_cells(added)])
    return own


def _cells(costs: list[Cost]) -> list[str]:
    return [spread([cost.wall_s for cost in costs], ".2f"), spread([cost.cpu_s for cost in costs], ".2f")]


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1000, help="1000")
    parser.add_argument("--rounds", type=int, default=5, help="5")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    with tempfile.TemporaryDirectory() as folder:
        costs = measure(Path(folder), options.seeds, options.rounds)
    print(table(["pytest runs", "wall s, min / median / max", "CPU s, min / median / max"], rows(costs)))
    pairs = zip(costs["one test and the seeds"], costs["as many tests"], strict=True)
    added_s = statistics.median(more.wall_s - less.wall_s for more, less in pairs)
    print(f"\n{options.seeds} seeds take {added_s:.2f} s over pytest's own time; the goal is {GOAL_S:g} s for 1000.")


if __name__ == "__main__":
    main()
