"""Runs the five rules with Hypothesis itself: generation alone, no database, no shrinking."""

import argparse

import hypothesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from five_rules.measured import measure
from five_rules.rules import FiveRules


class FiveRulesMachine(FiveRules, RuleBasedStateMachine):
    """The five rules as a machine of Hypothesis."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    options = parser.parse_args()
    generate_only = settings(
        max_examples=options.runs,
        stateful_step_count=options.steps,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    machine = hypothesis.seed(options.seed)(FiveRulesMachine)

    def run() -> int:
        run_state_machine_as_test(machine, settings=generate_only)
        return int(options.runs)

    measure(run, f"Hypothesis {hypothesis.__version__}")


if __name__ == "__main__":
    main()
