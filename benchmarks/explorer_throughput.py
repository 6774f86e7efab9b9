"""Steps per second on the five-rule machine: ordeal, Hypothesis, the public ordeal and a bare loop, in turn.

usage: python benchmarks/explorer_throughput.py [--rounds N]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.peers import PeerError, interpreter_with
from harness.report import command, host, spread, table

HERE = Path(__file__).parent
STEPS_PER_RUN = 50
#: Our runs draw their length from 1 to what they are told, so this makes them as long as those of the others.
STEPS_OF_OURS = 2 * STEPS_PER_RUN - 1
PUBLIC = "ordeal==0.3.43"
HYPOTHESIS = "Hypothesis"
EXPLORER = "ordeal"
COVERED = "ordeal, coverage"
UNPLANNED = "ordeal, no plans"
BARE = "bare loop"
PUBLIC_ORDEAL = "public ordeal"
RATE_GOAL = 1_000_000.0
UNPLANNED_GOAL = 50_000.0
HYPOTHESIS_GOAL = 100.0
PUBLIC_GOAL = 400.0
BARE_GOAL = 0.75
COVERAGE_GOAL = 0.8


@dataclass(frozen=True, slots=True)
class Engine:
    """What is measured. ``runs`` makes a round of it last a second or two."""

    name: str
    module: str
    runs: int
    options: tuple[str, ...] = ()
    python: str = sys.executable
    steps: int = STEPS_PER_RUN


@dataclass(frozen=True, slots=True)
class Round:
    """One process of one engine."""

    engine: str
    runs: int
    steps: int
    cpu_s: float
    wall_s: float

    @property
    def cpu_rate(self) -> float:
        """Steps per second of processor time."""
        return self.steps / self.cpu_s

    @property
    def wall_rate(self) -> float:
        """Steps per second."""
        return self.steps / self.wall_s


def engines() -> tuple[list[Engine], list[str]]:
    """The engines that are there, and a sentence for each that is not."""
    found = [
        Engine(EXPLORER, "five_rules.run_ordeal", 40_000, steps=STEPS_OF_OURS),
        Engine(COVERED, "five_rules.run_ordeal", 40_000, ("--coverage", "--novelty"), steps=STEPS_OF_OURS),
        Engine(UNPLANNED, "five_rules.run_ordeal", 2_000, ("--unplanned",), steps=STEPS_OF_OURS),
        Engine(HYPOTHESIS, "five_rules.run_hypothesis", 250),
        Engine(BARE, "five_rules.run_bare", 40_000),
    ]
    try:
        public = str(interpreter_with(PUBLIC))
    except PeerError as error:
        return found, [f"Not measured: {PUBLIC} could not be installed ({error})."]
    found += [
        Engine(PUBLIC_ORDEAL, "five_rules.run_ordeal", 150, python=public),
        Engine("public ordeal, coverage", "five_rules.run_ordeal", 40, ("--coverage",), public),
    ]
    return found, []


def output(engine: Engine, rng_seed: int) -> str:
    """What ``engine`` prints, in a process of its own."""
    paths = [str(HERE)]
    if engine.python == sys.executable and "PYTHONPATH" in os.environ:
        paths.append(os.environ["PYTHONPATH"])
    budget = ["--runs", str(engine.runs), "--steps", str(engine.steps), "--seed", str(rng_seed)]
    done = subprocess.run(
        [engine.python, "-m", engine.module, *budget, *engine.options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"error: {engine.name} failed\n{done.stderr}")
    return done.stdout


def interleave(measured: list[Engine], rounds: int) -> dict[str, list[Round]]:
    """All engines in each round, every second time in the reverse order: a slow minute hits them alike."""
    results: dict[str, list[Round]] = {engine.name: [] for engine in measured}
    for number in range(rounds):
        for engine in measured if number % 2 == 0 else reversed(measured):
            results[engine.name].append(Round(**json.loads(output(engine, number + 1))))
    return results


def ratios(rounds: Iterable[Round], base: Iterable[Round]) -> list[float]:
    """How many times the rate of ``base``, by processor time, round by round."""
    return [one.cpu_rate / other.cpu_rate for one, other in zip(rounds, base, strict=True)]


def row(name: str, rounds: list[Round], base: list[Round]) -> list[str]:
    """The table row of an engine."""
    median_us = statistics.median(1e6 / one.cpu_rate for one in rounds)
    steps_per_run = statistics.median(one.steps / one.runs for one in rounds)
    return [
        name,
        rounds[0].engine,
        spread([one.cpu_rate for one in rounds], ",.0f"),
        spread([one.wall_rate for one in rounds], ",.0f"),
        f"{median_us:.2f}",
        f"{steps_per_run:.1f}",
        spread(ratios(rounds, base), ".2f"),
    ]


def verdict(results: dict[str, list[Round]]) -> str:
    """The goals, and whether the median of the rounds met them. All by processor time."""
    ours = results[EXPLORER]
    goals = [
        ("steps per second", [one.cpu_rate for one in ours], RATE_GOAL, ",.0f"),
        ("steps per second without plans", [one.cpu_rate for one in results[UNPLANNED]], UNPLANNED_GOAL, ",.0f"),
        ("times Hypothesis", ratios(ours, results[HYPOTHESIS]), HYPOTHESIS_GOAL, ".1f"),
        ("times the bare loop", ratios(ours, results[BARE]), BARE_GOAL, ".2f"),
        ("with coverage, times the rate without", ratios(results[COVERED], ours), COVERAGE_GOAL, ".2f"),
    ]
    if PUBLIC_ORDEAL in results:
        goals.append(("times the public ordeal", ratios(ours, results[PUBLIC_ORDEAL]), PUBLIC_GOAL, ".0f"))
    lines = []
    for what, values, goal, form in goals:
        median = statistics.median(values)
        lines.append(f"- {median:{form}} {what}; the goal of {goal:{form}} is {_met(median >= goal)}.")
    return "\n".join(lines)


def _met(met: bool) -> str:
    return "met" if met else "missed"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="how often each engine is measured (5)")
    rounds = parser.parse_args().rounds
    where = host()
    measured, missing = engines()
    results = interleave(measured, rounds)
    base = results[HYPOTHESIS]
    print(f"{where}\n`{command()}`: {rounds} rounds, min / median / max\n")
    header = ["engine", "version", "steps per CPU second", "steps per second", "CPU us per step", "steps per run"]
    rows = [row(name, of_engine, base) for name, of_engine in results.items()]
    print(table([*header, "times Hypothesis, same round"], rows))
    print("\n".join(["", *missing, verdict(results)]))
    for name, options in (("without coverage", ()), ("with coverage", ("--coverage",))):
        print(f"\nWhere the time of ordeal goes, {name}:\n")
        print(output(Engine(name, "five_rules.parts", 40_000, options, steps=STEPS_OF_OURS), 1), end="")


if __name__ == "__main__":
    main()
