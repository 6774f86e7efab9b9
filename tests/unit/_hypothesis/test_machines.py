"""What a machine class is made of, in the order of Hypothesis, and which of its rules can run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule

from ordeal._hypothesis.machines import (
    define_machine,
    set_rules_strategy,
)
from ordeal.chaos import ChaosTest
from ordeal.errors import MachineError
from ordeal.faults import Fault

from ..samples.machines import switches


class Shop(RuleBasedStateMachine):
    """Has one of each."""

    jars: Bundle[int] = Bundle("jars")
    lids: Bundle[int] = Bundle("lids")

    @initialize(target=jars, size=st.integers(0, 3))
    def first(self, size: int) -> int:
        return size

    @initialize()
    def second(self) -> None: ...

    @rule(jar=consumes(jars), lid=lids, name=st.text())
    def close(self, jar: int, lid: int, name: str) -> None: ...

    @precondition(lambda self: self.is_open)
    @rule(target=lids, size=st.integers(0, 3))
    def make(self, size: int) -> int:
        return size

    @rule()
    def look(self) -> None: ...

    @invariant(check_during_init=True)
    def holds(self) -> None: ...

    is_open = True


DEFINITION = define_machine(Shop)


def test_what_ordeal_adds_is_left_out_but_has_its_place() -> None:
    class Chaos(ChaosTest):
        faults: ClassVar[list[Fault]] = switches("a", "b")
        swarm = True

        @initialize()
        def begin(self) -> None: ...

        @rule()
        def act(self) -> None: ...

    found = define_machine(Chaos)
    assert [each.name for each in found.rules] == ["act"]
    assert set(found.order) == {"act", "_nemesis"}
    assert [each.name for each in found.initializers] == ["begin"]
    assert found.swarm_place is not None
    assert DEFINITION.swarm_place is None
    assert not hasattr(found.rules[0].function, "ordeal_timed"), "the driver times rules itself"


def test_hypothesis_draws_the_next_rule_from_what_it_is_given() -> None:
    machine = Shop()
    set_rules_strategy(machine, st.just("mine"))
    assert repr(machine._rules_strategy) == "just('mine')"


@pytest.mark.parametrize(
    ("strategy", "message"),
    [
        (st.nothing(), r"can have no value: .*nothing\(\)"),
        (st.deferred(lambda: nowhere), "has a strategy that raised NameError"),  # type: ignore[name-defined]  # noqa: F821
        (st.integers(3, 1), r"has no valid strategy: .*min_value(.|\n)*hint: write another strategy in the `@rule\(x="),
    ],
    ids=["without a value", "raises what a program raises", "wrong"],
)
def test_an_argument_that_cannot_be_drawn_is_refused_with_the_reason(strategy: Any, message: str) -> None:
    class Refused(RuleBasedStateMachine):
        @rule(x=strategy)
        def act(self, x: int) -> None: ...

    with pytest.raises(MachineError, match=rf"^argument 'x' of rule 'act' {message}") as caught:
        define_machine(Refused)
    assert f"({Path(__file__).name}:{Refused.act.__code__.co_firstlineno})" in str(caught.value)


def test_a_rule_that_hides_a_method_of_all_machines_is_refused() -> None:
    class Hiding(RuleBasedStateMachine):
        @rule()
        def bundle(self) -> None:  # type: ignore[override]
            """Hides the method that finds bundles."""

    with pytest.raises(
        InvalidDefinition, match=r"^Hiding\.bundle has the name of something that every such machine has"
    ):
        define_machine(Hiding)


def test_a_function_of_such_a_name_elsewhere_hides_nothing() -> None:
    def teardown(self: Any) -> None: ...

    class Harmless(RuleBasedStateMachine):
        act = rule()(teardown)

    assert [each.name for each in define_machine(Harmless).rules] == ["teardown"]
