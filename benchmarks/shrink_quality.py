"""How small failing runs become, and how many executions that takes: ordeal beside Hypothesis, from the same run.

usage: python benchmarks/shrink_quality.py [--seeds N ...] [--machines NAME ...] [--own-runs]

The Explorer finds a failing run of each machine of tests/puzzles/shrinking with each seed, and both shrinkers begin
with that run. What each of them leaves is compared with the smallest program that fails, which is known. With
--own-runs, Hypothesis begins with a failing run of its own, which its shrinker may be better used to.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import hypothesis
from harness.report import command, host, table
from shrinking import run_hypothesis, run_ordeal
from shrinking.machines import MACHINES
from shrinking.shrunk import Shrunk

if TYPE_CHECKING:
    from tests.puzzles.shrinking.known import Known

SEEDS = (42, 1, 2)
SHOWN_CHARS_MAX = 400


@dataclass(frozen=True, slots=True)
class Comparison:
    """What both made of a failing run, which had ``steps`` steps where ordeal began."""

    known: "Known"
    rng_seed: int
    steps: int
    ordeal: Shrunk
    hypothesis: Shrunk


def compare(known: "Known", rng_seed: int, *, own_runs: bool) -> Comparison:
    """Find a failing run, or one for each, and shrink it with both."""
    machine = known.machine
    failing = run_ordeal.find(machine, rng_seed)
    choices = run_hypothesis.find(machine, rng_seed) if own_runs else run_hypothesis.lowered(machine, failing)
    return Comparison(
        known,
        rng_seed,
        len(failing.taken_steps()),
        run_ordeal.shrink(machine, failing),
        run_hypothesis.shrink(machine, choices, len(failing.taken_steps()), rng_seed),
    )


def has_least_steps(known: "Known", shrunk: Shrunk) -> bool:
    """Whether no program that fails in the same way has fewer steps."""
    return len(shrunk.program) == known.steps_like(shrunk.program)


def is_minimal(known: "Known", shrunk: Shrunk) -> bool:
    """Whether the steps are the least and their arguments minimal."""
    return shrunk.program in known.programs


def range_of(numbers: list[int]) -> str:
    """``3``, or ``3 to 5``."""
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def cells(known: "Known", results: list[Shrunk]) -> list[str]:
    """Steps, how often minimal, executions and milliseconds; both of these are medians."""
    return [
        range_of([len(result.program) for result in results]),
        f"{sum(is_minimal(known, result) for result in results)} of {len(results)}",
        f"{statistics.median(result.executions for result in results):.0f}",
        f"{1e3 * statistics.median(result.cpu_s for result in results):.1f}",
    ]


def row(of_one: list[Comparison]) -> list[str]:
    """The table row of a machine."""
    known = of_one[0].known
    return [
        known.name,
        range_of([each.steps for each in of_one]),
        range_of([len(program) for program in known.programs]),
        *cells(known, [each.ordeal for each in of_one]),
        *cells(known, [each.hypothesis for each in of_one]),
    ]


def summary(compared: list[list[Comparison]]) -> str:
    """What holds for all machines together."""
    every = [each for of_one in compared for each in of_one]

    def share(judge: "Callable[[Known, Shrunk], bool]", shrunk: Callable[[Comparison], Shrunk]) -> str:
        good = sum(judge(each.known, shrunk(each)) for each in every)
        return f"{good} of {len(every)} ({good / len(every):.0%})"

    fewer = sum(
        statistics.median(each.ordeal.executions for each in of_one)
        < statistics.median(each.hypothesis.executions for each in of_one)
        for of_one in compared
    )
    ratios = [each.hypothesis.executions / each.ordeal.executions for each in every]
    return "\n".join(
        f"{name}: steps least in {share(has_least_steps, shrunk)}, arguments minimal too in {share(is_minimal, shrunk)}"
        for name, shrunk in (
            ("ordeal", lambda each: each.ordeal),
            ("Hypothesis", lambda each: each.hypothesis),
        )
    ) + (
        f"\nordeal needs fewer executions on {fewer} of {len(compared)} machines; "
        f"Hypothesis needs {statistics.median(ratios):.1f} times as many (median)"
    )


def shortfalls(compared: list[list[Comparison]]) -> Iterator[str]:
    """Each program that is not minimal, with one that is."""
    for each in (each for of_one in compared for each in of_one):
        for engine, shrunk in ("ordeal", each.ordeal), ("Hypothesis", each.hypothesis):
            if not is_minimal(each.known, shrunk):
                least = each.known.steps_like(shrunk.program)
                minimal = min(program for program in each.known.programs if len(program) == least)
                yield f"{each.known.name}, seed {each.rng_seed}: {engine} leaves {text_of(shrunk.program)}"
                yield f"    and not {text_of(minimal)}"


def text_of(program: tuple[str, ...]) -> str:
    """A program on one line, cut where it is long."""
    text = "; ".join(program)
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[:SHOWN_CHARS_MAX]}..."


def main() -> None:
    """Shrink, and print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS), help="42, 1 and 2")
    parser.add_argument("--machines", nargs="+", metavar="NAME", help="all of them")
    parser.add_argument("--own-runs", action="store_true", help="Hypothesis shrinks a failing run that it found itself")
    options = parser.parse_args()
    chosen = [known for known in MACHINES if not options.machines or known.name in options.machines]
    print(f"{host()}, Hypothesis {hypothesis.__version__}\n`{command()}`")
    print("Each shrinks a failing run of its own." if options.own_runs else "Both shrink the same failing run.")
    print("Executions count from that run to the report; these and CPU ms are medians.\n")
    compared = [[compare(known, rng_seed, own_runs=options.own_runs) for rng_seed in options.seeds] for known in chosen]
    engine = ["steps", "minimal", "executions", "ms"]
    header = ["machine", "failing run", "least steps", *(f"ordeal: {engine[0]}", *engine[1:])]
    print(table([*header, f"Hypothesis: {engine[0]}", *engine[1:]], map(row, compared)))
    print(f"\n{summary(compared)}")
    for line in shortfalls(compared):
        print(line)


if __name__ == "__main__":
    main()
