"""How long the first rule calls take, on repaired libraries of the bug suite: what most bugs are found in.

usage: python benchmarks/first_steps.py [--rounds N] [--targets NAME ...] [--engines NAME ...] [--tuning NAME=VALUE ...]
       [--calls N]

Processor time from the engine's start, imports done, to the 1st, 100th, 1,000th and 30,000th call of a rule: the lowest
of the rounds, in each of which the engines take turns. `no targets` is ordeal without coverage.
"""

import argparse
import importlib
import json
import os
import statistics
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from bugs.catalog import TARGETS, target_named
from bugs.environments import engine_named
from bugs.libraries import folder_of, load, silence
from bugs.watch import LimitPassed, Watch
from harness.cells import said_by
from harness.report import command, host, table

MARKS = (1, 100, 1_000, 30_000)
LIMIT_S = 30.0
ENGINES = ("ordeal", "no targets", "Hegel", "Hypothesis")
LIBRARIES = ("cacheout_lfu", "chess_crazyhouse", "h2_window", "memoryfs_move", "msgpack_feed")
SEED = 51


class Clock(Watch):
    """Notes when calls are made, and ends the process after the last one of interest."""

    def __init__(self, module: Any, output: int, last: int) -> None:
        super().__init__(module, LIMIT_S)
        self._output = output
        self._last = last
        self._times: list[float] = []

    def called(self) -> None:
        """Count, and look at the clock where that is asked for."""
        super().called()
        if self.calls in MARKS:
            self._times.append(self.cpu_s())
            if self.calls == self._last:
                self.tell()

    def tell(self) -> None:
        """Print the times and end the process; those of calls that were not made are left out."""
        os.write(self._output, f"{json.dumps({'cpu_s': self._times})}\n".encode())
        os._exit(0)


def cell(module: str, target: str, coverage: bool, tuning: list[str], calls: int) -> None:
    """Search in this process."""
    warnings.simplefilter("ignore")
    output = os.dup(sys.stdout.fileno())
    engine = importlib.import_module(f"bugs.engines.run_{module}")
    clock = Clock(load(target_named(target), repaired=True), output, calls)
    silence()
    if tuning:
        from ordeal.explore import Explorer, Tuning  # noqa: PLC0415  Other engines have no ordeal.

        chosen = Tuning(**dict(each.split("=") for each in tuning))  # type: ignore[arg-type]
        setattr(engine, "Explorer", partial(Explorer, tuning=chosen))  # noqa: B010  It is a module of any engine.
    with suppress(LimitPassed):
        engine.search(clock, target_named(target).modules if coverage else (), SEED)
    clock.tell()


def times_of(engine: str, target: str, tuning: list[str], calls: int) -> list[float]:
    """The times of one search, in a process of its own."""
    made = engine_named("ordeal" if engine == "no targets" else engine)
    is_own = made.module == "ordeal"
    arguments = ["--cell", made.module, "--targets", target, "--calls", str(calls)]
    arguments += ["--tuning", *tuning] if is_own and tuning else []
    arguments += [] if engine == "no targets" else ["--coverage"]
    said = said_by(made.python, Path(__file__).stem, *arguments, limit_s=LIMIT_S)
    if "cpu_s" not in said:
        raise SystemExit(f"error: {engine} on {target}: {said.get('note')}")
    times: Any = said["cpu_s"]
    return list(times)


def main() -> None:
    """Search, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    parser.add_argument("--targets", nargs="+", default=LIBRARIES, choices=[each.name for each in TARGETS])
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--tuning", nargs="+", default=[], metavar="NAME=VALUE", help="of ordeal")
    parser.add_argument("--calls", type=int, default=MARKS[-1], choices=MARKS, help="the last call of interest")
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    parser.add_argument("--coverage", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        cell(options.cell, options.targets[0], options.coverage, options.tuning, options.calls)
    for target in map(target_named, options.targets):
        folder_of(target, repaired=True)
    print(f"{host()}\n`{command()}`\n\nCPU milliseconds to the n-th call, lowest of {options.rounds}\n")
    best: dict[tuple[str, str], list[float]] = {}
    for number in range(options.rounds):
        for target in options.targets:
            for engine in options.engines if number % 2 else reversed(options.engines):
                times = times_of(engine, target, options.tuning, options.calls)
                known = best.setdefault((target, engine), times)
                best[target, engine] = [min(pair) for pair in zip(known, times, strict=True)]
    rows = [
        [target, engine, *(f"{time * 1000:.1f}" for time in best[target, engine])]
        for target in options.targets
        for engine in options.engines
    ]
    for engine in options.engines:
        if "Hegel" in options.engines:
            pairs = [zip(best[target, engine], best[target, "Hegel"], strict=True) for target in options.targets]
            ratios = zip(*[[ours / theirs for ours, theirs in pair] for pair in pairs], strict=True)
            rows.append(["times Hegel's", engine, *(f"{statistics.geometric_mean(each):.2f}" for each in ratios)])
    print(table(["library", "engine", *(f"{mark:,}" for mark in MARKS if mark <= options.calls)], rows))


if __name__ == "__main__":
    main()
