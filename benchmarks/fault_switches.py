"""Steps per second of a trivial machine with faults and without, and what switching one fault on and off costs.

usage: python benchmarks/fault_switches.py [--rounds N] [--runs N]

The machine has one rule that adds one; where the table says so, the rule also calls the four functions that the faults
are on. Faults are switched as often as by default. All explorations of a round are made in one process each, in turns
and every second time in the reverse order. A step is a call of a rule or a switch; the calls of rules alone are counted
as well, since switches take their place in a run.
"""

import argparse
import importlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from harness.report import command, host, spread, table

from ordeal import ChaosTest, Explorer, rule
from ordeal.faults import Fault, PatchFault, io, timing

#: Our runs draw their length from 1 to this: 50 in the mean.
STEPS = 99
NONE = "none"
GOALS = {"one": 0.6, "three": 0.5}


def price(sku: int) -> int:
    return sku


def ask(sku: int) -> int:
    return sku


def tell(sku: int) -> int:
    return sku


class Client:
    def send(self, sku: int) -> int:
        return sku


CLIENT = Client()
HERE = "fault_switches"


def unchanged(original: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs)

    return call


def make_faults(kind: str) -> list[Fault]:
    """The faults of a row, of which every one is on a function of this module."""
    made: dict[str, Callable[[], list[Fault]]] = {
        NONE: list,
        "one": lambda: [timing.timeout(f"{HERE}.price")],
        "one, which lets calls pass": lambda: [timing.slow(f"{HERE}.price")],
        "one on a method": lambda: [timing.slow(f"{HERE}.Client.send")],
        "one of the user's own": lambda: [PatchFault(f"{HERE}.price", unchanged)],
        "three": lambda: [
            timing.timeout(f"{HERE}.price"),
            io.error_on_call(f"{HERE}.ask"),
            timing.slow(f"{HERE}.tell"),
        ],
        "three on one function": lambda: [
            timing.slow(f"{HERE}.price"),
            timing.jitter(f"{HERE}.price", 0.0),
            io.truncate_output(f"{HERE}.price"),
        ],
    }
    return made[kind]()


KINDS = (
    NONE,
    "one",
    "one, which lets calls pass",
    "one on a method",
    "one of the user's own",
    "three",
    "three on one function",
)


class Tally:
    """Counts calls of the rule; an object, as writing to a class makes the interpreter forget what it knows of it."""

    __slots__ = ("calls",)

    def __init__(self) -> None:
        self.calls = 0


TALLY = Tally()


def machine(kind: str, *, calls: bool) -> type[ChaosTest]:
    """The machine of a row; its rule calls the functions if ``calls``."""

    class Trivial(ChaosTest):
        faults = make_faults(kind)

        @rule()
        def add(self) -> None:
            TALLY.calls += 1

    class Calling(ChaosTest):
        faults = make_faults(kind)

        @rule()
        def add(self) -> None:
            TALLY.calls += 1
            try:
                price(1)
                ask(1)
                tell(1)
                CLIENT.send(1)
            except OSError:
                pass

    return Calling if calls else Trivial


def explore(kind: str, *, calls: bool, runs: int, rng_seed: int) -> dict[str, float]:
    """Steps and calls of rules per CPU second."""
    explorer = Explorer(machine(kind, calls=calls), seed=rng_seed, workers=1)
    explorer.run(max_runs=50, steps_per_run=STEPS, shrink=False)
    TALLY.calls, started = 0, time.process_time()
    result = explorer.run(max_runs=runs, steps_per_run=STEPS, shrink=False)
    took = time.process_time() - started
    assert not result.failures, result.failures
    return {"steps": result.total_steps / took, "calls": TALLY.calls / took}


def in_process(kind: str, *, calls: bool, runs: int, rng_seed: int) -> dict[str, float]:
    """The same in a process of its own."""
    argv = [sys.executable, __file__, "--one", kind, "--runs", str(runs), "--seed", str(rng_seed)]
    done = subprocess.run([*argv, *(["--calls"] if calls else [])], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {kind} failed\n{done.stderr}")
    rates: dict[str, float] = json.loads(done.stdout)
    return rates


def measure(rounds: int, runs: int) -> dict[tuple[str, bool], list[dict[str, float]]]:
    """The rates of each row, round by round."""
    rows = [(kind, calls) for calls in (False, True) for kind in KINDS]
    found: dict[tuple[str, bool], list[dict[str, float]]] = {row: [] for row in rows}
    for number in range(rounds):
        for kind, calls in rows if number % 2 == 0 else reversed(rows):
            found[kind, calls].append(in_process(kind, calls=calls, runs=runs, rng_seed=number + 1))
    return found


def print_rates(found: dict[tuple[str, bool], list[dict[str, float]]]) -> None:
    """Print a table for rules that call the functions, and one for rules that do not."""
    for calls in (False, True):
        print(f"\nThe rule {'calls the functions' if calls else 'calls nothing'}:\n")
        base = found[NONE, calls]
        rows = []
        for kind in KINDS:
            rates = found[kind, calls]
            ratios = {
                unit: [one[unit] / other[unit] for one, other in zip(rates, base, strict=True)]
                for unit in ("steps", "calls")
            }
            shares = [spread(ratios[unit], ".2f") for unit in ("steps", "calls")]
            rows.append([kind, spread([one["steps"] for one in rates], ",.0f"), *shares])
            if kind in GOALS and not calls:
                reached = statistics.median(ratios["steps"]) >= GOALS[kind]
                rows[-1][-2] += f" (goal {GOALS[kind]}: {'met' if reached else 'missed'})"
        print(table(["faults", "steps per CPU second", "of the rate without", "calls of rules, the same"], rows))


def switch_times(rounds: int) -> list[list[str]]:
    """Microseconds to switch a fault on and off by its methods, as in a test of the user's."""
    rows = []
    for kind in KINDS:
        faults = make_faults(kind)
        if len(faults) != 1:
            continue
        times = []
        for _ in range(rounds):
            started = time.process_time_ns()
            for _ in range(1000):
                faults[0].activate()
                faults[0].deactivate()
            times.append((time.process_time_ns() - started) / 1e6)
        rows.append([kind, spread(times, ".2f")])
    return rows


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="explorations of each kind (default: 5)")
    parser.add_argument("--runs", type=int, default=4_000, help="runs of an exploration (default: 4000)")
    parser.add_argument("--one", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--calls", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        # The faults find their functions in the module by its name, and this is run as the main one.
        module = importlib.import_module(HERE)
        rates = module.explore(options.one, calls=options.calls, runs=options.runs, rng_seed=options.seed)
        print(json.dumps(rates))
        return
    print(f"{host()}\n`{command()}`: {options.rounds} rounds, min / median / max")
    print_rates(measure(options.rounds, options.runs))
    print("\nOn and off by the methods of the fault, in the same process:\n")
    print(table(["fault", "CPU us for on and off"], switch_times(options.rounds)))


if __name__ == "__main__":
    main()
