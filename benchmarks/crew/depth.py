"""Searches for the failure behind the last stage, in a process of its own, and prints what that took."""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from crew.labour import Labour
from crew.stages import BUTTONS, STAGES, Lock
from ordeal import ChaosTest, Explorer, rule
from ordeal.result import ProgressSnapshot

__all__ = ["COMPARED", "STAGES", "WAYS", "Search", "Stages"]

LIMIT_S = 300.0
RUNS_MAX = 10_000_000
NOTHING = {"share_edges": False, "share_checkpoints": False}
#: With a number of runs as the limit, exchanges are in rounds; each way of two workers alone finds what it finds.
WAYS: dict[str, tuple[dict[str, Any], int | None]] = {
    "two that share": ({"workers": 2}, None),
    "two that do not": ({"workers": 2, **NOTHING}, None),
    "two that share, in rounds": ({"workers": 2}, RUNS_MAX),
    "two that do not, in rounds": ({"workers": 2, **NOTHING}, RUNS_MAX),
}
COMPARED = (("two that share", "two that do not"), ("two that share, in rounds", "two that do not, in rounds"))


@dataclass(frozen=True, slots=True)
class Search:
    """How a search ended. One that found nothing counts with all that it took."""

    found: bool
    runs: int
    wall_s: float


class Stages(ChaosTest):
    """Presses buttons. Each is a rule, so that no argument tells which one is right."""

    turns = 0

    def __init__(self) -> None:
        super().__init__()
        self.lock = Lock()
        self.labour = Labour()

    def press(self, button: int) -> None:
        self.labour.work(self.turns, button)
        self.lock.press(button)


def button_rule(button: int) -> Callable[..., None]:
    """The rule that presses a button."""

    def press(self: Stages) -> None:
        self.press(button)

    press.__name__ = press.__qualname__ = f"press_{button}"
    return rule()(press)


for each in range(BUTTONS):
    setattr(Stages, f"press_{each}", button_rule(each))


class Stopwatch:
    """Notes when the first failure is known, and ends the exploration."""

    def __init__(self) -> None:
        self.wall_s = 0.0

    def __call__(self, now: ProgressSnapshot) -> None:
        """Called whenever a worker has said something."""
        self.wall_s = now.elapsed
        if now.failures:
            raise KeyboardInterrupt  # what a user would do


def search(way: str, seed: int, turns: int) -> Search:
    """Explore until the last stage is open."""
    options, runs = WAYS[way]
    Stages.turns = turns
    stopwatch = Stopwatch()
    explorer = Explorer(Stages, target_modules=["crew.stages"], seed=seed, **{"workers": 1} | options)
    result = explorer.run(max_time=LIMIT_S, max_runs=runs, shrink=False, progress=stopwatch)
    if not result.failures:
        return Search(False, result.total_runs, stopwatch.wall_s)
    return Search(True, result.failures[0].run_id, stopwatch.wall_s)  # the workers number their runs in turn


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--way", choices=WAYS, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--turns", type=int, required=True)
    options = parser.parse_args()
    print(json.dumps(asdict(search(options.way, options.seed, options.turns))))


if __name__ == "__main__":
    main()
