"""What a search costs beside the program: bare calls of the rules, ordeal with coverage and without, Hypothesis.

usage: python benchmarks/bare_code.py [--seconds S] [--rounds N] [--targets NAME...]

The machines are those of `bugs/` for hpack, cacheout, memoryfs, zict, pyrsistent and h2, in releases without the bug.
Bare code is a loop over the calls that an exploration made, with their arguments ready: constructor, rules and
invariants. All ways take turns, each in a process of its own.
"""

import argparse
import copy
import json
import math
import os
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from types import ModuleType
from typing import Any

import hypothesis.stateful
from bugs.catalog import target_named
from bugs.libraries import load, silence
from bugs.watch import INVARIANT, RULE
from harness.report import command, host, spread, table
from hypothesis import HealthCheck, Phase
from hypothesis import settings as Settings  # noqa: N812 - a class, whatever its name

from ordeal import Explorer

TARGETS = ("hpack_resize", "cacheout_lfu", "memoryfs_move", "zict_evict", "pyrsistent_pmap", "h2_window")
BARE, COVERED, PLAIN, HYPOTHESIS = "bare", "coverage", "no coverage", "Hypothesis"
WAYS = (BARE, COVERED, PLAIN, HYPOTHESIS)
GOAL = 0.5
RUNS_RECORDED = 400
Call = tuple[str, dict[str, Any]]


class Enough(BaseException):
    """The time is up."""


def counted(machine: type, counts: list[int], runs: list[list[Call]] | None = None) -> type:
    """A machine whose rules count their calls, and log them with their arguments where ``runs`` takes them."""

    def call(name: str, function: Any) -> Any:
        def rule(self: Any, **arguments: Any) -> Any:
            counts[0] += 1
            if runs is not None:
                self.__dict__.setdefault("logged", []).append((name, copy.deepcopy(arguments)))
            return function(self, **arguments)

        vars(rule).update(vars(function))
        rule.__name__ = name
        return rule

    def teardown(self: Any) -> None:
        if runs is not None and "logged" in vars(self):
            runs.append(self.logged)

    rules = {name: call(name, each) for name, each in vars(machine).items() if hasattr(each, RULE)}
    for rule in rules.values():
        declared = copy.copy(getattr(rule, RULE))
        object.__setattr__(declared, "function", rule)
        setattr(rule, RULE, declared)
    return type(machine.__name__, (machine,), {**rules, "teardown": teardown, "__module__": machine.__module__})


def explore(module: ModuleType, modules: tuple[str, ...], seconds: float, seed: int) -> tuple[int, float]:
    """Calls of rules, and the CPU seconds of the search. Calls that only return to a state do not count."""
    machine = counted(module.Machine, [0])
    explorer = Explorer(machine, target_modules=list(modules), workers=1, seed=seed)
    explorer.run(max_runs=1, shrink=False)
    begun = searched = time.process_time()

    def told(_progress: object) -> None:
        nonlocal searched
        searched = time.process_time()
        if searched - begun > seconds:
            raise KeyboardInterrupt

    result = explorer.run(max_time=100 * seconds, shrink=False, progress=told)
    return result.total_steps, searched - begun


