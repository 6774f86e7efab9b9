"""What a choice of exhaustive generation costs, beside an odometer in plain Python and a loop that chooses nothing.

usage: python benchmarks/exhaustive.py [--rounds N]

Each round runs all cases of each shape in each engine, in turns and in reverse order every second round, so that a busy
moment of the machine meets all of them. Printed are millions of choices per second of processor time, and the ratio to
the Python odometer in the same round. The loop at the end calls an empty method as often: no odometer could be faster.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from harness.report import command, host, spread, table

from ordeal.exhaustive import Gen


class Chooser(Protocol):
    def index(self, size: int, /) -> int: ...


class PythonOdometer:
    """The same method in some twenty lines, as one would write it into a test."""

    def __init__(self) -> None:
        self.values: list[int] = []
        self.bounds: list[int] = []
        self.place = 0

    def __iter__(self) -> Iterator["PythonOdometer"]:
        while True:
            self.place = 0
            yield self
            while self.values and self.values[-1] == self.bounds[-1]:
                self.values.pop()
                self.bounds.pop()
            if not self.values:
                return
            self.values[-1] += 1

    def index(self, size: int) -> int:
        place = self.place
        if place == len(self.values):
            self.values.append(0)
            self.bounds.append(size - 1)
        self.place = place + 1
        return self.values[place]


def archetypes(g: Chooser) -> int:
    g.index(64)
    g.index(64)
    size = g.index(3) + 1
    g.index(3)
    g.index(size)
    return 5


def permutations(g: Chooser) -> int:
    for left in range(8, 1, -1):
        g.index(left)
    return 7


def bits(g: Chooser) -> int:
    for _ in range(16):
        g.index(2)
    return 16


SHAPES: dict[str, Callable[[Chooser], int]] = {
    "archetypes: 73,728 cases of 5 choices": archetypes,
    "permutations of 8: 40,320 cases of 7": permutations,
    "16 bits: 65,536 cases of 16": bits,
}


class Empty:
    def index(self, _size: int, /) -> int:
        return 0


def rate(cases: Any, shape: Callable[[Any], int]) -> float:
    """Millions of choices a second."""
    choices = 0
    start = time.process_time()
    for g in cases:
        choices += shape(g)
    return choices / (time.process_time() - start) / 1e6


def measure(shape: Callable[[Any], int], rounds: int) -> dict[str, list[float]]:
    count = sum(1 for g in Gen() if shape(g))
    engines: dict[str, Callable[[], Any]] = {
        "ordeal": Gen,
        "Python odometer": PythonOdometer,
        "empty method": lambda: [Empty()] * count,
    }
    rates: dict[str, list[float]] = {name: [] for name in engines}
    for number in range(rounds):
        for name in list(engines)[:: -1 if number % 2 else 1]:
            rates[name].append(rate(engines[name](), shape))
    return rates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9, help="measurements of each engine (default: 9)")
    rounds = parser.parse_args().rounds
    print(f"{host()}\n`{command()}`\n")
    rows = []
    for title, shape in SHAPES.items():
        rates = measure(shape, rounds)
        for name, values in rates.items():
            ratios = [value / base for value, base in zip(values, rates["Python odometer"], strict=True)]
            rows.append([title, name, spread(values, ".1f"), f"{statistics.median(ratios):.2f}"])
    print(table(["shape", "engine", "million choices/s, min / median / max", "ratio"], rows))


if __name__ == "__main__":
    main()
