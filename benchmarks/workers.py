"""What workers bring: steps per second, the time to a failure behind many stages, and the state of a large session.

usage: python benchmarks/workers.py [--only throughput|depth|state ...] [--rounds N] [--seeds N ...]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crew import busy, depth, throughput
from crew.throughput import ALONE, APART, MACHINES, SUPERVISED, TWO, TWO_IN_ROUNDS, WAYS
from harness.report import command, host, spread, table

HERE = Path(__file__).parent
PARTS = ("throughput", "depth", "state")
SEEDS = (42, *range(1, 10))
TWO_GOAL = 1.9
SUPERVISED_GOAL = 0.97
DEPTH_GOAL = 0.6
SAVE_GOAL_S = 0.5
LOAD_GOAL_S = 1.0


def printed(module: str, *options: str) -> Any:
    """The JSON that a module prints in a process of its own."""
    paths = [str(HERE), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    done = subprocess.run(
        [sys.executable, "-m", module, *options],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"error: {module} {' '.join(options)} failed\n{done.stderr}")
    return json.loads(done.stdout)


# -- throughput --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rates:
    """Steps per second of one exploration, without start-up, and how long that was.

    ``awake`` is per second in which the workers need not wait for a core, as if the machine did nothing else.
    """

    wall: float
    awake: float
    cpu: float
    start_s: float


def rates(options: argparse.Namespace, machine: str, way: str, seed: int, *, coverage: bool) -> Rates:
    """Measure once."""
    asked = ["--machine", machine, "--way", way, "--seconds", str(options.seconds), "--turns", str(options.turns)]
    read = printed("crew.throughput", *asked, "--seed", str(seed), *(["--coverage"] if coverage else []))
    short, whole = throughput.Spent(**read["short"]), throughput.Spent(**read["whole"])
    more = whole.less(short)
    awake = more.steps / more.awake_s
    return Rates(more.steps / more.wall_s, awake, more.steps / more.cpu_s, short.awake_s - short.steps / awake)


def interleave(options: argparse.Namespace, machine: str, *, coverage: bool) -> dict[str, list[Rates]]:
    """All ways in each round, every second time in the reverse order: a slow minute meets them alike."""
    results: dict[str, list[Rates]] = {way: [] for way in WAYS}
    for number in range(options.rounds):
        for way in WAYS if number % 2 == 0 else reversed(WAYS):
            results[way].append(rates(options, machine, way, number + 1, coverage=coverage))
    return results


def times(results: Mapping[str, Sequence[Rates]], way: str, base: str, what: str) -> list[float]:
    """How many times the rate of ``base`` a way has, round by round."""
    return [getattr(one, what) / getattr(other, what) for one, other in zip(results[way], results[base], strict=True)]


def rows(machine: str, covered: str, results: Mapping[str, Sequence[Rates]]) -> list[list[str]]:
    """The table rows of a machine."""
    return [
        [
            machine,
            covered,
            way,
            *(spread([getattr(each, what) for each in measured], ",.0f") for what in ("wall", "awake", "cpu")),
            *(spread(times(results, way, ALONE, what), ".2f") for what in ("wall", "awake", "cpu")),
            spread([each.start_s for each in measured], ".2f"),
        ]
        for way, measured in results.items()
    ]


def verdicts(machine: str, covered: str, results: Mapping[str, Sequence[Rates]]) -> list[str]:
    """Whether the medians meet the goals."""
    told = []
    for way, base, what, goal in (
        (SUPERVISED, ALONE, "cpu", SUPERVISED_GOAL),
        (TWO, ALONE, "awake", TWO_GOAL),
        (TWO_IN_ROUNDS, ALONE, "awake", TWO_GOAL),
        (TWO, APART, "awake", TWO_GOAL / 2),
    ):
        found = statistics.median(times(results, way, base, what))
        measure = "per CPU second" if what == "cpu" else "per second with free cores"
        told.append(
            f"- {machine}, coverage {covered}: *{way}* makes {found:.2f} times the steps {measure} of *{base}*; "
            f"the goal of {goal:g} is {_met(found >= goal)}."
        )
    return told


def print_throughput(options: argparse.Namespace) -> None:
    """Measure and print."""
    options.turns = options.turns or busy.turns_of(busy.WORK_S)
    print(f"Steps per second; the busy machine works {options.turns} turns a step. min / median / max of the rounds.\n")
    measured: list[list[str]] = []
    goals: list[str] = []
    for machine in options.machines:
        for coverage in (False, True):
            results = interleave(options, machine, coverage=coverage)
            covered = "on" if coverage else "off"
            measured += rows(machine, covered, results)
            goals += verdicts(machine, covered, results)
    header = ["machine", "coverage", "way", "steps per second", "with free cores", "steps per CPU second"]
    header += [f"times {ALONE}, same round", "with free cores", "per CPU second", "start-up, s"]
    print(table(header, measured))
    print("\n".join(["", *goals]))


# -- depth -------------------------------------------------------------------------------------------------------------


def print_depth(options: argparse.Namespace) -> None:
    """Measure and print."""
    found: dict[str, list[depth.Search]] = {way: [] for way in depth.WAYS}
    for number, seed in enumerate(options.seeds):
        for way in depth.WAYS if number % 2 == 0 else reversed(depth.WAYS):
            asked = ["--way", way, "--seed", str(seed), "--turns", str(options.turns or busy.turns_of(busy.WORK_S))]
            found[way].append(depth.Search(**printed("crew.depth", *asked)))
    kinds = {"runs": ",.0f", "wall_s": ".2f", "cpu_s": ".2f"}
    measured = [
        [
            way,
            f"{sum(each.found for each in searches)} of {len(searches)}",
            *(spread([getattr(each, what) for each in searches], form) for what, form in kinds.items()),
        ]
        for way, searches in found.items()
    ]
    print(f"{depth.STAGES} stages until the failure; {len(options.seeds)} seeds, min / median / max.\n")
    print(table(["way", "found", "runs of all workers", "seconds", "CPU seconds of all workers"], measured))
    print()
    for together, apart in depth.COMPARED:
        for what in kinds:
            mine, its = (statistics.median(getattr(each, what) for each in found[way]) for way in (together, apart))
            ratio = mine / its
            name = what.removesuffix("_s").replace("wall", "seconds").replace("cpu", "CPU seconds")
            print(
                f"- *{together}* takes {ratio:.2f} times the {name} of *{apart}*; "
                f"the goal of {DEPTH_GOAL:g} is {_met(ratio <= DEPTH_GOAL)}."
            )


# -- state -------------------------------------------------------------------------------------------------------------


def print_state(options: argparse.Namespace) -> None:
    """Measure and print."""
    measured = [printed("crew.state", "--seed", str(number + 1)) for number in range(options.rounds)]
    what = ("tapes", "steps", "megabytes", "encode_s", "write_s", "read_s", "decode_s", "give_s")
    print("A session of many checkpoints, saved and loaded; min / median / max.\n")
    columns = [spread([each[name] for each in measured], ".3f" if name.endswith("_s") else ",.1f") for name in what]
    print(table([name.replace("_s", ", s") if name.endswith("_s") else name for name in what], [columns]))
    print()
    for name, parts, goal in (("Saving", what[3:5], SAVE_GOAL_S), ("Loading", what[5:], LOAD_GOAL_S)):
        taken = statistics.median(sum(each[part] for part in parts) for each in measured)
        print(f"- {name} takes {taken:.2f} s; the goal of {goal:g} s is {_met(taken <= goal)}.")


def _met(met: bool) -> str:
    return "met" if met else "missed"


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="parts to measure (all)")
    parser.add_argument("--rounds", type=int, default=5, help="how often throughput and state are measured (5)")
    parser.add_argument("--seconds", type=float, default=4.0, help="how long one of them explores (4)")
    parser.add_argument("--machines", choices=MACHINES, nargs="+", default=list(MACHINES), help="both")
    parser.add_argument("--turns", type=int, default=0, help="turns of a busy rule (measured: 20 microseconds)")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="of the search: 42 and 1 to 9")
    options = parser.parse_args()
    print(f"{host()}\n`{command()}`\n")
    printers = {"throughput": print_throughput, "depth": print_depth, "state": print_state}
    for part in options.only:
        printers[part](options)
        print(flush=True)


if __name__ == "__main__":
    main()
