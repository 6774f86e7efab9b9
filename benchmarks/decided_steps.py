"""Whether the page of a run says "decided here" at the right step of ten puzzles whose failures show only later.

usage: python benchmarks/decided_steps.py searches each puzzle, has its failure recorded as for the page, and prints
where the share of failing runs rises most; exit 1 if that is the step that decides in fewer than nine of ten
"""

from __future__ import annotations

import importlib
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from harness.report import command, host, table

from ordeal import Explorer
from ordeal._engine.trace_view.recording import record_view

TESTS = Path(__file__).parent.parent / "tests"
WANTED = 9


def shown(puzzle: Any) -> tuple[str, list[str]]:
    """Return the rule after which the share rises most, and the cells of the table."""
    (failure,) = Explorer(puzzle, workers=1).run(max_runs=4_000, steps_per_run=30).failures
    assert failure.trace is not None
    view = record_view(failure.trace)
    names = ["the start", *(step.name for step in view.steps)]
    shares = [(chance.steps, chance.failed / chance.runs) for chance in view.chances]
    rises = [(after - before, names[number], before, after) for (_, before), (number, after) in pairwise(shares)]
    _, rule, before, after = max(rises, default=(0, "nothing", 0, 0))
    marked = ", ".join(names[number] for number in view.decided_at)
    return rule, [str(len(view.steps)), rule, f"{before:.0%} to {after:.0%}", marked]


def main() -> int:
    """Print a row for each puzzle."""
    sys.path.insert(0, str(TESTS))
    # The process that records finds the puzzles by the path of this one.
    puzzles = importlib.import_module("unit.samples.decided").PUZZLES
    right, rows = 0, []
    for puzzle in puzzles:
        rule, cells = shown(puzzle)
        right += rule == puzzle.DECIDED_BY
        rows.append([puzzle.__name__, puzzle.DECIDED_BY, *cells])
    print(f"{host()}\n`{command()}`\n")
    print(table(["puzzle", "decided by", "steps", "largest rise after", "from, to", "marked on the page"], rows))
    print(f"\n{right} of {len(rows)} at the right step")
    return int(right < WANTED)


if __name__ == "__main__":
    sys.exit(main())
