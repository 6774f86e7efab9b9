"""Hypothesis' own loop over a machine whose rules are chosen by weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis.stateful import RuleBasedStateMachine, RuleStrategy
from hypothesis.strategies import SearchStrategy

from ordeal._hypothesis import set_rules_strategy
from ordeal.swarm.weights import Chance, pick_in_order


class ChanceStrategy(SearchStrategy[Any]):
    """Draws by decisions with given probabilities, each a boolean that Hypothesis records and shrinks.

    No other public strategy keeps to a probability: Hypothesis favours the ends of a range, and special values.
    """

    def __init__(self, draw: Callable[[Chance], Any]) -> None:
        super().__init__()
        self._draw = draw

    def do_draw(self, data: Any) -> Any:
        """Draw the value."""
        return self._draw(data.draw_boolean)


class WeighedRules(RuleStrategy):
    """Chooses the next rule by weight among those that can run. Hypothesis leaves out no rule then."""

    def __init__(self, machine: RuleBasedStateMachine, weights: Mapping[str, int]) -> None:
        super().__init__(machine)
        self._weights = weights

    def do_draw(self, data: Any) -> Any:
        """Draw the rule and its arguments."""
        rules = {rule.function.__name__: rule for rule in self.rules if self.is_valid(rule)}
        if not rules:
            # The base class finds the same error, and explains it.
            return super().do_draw(data)
        rule = rules[pick_in_order(self._weights, list(rules), data.draw_boolean)]
        return rule, {name: data.draw(strategy) for name, strategy in rule.arguments_strategies.items()}


def weigh_rules(machine: RuleBasedStateMachine, weights: Mapping[str, int]) -> None:
    """Choose the rules of ``machine`` by ``weights`` from now on."""
    set_rules_strategy(machine, WeighedRules(machine, weights))
