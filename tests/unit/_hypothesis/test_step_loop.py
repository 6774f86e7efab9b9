"""Machines that are made quickly are what they would be without it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

from ordeal._hypothesis import step_loop
from ordeal._hypothesis.step_loop import make_machines_quick

from ..samples.machines import run


class Boxes(RuleBasedStateMachine):
    """Boxes that are handed on."""

    boxes = Bundle("boxes")

    @initialize(target=boxes)
    def begin(self) -> int:
        return 0

    @rule(target=boxes, box=boxes, more=st.integers(0, 3))
    def grow(self, box: int, more: int) -> int:
        assert box < 6, "too large"
        return box + more


@pytest.fixture(autouse=True)
def quick() -> None:
    make_machines_quick()
    make_machines_quick()


def test_a_machine_has_all_its_attributes() -> None:
    machine: Any = Boxes()
    assert machine.bundles == {}
    assert machine.names_counters["boxes"] == 0
    assert machine.names_counters.most_common() == []
    assert [each.function.__name__ for each in machine._initialize_rules_to_run] == ["begin"]
    assert machine.rules is Boxes.setup_state().rules
    assert "_rules_strategy" not in vars(machine)
    assert machine._rules_strategy is machine._rules_strategy
    assert machine._rules_strategy.machine is machine
    assert machine._pretty_print([1, 2]) == "[1, 2]"
    assert repr(machine) == "Boxes({})"


def test_hypothesis_runs_it_and_prints_its_program() -> None:
    with pytest.raises(AssertionError, match="too large") as caught:
        run(Boxes)
    notes = "\n".join(caught.value.__notes__)
    assert "boxes_0 = state.begin()" in notes
    assert "state.grow(box=boxes_" in notes


def test_what_is_wrong_with_a_class_is_said_all_the_same() -> None:
    class NoRules(RuleBasedStateMachine):
        pass

    class Assigned(Boxes):
        settings = settings(max_examples=5)

    with pytest.raises(InvalidDefinition, match="defines no rules"):
        NoRules()
    with pytest.raises(InvalidDefinition, match="Assigning settings"):
        Assigned()


def test_a_constructor_that_sets_something_else_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = step_loop._make_slowly

    def more(self: Any) -> None:
        known(self)
        self.later = 1

    def other(self: Any) -> None:
        self.rules = self.read_rules()

    assert step_loop._is_known()
    for constructor in (more, other):
        monkeypatch.setattr(step_loop, "_make_slowly", constructor)
        assert not step_loop._is_known()
