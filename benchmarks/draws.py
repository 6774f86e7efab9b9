"""What a draw costs: from a plan, through Hypothesis into the tape, and by Hypothesis itself by its own chance.

usage: python benchmarks/draws.py [--rounds N]

Each way draws the same strategies, in short runs that take turns, so that a busy moment of the machine
meets all of them. The plan is called from Python, one draw a call. Printed are microseconds a draw (the lower quarter,
the median, the upper quarter) and how many times slower the medians of the others are than the plan.
"""

import argparse
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any

import hypothesis
from harness.report import command, host, table
from hypothesis import strategies as st
from hypothesis.control import BuildContext
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.strategies import DrawFn, SearchStrategy

import ordeal._native as _native
from ordeal._hypothesis.draws import compile_argument
from ordeal._hypothesis.provider import TapeProvider
from ordeal._hypothesis.tape_data import TapeData

#: Draws before the tape and the record of Hypothesis are made anew, as a run does.
DRAWS_A_RUN = 30
GOALS_US = {"integers(0, 100)": 0.1, "lists(integers(0, 100))": 0.4, "lists(integers())": 0.4}


class Point:
    def __init__(self, x: int, y: int) -> None:
        self.x = x
        self.y = y


INTEGERS = st.integers(0, 100)


@st.composite
def pairs(draw: DrawFn) -> tuple[int, bool]:
    return draw(st.integers(0, 100)), draw(st.booleans())


@st.composite
def pairs_of_kept_strategies(draw: DrawFn) -> tuple[int, int]:
    return draw(INTEGERS), draw(INTEGERS)


STRATEGIES: dict[str, SearchStrategy[Any]] = {
    "integers(0, 100)": INTEGERS,
    "integers()": st.integers(),
    "booleans()": st.booleans(),
    "floats()": st.floats(),
    "text()": st.text(),
    "binary()": st.binary(),
    "sampled_from(10)": st.sampled_from(range(10)),
    "one_of(integers, booleans, text)": st.one_of(INTEGERS, st.booleans(), st.text()),
    "tuples(integers, integers)": st.tuples(INTEGERS, INTEGERS),
    "lists(integers(0, 100))": st.lists(INTEGERS),
    "lists(integers())": st.lists(st.integers()),
    "lists(integers(), unique=True)": st.lists(st.integers(), unique=True),
    "sets(integers())": st.sets(st.integers()),
    "dictionaries(text, integers)": st.dictionaries(st.text(max_size=5), st.integers()),
    "fixed_dictionaries(a, b)": st.fixed_dictionaries({"a": INTEGERS, "b": st.booleans()}),
    "builds(Point, integers, integers)": st.builds(Point, INTEGERS, INTEGERS),
    "integers.map(str)": INTEGERS.map(str),
    "integers.filter(not 3)": INTEGERS.filter(lambda n: n != 3),
    "datetimes()": st.datetimes(),
    "composite(integers, booleans)": pairs(),
    "composite, strategies kept": pairs_of_kept_strategies(),
}


class Context:
    """What a plan asks of a run."""

    machine = None

    def __init__(self, data: TapeData) -> None:
        self.data = data


def no_test() -> None:
    pass


def by_compiled(strategy: SearchStrategy[Any], seed: int) -> float:
    redraw = _native.Redraw(seed)
    data = TapeData(TapeProvider(redraw.source))
    run = _native.DrawContext()
    compiled_strategy = compiled(strategy)
    with BuildContext(data, is_final=False, wrapped_test=no_test):
        run.begin(redraw.source, Context(data))
        loop = range(DRAWS_A_RUN)
        start = time.process_time()
        for _ in loop:
            compiled_strategy(run)
        return (time.process_time() - start) / DRAWS_A_RUN


def by_tape(strategy: SearchStrategy[Any], seed: int) -> float:
    redraw = _native.Redraw(seed)
    return drawn_by(TapeData(TapeProvider(redraw.source)), strategy)


def by_hypothesis(strategy: SearchStrategy[Any], seed: int) -> float:
    return drawn_by(ConjectureData(random=random.Random(seed)), strategy)


def drawn_by(data: ConjectureData, strategy: SearchStrategy[Any]) -> float:
    draw = data.draw
    with BuildContext(data, is_final=False, wrapped_test=no_test):
        loop = range(DRAWS_A_RUN)
        start = time.process_time()
        for _ in loop:
            draw(strategy)
        return (time.process_time() - start) / DRAWS_A_RUN


COMPILED: dict[int, _native.CompiledStrategy] = {}


def compiled(strategy: SearchStrategy[Any]) -> _native.CompiledStrategy:
    if id(strategy) not in COMPILED:
        compiled_strategy, _ = compile_argument(strategy)
        assert isinstance(compiled_strategy, _native.CompiledStrategy)
        assert compiled_strategy.is_compiled or compiled_strategy.compile(), strategy
        COMPILED[id(strategy)] = compiled_strategy
    return COMPILED[id(strategy)]


WAYS = {"plan": by_compiled, "through Hypothesis": by_tape, "Hypothesis": by_hypothesis}


def measure(rounds: int) -> dict[str, dict[str, list[float]]]:
    """Microseconds a draw, by strategy and way, one value a round."""
    times: dict[str, dict[str, list[float]]] = {name: {way: [] for way in WAYS} for name in STRATEGIES}
    for seed in range(-2, rounds):  # the first two warm up
        for name, strategy in STRATEGIES.items():
            for way, draw in WAYS.items():
                seconds = draw(strategy, abs(seed))
                if seed >= 0:
                    times[name][way].append(seconds * 1e6)
    return times


def quartiles(values: Sequence[float]) -> str:
    return " / ".join(f"{value:.2f}" for value in statistics.quantiles(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="runs of each strategy and way (default: 100)")
    times = measure(parser.parse_args().rounds)
    print(f"{host()}, Hypothesis {hypothesis.__version__}\n`{command()}`, {DRAWS_A_RUN} draws a run\n")
    rows = []
    for name, ways in times.items():
        base = statistics.median(ways["plan"])
        ratios = [f"{statistics.median(ways[way]) / base:.0f}x" for way in list(WAYS)[1:]]
        goal = f"{GOALS_US[name]}" if name in GOALS_US else "-"
        rows.append([f"`{name}`", *(quartiles(ways[way]) for way in WAYS), *ratios, goal])
    header = ["strategy", "plan, µs", "through Hypothesis, µs", "Hypothesis, µs", "ratio", "ratio", "goal, µs"]
    print(table(header, rows))


if __name__ == "__main__":
    main()
