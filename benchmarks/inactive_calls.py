"""What an assertion or a point of buggify costs in production code, beside an empty Python function.

usage: python benchmarks/inactive_calls.py [--rounds N]

Every call is made in a loop of its own, and the processor time of the same loop without a call, measured right before,
is taken off. The loops take a millisecond and take turns, so that a busy moment of the machine meets all of them.
Printed are nanoseconds a call, and the ratio of the medians to the empty function: that is what to compare.

The upper rows are what a program pays while nothing is tracked or activated. The lower ones are what it pays while the
Explorer or a test tracks properties: that a property holds, with one name that was met before.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from harness.report import command, host, table

import ordeal
from ordeal import assertions, buggify

CALLS = 20_000
LIMIT_NS = 60
ACTIVE_LIMIT_NS = 300

INACTIVE = [
    'always(True, "name")',
    'always(True, "name", left=1, right=2)',
    'always(True, "name", operation="read", fault="slow")',
    'always_gt(3, 2, "name")',
    'sometimes(False, "name")',
    'sometimes_gt(1, 2, "name")',
    'reachable("name")',
    "buggify()",
    "buggify(0.3)",
    "buggify_function()",
    'buggify_value("normal", "faulty")',
]
ACTIVE = ['always(True, "a")', 'always(True, "a", left=1, right=2)', 'sometimes(False, "s")', 'reachable("r")']
EMPTY = "empty()"


def empty() -> None:
    pass


NAMES: dict[str, Any] = {
    **{name: getattr(assertions, name) for name in assertions.__all__},
    "buggify": ordeal.buggify,
    "buggify_function": buggify.buggify,
    "buggify_value": buggify.buggify_value,
    "clock": time.process_time_ns,
    "calls": range(CALLS),
    "empty": empty,
}


def loop(statement: str) -> Callable[[], float]:
    """A function that runs ``statement`` often and says how many nanoseconds that took."""
    names = dict(NAMES)
    # Text, because a call through a lambda would cost more than what is measured.
    body = f"def run():\n    start = clock()\n    for _ in calls:\n        {statement}\n    return clock() - start\n"
    exec(compile(body, "<loop>", "exec"), names)
    run: Callable[[], float] = names["run"]
    return run


def measure(statements: list[str], rounds: int) -> dict[str, list[float]]:
    """Nanoseconds a call, for each statement one value a round."""
    loops = {statement: loop(statement) for statement in ["pass", *statements]}
    times: dict[str, list[float]] = {statement: [] for statement in statements}
    for run in loops.values():
        run()
    for _ in range(rounds):
        for statement in statements:
            bare = loops["pass"]()
            times[statement].append((loops[statement]() - bare) / CALLS)
    return times


def quartiles(values: Sequence[float]) -> str:
    """The lower quarter, the median and the upper quarter: a preempted loop says nothing of a call."""
    return " / ".join(f"{value:.0f}" for value in statistics.quantiles(values))


def rows(times: dict[str, list[float]], limit_ns: int) -> list[list[str]]:
    base = statistics.median(times[EMPTY])
    return [
        [f"`{statement}`", quartiles(values), f"{statistics.median(values) / base:.2f}", str(limit_ns)]
        for statement, values in times.items()
        if statement != EMPTY
    ] + [["an empty Python function", quartiles(times[EMPTY]), "1.00", "-"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200, help="measurements of each call (default: 200)")
    rounds = parser.parse_args().rounds
    print(f"{host()}\n`{command()}`, {CALLS:,} calls a round\n")
    header = ["inactive call", "ns, 25 % / median / 75 %", "ratio", "limit, ns"]
    print(table(header, rows(measure([EMPTY, *INACTIVE], rounds), LIMIT_NS)), end="\n\n")
    with assertions.tracker.recording():
        header[0] = "active call that holds"
        print(table(header, rows(measure([EMPTY, *ACTIVE], rounds), ACTIVE_LIMIT_NS)))


if __name__ == "__main__":
    main()
