"""What copying the state of a machine costs, beside copy.deepcopy, and beside copium where that is installed.

usage: python benchmarks/snapshots.py [--rounds N]

A checkpoint is one such copy when it is taken and one each time a run starts from it. Each round copies every state in
every way, one after the other; printed are microseconds of the median round, and the ratio of the medians.
"""

import argparse
import copy
import datetime
import decimal
import enum
import fractions
import statistics
import time
import uuid
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.report import command, host, table

from ordeal._native import deep_copy

try:
    from copium import deepcopy as copium  # type: ignore[import-not-found, import-untyped, unused-ignore]
except ImportError:
    copium = None

OBJECTS = 100
COPIES = 50


class Order:
    def __init__(self, number: int) -> None:
        self.number = number
        self.items = ["book", number]
        self.state = "new"
        self.total = 1.5 * number


class Slotted:
    __slots__ = ("items", "number")

    def __init__(self, number: int) -> None:
        self.number = number
        self.items = [number]


@dataclass
class Point:
    x: int
    y: list[int]


class Hooked:
    def __init__(self, number: int) -> None:
        self.items = [number]

    def __deepcopy__(self, memo: dict[int, Any]) -> "Hooked":
        made = Hooked(0)
        made.items = copy.deepcopy(self.items, memo)
        return made


STATES: dict[str, Callable[[int], Any]] = {
    "objects": Order,
    "objects with slots": Slotted,
    "dataclasses": lambda number: Point(number, [number]),
    "dictionaries": lambda number: {"number": number, "items": [number]},
    "tuples": lambda number: (number, str(number)),
    "sets": lambda number: {number, str(number)},
    "deques": lambda number: deque([number]),
    "default dictionaries": lambda number: defaultdict(list, {number: [number]}),
    "ordered dictionaries": lambda number: OrderedDict(number=number),
    "objects that copy themselves": Hooked,
}


class Color(enum.Enum):
    RED = 1


def instance_of(cls: type) -> Any:
    made = cls()
    made.number = 1
    return made


CLASSES = [type(f"Class{number}", (), {}) for number in range(10)]
MOMENT = datetime.datetime(2026, 1, 2, 3, 4, 5)

#: States that are not of 100: small ones, where finding out how a class is copied matters most, and long containers.
SMALL_STATES: dict[str, Any] = {
    "10 objects of 10 classes": [instance_of(cls) for cls in CLASSES],
    "10 objects of one class": [instance_of(CLASSES[0]) for _ in range(10)],
    "100 dates": [MOMENT.date() for _ in range(100)],
    "100 dates with times": [MOMENT.replace(second=1) for _ in range(100)],
    "100 UUIDs": [uuid.UUID(int=number) for number in range(100)],
    "100 decimals": [decimal.Decimal(number) for number in range(100)],
    "100 fractions": [fractions.Fraction(number, 7) for number in range(100)],
    "100 members of an Enum": [Color.RED] * 100,
    "a deque of 1,000": deque(range(1000)),
    "an ordered dictionary of 1,000": OrderedDict((number, number) for number in range(1000)),
}


def seconds(function: Callable[[Any], Any], state: Any) -> float:
    started = time.process_time()
    for _ in range(COPIES):
        function(state)
    return (time.process_time() - started) / COPIES


def main() -> None:
    parser = argparse.ArgumentParser(description="Copies of states, beside copy.deepcopy.")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    ways: dict[str, Callable[[Any], Any]] = {"ordeal": lambda state: deep_copy(state, {}), "deepcopy": copy.deepcopy}
    if copium is not None:
        ways["copium"] = copium
    states: dict[str, Any] = {
        name: {number: make(number) for number in range(OBJECTS)} for name, make in STATES.items()
    } | SMALL_STATES
    times: dict[tuple[str, str], list[float]] = {(state, way): [] for state in states for way in ways}
    for _ in range(rounds):
        for (state, way), taken in times.items():
            taken.append(seconds(ways[way], states[state]))
    medians = {key: 1e6 * statistics.median(taken) for key, taken in times.items()}
    rows = [
        [
            state,
            *(f"{medians[state, way]:.{0 if medians[state, way] >= 100 else 1}f}" for way in ways),
            f"{medians[state, 'deepcopy'] / medians[state, 'ordeal']:.1f}x",
        ]
        for state in states
    ]
    print(f"{OBJECTS} of each, microseconds a copy, median of {rounds} rounds\n{host()}\n{command()}\n")
    print(table([f"state of {OBJECTS}, unless it says so", *ways, "over deepcopy"], rows))


if __name__ == "__main__":
    main()
