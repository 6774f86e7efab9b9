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

from crew import busy, depth
from crew.throughput import ALONE, APART, MACHINES, SUPERVISED, TWO, TWO_IN_ROUNDS
from harness.report import command, host, spread, table

HERE = Path(__file__).parent
PARTS = ("throughput", "depth", "state")
WAYS = (ALONE, SUPERVISED, TWO, TWO_IN_ROUNDS, APART)
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
class Made:
    """What a way made in a short and a long exploration."""

    short_steps: int
    short_s: float
    whole_steps: int
    whole_s: float

    @property
    def steps_per_s(self) -> float:
        """Without start-up."""
        return (self.whole_steps - self.short_steps) / (self.whole_s - self.short_s)

    @property
    def start_s(self) -> float:
        """Start-up alone."""
        return self.short_s - self.short_steps / self.steps_per_s


Rounds = Mapping[str, Sequence[Made]]


def explored(options: argparse.Namespace, machine: str, *, coverage: bool) -> Rounds:
    """What each way made in each round."""
    asked = ["--machine", machine, "--turns", str(options.turns), "--rounds", str(options.rounds)]
    read = printed("crew.throughput", *asked, *(["--coverage"] if coverage else []))
    return {way: [Made(*each) for each in read[way]] for way in WAYS}


def fastest(made: Sequence[Made]) -> Made:
    """The short and the long one that took least for their work: what disturbs a machine only ever adds to that."""
    short = min(made, key=lambda each: each.short_s / each.short_steps)
    whole = min(made, key=lambda each: each.whole_s / each.whole_steps)
    return Made(short.short_steps, short.short_s, whole.whole_steps, whole.whole_s)


def times(made: Rounds, way: str, base: str) -> list[float]:
    """How many times the rate of ``base`` a way has, round by round."""
    return [one.steps_per_s / other.steps_per_s for one, other in zip(made[way], made[base], strict=True)]


def rows(machine: str, covered: str, made: Rounds) -> list[list[str]]:
    """The table rows of a machine."""
    base = fastest(made[ALONE]).steps_per_s
    return [
        [
            machine,
            covered,
            way,
            spread([each.steps_per_s for each in rounds], ",.0f"),
            spread(times(made, way, ALONE), ".2f"),
            f"{fastest(rounds).steps_per_s:,.0f}",
            f"{fastest(rounds).steps_per_s / base:.2f}",
            f"{1000 * fastest(rounds).start_s:.0f}",
        ]
        for way, rounds in made.items()
    ]


def verdicts(machine: str, covered: str, made: Rounds) -> list[str]:
    """Whether the fastest of each meet the goals."""
    told = []
    for way, base, goal in (
        (SUPERVISED, ALONE, SUPERVISED_GOAL),
        (TWO, ALONE, TWO_GOAL),
        (TWO_IN_ROUNDS, ALONE, TWO_GOAL),
        (TWO, APART, TWO_GOAL / 2),
    ):
        found = fastest(made[way]).steps_per_s / fastest(made[base]).steps_per_s
        median = statistics.median(times(made, way, base))
        told.append(
            f"- {machine}, coverage {covered}: *{way}* makes {found:.2f} times the steps per second of *{base}*, the "
            f"fastest of each (median {median:.2f}); the goal of {goal:g} is {_met(found >= goal)}."
        )
    return told


def print_throughput(options: argparse.Namespace) -> None:
    """Measure and print."""
    options.turns = options.turns or busy.turns_of(busy.WORK_S)
    print(f"The busy machine works {options.turns} turns a step. min / median / max of {options.rounds} rounds.\n")
    shown: list[list[str]] = []
    goals: list[str] = []
    for machine in options.machines:
        for coverage in (False, True):
            made = explored(options, machine, coverage=coverage)
            covered = "on" if coverage else "off"
            shown += rows(machine, covered, made)
            goals += verdicts(machine, covered, made)
    header = ["machine", "coverage", "way", "steps per second", f"times {ALONE}, same round"]
    header += ["fastest", f"times the fastest {ALONE}", "start-up of the fastest, ms"]
    print(table(header, shown))
    print("\n".join(["", *goals]))


# -- depth -------------------------------------------------------------------------------------------------------------


def print_depth(options: argparse.Namespace) -> None:
    """Measure and print."""
    found: dict[str, list[depth.Search]] = {way: [] for way in depth.WAYS}
    for number, seed in enumerate(options.seeds):
        for way in depth.WAYS if number % 2 == 0 else reversed(depth.WAYS):
            asked = ["--way", way, "--seed", str(seed), "--turns", str(options.turns or busy.turns_of(busy.WORK_S))]
            found[way].append(depth.Search(**printed("crew.depth", *asked)))
    kinds = {"runs": ",.0f", "wall_s": ".2f"}
    measured = [
        [
            way,
            f"{sum(each.found for each in searches)} of {len(searches)}",
            *(spread([getattr(each, what) for each in searches], form) for what, form in kinds.items()),
        ]
        for way, searches in found.items()
    ]
    print(f"{depth.STAGES} stages until the failure; {len(options.seeds)} seeds, min / median / max.\n")
    print(table(["way", "found", "runs of all workers", "seconds"], measured))
    print()
    for together, apart in depth.COMPARED:
        for what in kinds:
            mine, its = (statistics.median(getattr(each, what) for each in found[way]) for way in (together, apart))
            ratio = mine / its
            name = what.removesuffix("_s").replace("wall", "seconds")
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
    parser.add_argument("--rounds", type=int, default=9, help="how often throughput and state are measured (9)")
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
