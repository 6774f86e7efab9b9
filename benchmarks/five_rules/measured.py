"""Measures one call in a process of its own and prints the result as one line of JSON."""

import json
import time
from collections.abc import Callable

from five_rules.rules import TALLY


def measure(run: Callable[[], int], engine: str) -> None:
    """Print what ``run()``, which returns its number of runs, took; imports and start-up are not part of it."""
    wall, cpu = time.perf_counter(), time.process_time()
    runs = run()
    print(
        json.dumps(
            {
                "engine": engine,
                "runs": runs,
                "steps": TALLY.steps,
                "cpu_s": time.process_time() - cpu,
                "wall_s": time.perf_counter() - wall,
            }
        )
    )