def bare(module: ModuleType, modules: tuple[str, ...], seconds: float, seed: int) -> tuple[int, float]:
    """The same for a loop over the calls of such a search."""
    runs: list[list[Call]] = []
    machine = counted(module.Machine, [0], runs)
    explorer = Explorer(machine, target_modules=list(modules), workers=1, seed=seed)
    explorer.run(max_runs=10 * RUNS_RECORDED, max_time=10 * seconds, shrink=False)
    invariants = [each for each in vars(module.Machine).values() if hasattr(each, INVARIANT)]
    rules = vars(module.Machine)
    ready = [
        [(rules[name], arguments) for name, arguments in run] for run in runs[:: max(1, len(runs) // RUNS_RECORDED)]
    ]
    calls = 0
    begun = time.process_time()
    while time.process_time() - begun < seconds:
        for run in ready:
            made = module.Machine()
            for rule, arguments in run:
                rule(made, **arguments)
                for invariant in invariants:
                    invariant(made)
            calls += len(run)
    return calls, time.process_time() - begun


def by_hypothesis(module: ModuleType, seconds: float) -> tuple[int, float]:
    """The same for Hypothesis."""
    counts = [0]
    machine = counted(module.Machine, counts)
    begun, over = time.process_time(), False

    def make() -> Any:
        nonlocal over
        over = time.process_time() - begun > seconds
        if over:
            raise Enough
        return machine()

    limits = Settings(
        max_examples=1_000_000,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    try:
        hypothesis.stateful.run_state_machine_as_test(make, settings=limits)  # type: ignore[arg-type]
    except BaseException:
        if not over:
            raise
    return counts[0], time.process_time() - begun


def measure(way: str, name: str, seconds: float, seed: int) -> tuple[int, float]:
    """Calls and CPU seconds of one way, in this process."""
    target = target_named(name)
    module = load(target, repaired=True)
    output = os.dup(sys.stdout.fileno())
    silence()
    try:
        if way == BARE:
            return bare(module, target.modules, seconds, seed)
        if way == HYPOTHESIS:
            return by_hypothesis(module, seconds)
        return explore(module, target.modules if way == COVERED else (), seconds, seed)
    finally:
        os.dup2(output, sys.stdout.fileno())


def elsewhere(way: str, name: str, seconds: float, seed: int) -> float:
    """Calls per CPU second, in a process of its own."""
    options = ["--way", way, "--targets", name, "--seconds", str(seconds), "--seed", str(seed)]
    done = subprocess.run([sys.executable, __file__, *options], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"error: {way} on {name} failed\n{done.stderr}")
    calls, taken = json.loads(done.stdout.splitlines()[-1])
    return float(calls / taken)


def row(name: str, rates: dict[str, list[float]]) -> list[str]:
    """A line of the table."""
    shares = [covered / alone for covered, alone in zip(rates[COVERED], rates[BARE], strict=True)]
    plain = [one / alone for one, alone in zip(rates[PLAIN], rates[BARE], strict=True)]
    times = [one / other for one, other in zip(rates[COVERED], rates[HYPOTHESIS], strict=True)]
    return [
        name,
        *(f"{statistics.median(rates[way]):,.0f}" for way in WAYS),
        spread(shares, ".2f"),
        spread(plain, ".2f"),
        spread(times, ".1f"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each way and round (default: 4)")
    parser.add_argument("--rounds", type=int, default=3, help="(default: 3)")
    parser.add_argument("--targets", nargs="+", default=list(TARGETS), help="(default: all six)")
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=1, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way is not None:
        print(json.dumps(measure(options.way, options.targets[0], options.seconds, options.seed)))
        return
    print(f"{host()}\n`{command()}`: ordeal {version('ordeal')}, Hypothesis {version('hypothesis')}\n")
    rates: dict[str, dict[str, list[float]]] = {name: {way: [] for way in WAYS} for name in options.targets}
    for number in range(options.rounds):
        for name in options.targets:
            for way in WAYS if number % 2 == 0 else reversed(WAYS):
                rates[name][way].append(elsewhere(way, name, options.seconds, number + 1))
    header = ["machine", *(f"{way}, calls/CPU s" for way in WAYS), "coverage / bare", "no coverage / bare"]
    print(table([*header, "coverage / Hypothesis"], [row(name, rates[name]) for name in options.targets]))
    means = [
        math.exp(
            statistics.mean(math.log(rates[name][COVERED][at] / rates[name][BARE][at]) for name in options.targets)
        )
        for at in range(options.rounds)
    ]
    verdict = "met" if statistics.median(means) >= GOAL else "missed"
    print(f"\nGeometric mean of coverage / bare: {spread(means, '.2f')} (goal {GOAL}: {verdict})")


if __name__ == "__main__":
    main()
