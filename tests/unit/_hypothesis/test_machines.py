"""What a machine class is made of, in the order of Hypothesis, and which of its rules can run."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, precondition, rule

from ordeal._hypothesis.buggify_choices import BUGGIFY_ARGUMENT
from ordeal._hypothesis.bundles import add_to_bundles
from ordeal._hypothesis.machines import (
    define_machine,
    holds,
    initialized,
    is_initializing,
    may_initialize,
    may_run,
    position_among_initializers,
    set_rules_strategy,
)
from ordeal.chaos import ChaosTest
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
RULES = {found.name: found for found in (*DEFINITION.rules, *DEFINITION.initializers)}


def test_rules_stand_in_the_order_of_hypothesis() -> None:
    theirs = Shop()._rules_strategy.rules
    assert list(DEFINITION.order) == [found.function.__name__ for found in theirs]
    assert [(found.name, found.index) for found in DEFINITION.rules] == [
        (name, index) for index, name in enumerate(DEFINITION.order)
    ]
    assert [found.name for found in DEFINITION.initializers] == ["first", "second"]


def test_arguments_are_numbered_among_all_of_the_class() -> None:
    names = DEFINITION.argument_names
    assert (names[0], names[-1]) == ("(body)", BUGGIFY_ARGUMENT)
    assert sorted(names[1:-1]) == ["jar", "lid", "name", "size"]
    for found in RULES.values():
        assert all(names[argument.number] == argument.name for argument in found.arguments)
    assert RULES["make"].arguments[0].number == RULES["first"].arguments[0].number


def test_a_rule_knows_what_it_needs_and_what_it_fills() -> None:
    close, make = RULES["close"], RULES["make"]
    assert set(close.required_bundles) == {"jars", "lids"}
    assert [name for _, name in close.fills] == ["jars"], "what it consumes"
    assert [name for _, name in make.fills] == ["lids"]
    assert (make.targets, len(make.preconditions)) == (("lids",), 1)
    numbers = {name: number for found in RULES.values() for number, name in found.fills}
    assert sorted(numbers.values()) == [0, 1]
    assert close.draws_in_body
    assert not make.draws_in_body
    (check,) = DEFINITION.invariants
    assert (check.name, check.check_during_init) == ("holds", True)


def test_a_coroutine_rule_is_known_as_one() -> None:
    class Async(RuleBasedStateMachine):
        @rule()  # type: ignore[arg-type]
        async def act(self) -> None: ...

    assert define_machine(Async).rules[0].is_coroutine
    assert not RULES["look"].is_coroutine


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


def test_rules_run_once_all_initialize_rules_have() -> None:
    machine = Shop()
    assert is_initializing(machine)
    assert not may_run(machine, RULES["look"])
    assert position_among_initializers(machine, RULES["second"]) == (1, 2)
    initialized(machine, RULES["first"])
    assert not may_initialize(machine, RULES["first"])
    assert may_initialize(machine, RULES["second"])
    assert position_among_initializers(machine, RULES["second"]) == (0, 1)
    initialized(machine, RULES["second"])
    assert not is_initializing(machine)
    assert may_run(machine, RULES["look"])


def test_a_rule_waits_for_its_bundles_and_its_preconditions() -> None:
    machine = Shop()
    for each in DEFINITION.initializers:
        initialized(machine, each)
    assert not may_run(machine, RULES["close"])
    add_to_bundles(machine, RULES["first"], 1)
    assert not may_run(machine, RULES["close"]), "there is no lid"
    add_to_bundles(machine, RULES["make"], 1)
    assert may_run(machine, RULES["close"])
    machine.is_open = False
    assert not may_run(machine, RULES["make"])


def test_preconditions_are_asked_until_one_is_false() -> None:
    asked: list[str] = []

    def answer(name: str, value: bool) -> Any:
        def ask(machine: Any) -> bool:
            asked.append(name)
            return value

        return ask

    assert not holds((answer("a", True), answer("b", False), answer("c", True)), Shop())
    assert asked == ["a", "b"]
    assert holds((), Shop())


def test_hypothesis_draws_the_next_rule_from_what_it_is_given() -> None:
    machine = Shop()
    set_rules_strategy(machine, st.just("mine"))
    assert repr(machine._rules_strategy) == "just('mine')"


def test_an_argument_without_a_value_is_refused() -> None:
    class Empty(RuleBasedStateMachine):
        @rule(x=st.nothing())
        def act(self, x: int) -> None: ...

    with pytest.raises(InvalidDefinition, match=r"^argument 'x' of rule 'act' can have no value: .*nothing\(\)"):
        define_machine(Empty)


def test_an_argument_whose_strategy_raises_what_a_program_raises_is_refused_with_it() -> None:
    class Unknown(RuleBasedStateMachine):
        @rule(x=st.deferred(lambda: nowhere))  # type: ignore[name-defined]  # noqa: F821
        def act(self, x: int) -> None: ...

    with pytest.raises(InvalidDefinition, match=r"^the strategy of argument 'x' of rule 'act' raised NameError"):
        define_machine(Unknown)


def test_an_argument_whose_strategy_is_wrong_is_refused_with_the_reason() -> None:
    class Wrong(RuleBasedStateMachine):
        @rule(x=st.integers(3, 1))
        def act(self, x: int) -> None: ...

    with pytest.raises(InvalidDefinition, match=r"^argument 'x' of rule 'act' has no valid strategy: .*min_value"):
        define_machine(Wrong)


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
