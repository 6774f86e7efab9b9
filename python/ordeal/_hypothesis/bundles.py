"""The values that rules hand to one another: into bundles, out of them, and what a copy of them holds."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis.stateful import MultipleResults, RuleBasedStateMachine, VarReference

from ordeal._hypothesis.machines import Rule, routes_results

#: Attributes of a machine that hold no state of the run: shared by reference between copies, never copied.
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
    """Put the values of bundles in the place of references to them.

    An empty list counts as one of references, as in Hypothesis: the rule gets a list of its own.
    """
    for name, value in values.items():
        if type(value) is VarReference:
            values[name] = machine.names_to_values[value.name]
        elif isinstance(value, list) and all(type(item) is VarReference for item in value):
            values[name] = [machine.names_to_values[item.name] for item in value]


def add_to_bundles(machine: RuleBasedStateMachine, rule: Rule, result: Any) -> list[list[str]]:
    """Put what ``rule`` returned into its target bundles; the new names, by target."""
    # Not isinstance(): MultipleResults is an abstract base's child, which makes the question ten times as slow.
    results = result.values if type(result) is MultipleResults else (result,)
    if routes_results(type(machine)):
        return [_routed(machine, rule, results)]
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


def _routed(machine: RuleBasedStateMachine, rule: Rule, results: Sequence[Any]) -> list[str]:
    """Have ``machine`` put ``results`` where it wants them; the names that it gave."""
    known = len(machine.names_list)
    add_all = getattr(machine, "_add_results_to_targets", None)
    if add_all is not None:
        add_all(rule.targets, list(results))
    else:
        # Older versions add one result.
        add: Callable[[Any, Any], None] = getattr(machine, _ADD_ONE)
        for each in results:
            add(rule.targets, each)
    return list(machine.names_list[known:])


@dataclasses.dataclass(frozen=True, slots=True)
class BundleState:
    """Which values are in which bundle, and which initialize rules are left: Hypothesis' part of a run's state.

    References never change, so copies of the lists that hold them are enough. The values are the machine's.
    """

    bundles: dict[str, list[Any]]
    names_counters: Counter[str]
    names_list: list[str]
    _initialize_rules_to_run: list[Any]

    @classmethod
    def of(cls, machine: RuleBasedStateMachine) -> BundleState:
        """The state of ``machine``."""
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
    """A copy, without the constructor, which asks of each argument whether it is a mapping and takes long to."""
    copy: Counter[str] = Counter.__new__(Counter)
    dict.update(copy, counters)
    return copy
