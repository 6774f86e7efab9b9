"""Mistakes in a rule machine class are told before the first run, with the line to write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule

from ordeal._hypothesis.definition_checks import hint_for_definition
from ordeal._hypothesis.machines import define_machine
from ordeal.chaos import ChaosTest
from ordeal.errors import MachineError, OrdealError
from ordeal.explore import Explorer

from ..samples.mistakes import MISTAKES, Mistake


@pytest.mark.parametrize("mistake", [each for each in MISTAKES if each.in_python], ids=lambda each: each.name)
@pytest.mark.parametrize("isolate", [False, True], ids=["here", "apart"])
def test_the_explorer_refuses_it_and_names_the_line(mistake: Mistake, isolate: bool) -> None:
    names: dict[str, Any] = {"__name__": "bank_test"}
    exec(mistake.source, names)
    with pytest.raises(OrdealError) as caught:
        Explorer(names["Bank"], workers=1, isolate=isolate).run(max_runs=5)
    assert mistake.words in str(caught.value)
    assert names["ledger"] == []


class TestAccepted:
    """What looks odd and works must stay."""

    def test_arguments_with_defaults_and_of_any_name(self) -> None:
        class Machine(RuleBasedStateMachine):
            jars: Bundle[int] = Bundle("jars")

            def __init__(self, size: int = 3, *rest: int, **named: int) -> None:
                super().__init__()

            @initialize(target=jars, by=st.just(1))
            def start(self, by: int, more: int = 2) -> int:
                return by + more

            @rule(by=st.just(1), jar=jars)
            def anything(self, **arguments: int) -> None: ...

            @rule(by=st.just(1))
            def any_place(*arguments: Any, **named: Any) -> None: ...

            @rule(by=st.just(1))
            def named_only(self, /, *, by: int) -> None: ...

            @precondition(lambda self: True)
            @invariant()
            def holds(self, tolerance: int = 1) -> None: ...

        result = Explorer(Machine, workers=1).run(max_runs=20)
        assert result.failures == []

    def test_a_generator_that_goes_into_a_bundle(self) -> None:
        class Machine(RuleBasedStateMachine):
            streams: Bundle[Any] = Bundle("streams")

            @rule(target=streams)
            def open(self) -> Any:
                yield 1

        define_machine(Machine)

    def test_a_rule_made_by_a_decorator(self) -> None:
        def twice(function: Any) -> Any:
            def both(self: Any, **arguments: Any) -> None:
                function(self, **arguments)
                function(self, **arguments)

            both.__name__ = function.__name__
            return both

        class Machine(ChaosTest):
            @rule(by=st.just(1))
            @twice
            def add(self, by: int) -> None: ...

        define_machine(Machine)


class Machine(ChaosTest):
    """Has nothing wrong with it."""

    @rule()
    def go(self) -> None: ...


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Machine(), "write `Machine`, without the parentheses"),
        (Machine.TestCase, "write `Machine`, without `.TestCase`"),
        (3, "write `class MyChaos(ChaosTest):`"),
        (str, "write `class MyChaos(ChaosTest):`"),
    ],
    ids=["instance", "test_case", "number", "class"],
)
def test_what_is_no_class_of_machines(given: Any, words: str) -> None:
    with pytest.raises(MachineError) as caught:
        Explorer(given)
    assert words in str(caught.value)


def test_a_text_is_no_target() -> None:
    with pytest.raises(InvalidArgument) as caught:
        rule(target="things")  # type: ignore[call-overload]
    hint = "write `things = Bundle('things')` in the class, and `target=things` without quotes"
    assert hint_for_definition(caught.value) == hint


def test_what_hypothesis_had_once() -> None:
    with pytest.raises(ImportError) as caught:
        exec("from hypothesis.stateful import GenericStateMachine")
    assert "from ordeal.stateful import GenericStateMachine" in hint_for_definition(caught.value)
