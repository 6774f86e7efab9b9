"""The values that rules pass to each other: putting them into bundles, taking them out, and copying them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._hypothesis.machines import Rule, routes_results
from ordeal._hypothesis.private import MultipleResults, VarReference

#: Attributes of a machine that hold no state of the run: copies share them by reference.
ENGINE_ATTRIBUTES = frozenset(
    {
        "_RuleBasedStateMachine__printer",
        "_RuleBasedStateMachine__stream",
        "_observability_predicates",
        "_rules_strategy",
        "invariants",
        "rules",
    }
)

_ADD_ONE = "_add_result_to_targets"


def resolve(values: dict[str, Any], machine: RuleBasedStateMachine) -> None:
    """Replace references by the values of bundles.

    An empty list counts as a list of references, as in Hypothesis: the rule gets a new list.
    """
    for name, value in values.items():
        if type(value) is VarReference:
            values[name] = machine.names_to_values[value.name]
        elif issubclass(type(value), list) and all(type(item) is VarReference for item in value):
            values[name] = [machine.names_to_values[item.name] for item in value]


def add_to_bundles(machine: RuleBasedStateMachine, rule: Rule, result: Any) -> list[list[str]]:
    """Put what ``rule`` returned into its target bundles; return the new names, by target."""
    # Not isinstance(): MultipleResults has an abstract base, which makes the check ten times as slow.
    results = result.values if type(result) is MultipleResults else (result,)
    if routes_results(type(machine)):
        # It puts the results where it wants them.
        known = len(machine.names_list)
        add_all = getattr(machine, "_add_results_to_targets", None)
        if add_all is not None:
            add_all(rule.targets, list(results))
        else:
            # Older versions add one result.
            add: Callable[[Any, Any], None] = getattr(machine, _ADD_ONE)
            for each in results:
                add(rule.targets, each)
        return [list(machine.names_list[known:])]
    counters = machine.names_counters
    names = []
    for target in rule.targets:
        bundle = machine.bundle(target)
        number = counters[target]
        added = [f"{target}_{number + place}" for place in range(len(results))]
        counters[target] = number + len(added)
        machine.names_list += added
        machine.names_to_values.update(zip(added, results, strict=True))
        bundle += map(VarReference, added)
        names.append(added)
    return names


class BundleState(msgspec.Struct, frozen=True):
    """Which values are in which bundle, and which initialize rules are left: Hypothesis' part of a run's state.

    References never change, so copying the lists that hold them is enough. The values belong to the machine.
    """

    bundles: dict[str, list[Any]]
    names_counters: Counter[str]
    names_list: list[str]
    _initialize_rules_to_run: list[Any]

    @classmethod
    def of(cls, machine: RuleBasedStateMachine) -> BundleState:
        """Return the state of ``machine``."""
        return cls(
            {name: list(references) for name, references in machine.bundles.items()},
            _copied(machine.names_counters),
            list(machine.names_list),
            list(machine._initialize_rules_to_run),
        )

    def restore_into(self, machine: RuleBasedStateMachine) -> None:
        """Set a copy of the state on ``machine``."""
        machine.bundles = {name: list(references) for name, references in self.bundles.items()}
        machine.names_counters = _copied(self.names_counters)
        machine.names_list = list(self.names_list)
        machine._initialize_rules_to_run = list(self._initialize_rules_to_run)


def _copied(counters: Counter[str]) -> Counter[str]:
    """Copy without the constructor, which slowly checks whether each argument is a mapping."""
    copy: Counter[str] = Counter.__new__(Counter)
    dict.update(copy, counters)
    return copy
