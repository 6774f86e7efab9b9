"""The values that rules hand to one another: named as Hypothesis names them, resolved, and kept in a copy."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, VarReference, initialize, multiple, rule

from ordeal import Explorer
from ordeal._hypothesis.bundles import BundleState, add_to_bundles
from ordeal._hypothesis.machines import define_machine, initialized, is_initializing


class Boxes(RuleBasedStateMachine):
    """Fills two bundles at once."""

    a: Bundle[Any] = Bundle("a")
    b: Bundle[Any] = Bundle("b")

    @initialize()
    def begin(self) -> None: ...

    @rule(targets=(a, b))
    def make(self) -> Any: ...


(MAKE,) = define_machine(Boxes).rules


def contents(machine: Any) -> dict[str, list[Any]]:
    return {name: [machine.names_to_values[each.name] for each in found] for name, found in machine.bundles.items()}


def test_names_are_those_that_hypothesis_gives() -> None:
    ours, theirs = Boxes(), Boxes()
    for value in (multiple(1, 2), 3):
        names = [name for added in add_to_bundles(ours, MAKE, value) for name in added]
        for target, values in (("a", value), ("b", value)):
            for each in getattr(values, "values", (values,)):
                name = theirs._new_name(target)  # type: ignore[no-untyped-call]
                theirs.names_to_values[name] = each
                theirs.bundle(target).append(VarReference(name))
        assert set(names) <= set(theirs.names_to_values)
    assert contents(ours) == contents(theirs)
    assert ours.names_counters == theirs.names_counters


def test_a_state_is_kept_apart_from_the_machine_and_may_be_given_again() -> None:
    machine = Boxes()
    add_to_bundles(machine, MAKE, 1)
    state = BundleState.of(machine)
    add_to_bundles(machine, MAKE, 2)
    machine.bundles["a"].pop(0)
    for each in define_machine(Boxes).initializers:
        initialized(machine, each)
    for _ in range(2):
        state.restore_into(machine)
        assert contents(machine) == {"a": [1], "b": [1]}
        assert (machine.names_list, machine.names_counters["a"]) == (["a_0", "b_0"], 1)
        assert is_initializing(machine)
        add_to_bundles(machine, MAKE, 3)
    assert machine.names_counters["never seen"] == 0, "it is a Counter"


class Sorted(RuleBasedStateMachine):
    """Puts each number where it belongs, whatever the target of the rule, under a name of its own."""

    small: Bundle[int] = Bundle("small")
    large: Bundle[int] = Bundle("large")
    anything: Bundle[int] = Bundle("anything")

    @rule(target=anything, numbers=st.lists(st.integers(0, 9), max_size=2))
    def make(self, numbers: list[int]) -> Any:
        return multiple(*numbers)

    @rule(number=large)
    def use(self, number: int) -> None:
        assert number < 5, "reached"

    def bundle(self, name: str) -> Any:
        return self.bundles.get(name, ())

    def _new_name(self, target: str) -> str:
        return super()._new_name(f"{target}_number")  # type: ignore[no-any-return, no-untyped-call]

    def _add_results_to_targets(self, targets: Any, results: Any) -> None:
        for each in results:
            target = "large" if each >= 5 else "small"
            super()._add_results_to_targets((target,), [each])  # type: ignore[no-untyped-call]


@pytest.mark.skipif(not hasattr(RuleBasedStateMachine, "_add_results_to_targets"), reason="an older Hypothesis")
def test_a_machine_may_put_its_results_elsewhere() -> None:
    machine, (make, _) = Sorted(), sorted(define_machine(Sorted).rules, key=lambda each: each.name)
    assert add_to_bundles(machine, make, multiple(7, 2)) == [["large_number_0", "small_number_0"]]
    assert add_to_bundles(machine, make, multiple()) == [[]]
    assert contents(machine) == {"large": [7], "small": [2]}
    assert {name for _, name in make.fills} == {"anything", "large"}


@pytest.mark.skipif(not hasattr(RuleBasedStateMachine, "_add_results_to_targets"), reason="an older Hypothesis")
def test_rules_that_wait_for_such_results_run() -> None:
    (failure,) = Explorer(Sorted, workers=1, seed=0).run(max_runs=200, max_time=600).failures
    assert not failure.flaky
    assert failure.trace is not None
    assert [step.name for step in failure.trace.steps] == ["make", "use"]
