"""Explores the five rules with the ``ordeal`` of this interpreter, ours or the public one: both have this interface."""

import argparse
from collections.abc import Callable
from typing import Any

import ordeal
from five_rules.measured import measure
from five_rules.rules import FiveRules, FiveUnplannedRules
from ordeal import explore as explorer_module
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer


class FiveRulesChaos(FiveRules, ChaosTest):
    """The five rules as a machine of ordeal. It has no faults."""


class FiveUnplannedChaos(FiveUnplannedRules, ChaosTest):
    """The same without plans for its strategies."""


def make() -> tuple[Callable[[], int], str]:
    """From the command line: a function that explores and returns the number of runs, and the name of the engine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--novelty", action="store_true")
    parser.add_argument("--unplanned", action="store_true")
    options = parser.parse_args()
    targets = ["five_rules.shelf"] if options.coverage else None
    level: dict[str, Any] = {"tuning": explorer_module.Tuning(coverage="novelty")} if options.novelty else {}
    machine = FiveUnplannedChaos if options.unplanned else FiveRulesChaos
    explorer = Explorer(machine, target_modules=targets, seed=options.seed, workers=1, **level)

    def explore() -> int:
        result = explorer.run(max_time=60, max_runs=options.runs, steps_per_run=options.steps, shrink=False)
        assert not result.failures, result.failures
        return int(result.total_runs)

    return explore, f"ordeal {ordeal.__version__}"


if __name__ == "__main__":
    measure(*make())
