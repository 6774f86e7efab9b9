"""What decorators leave on functions: rules are wrapped where they were defined, and tests are known as such."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import hypothesis.core
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ordeal._hypothesis.markers import forced_seed, rewrap_rules


def make_machine() -> Any:
    class Machine(RuleBasedStateMachine):
        calls: list[str] = []  # noqa: RUF012 - all of the test share it

        @initialize()
        def begin(self) -> None:
            self.calls.append("begin")

        @precondition(lambda self: True)
        @rule()
        def act(self) -> None:
            self.calls.append("act")

        @invariant()
        def holds(self) -> None:
            self.calls.append("holds")

        def plain(self) -> None: ...

    return Machine


def told(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(self: Any) -> Any:
        self.calls.append(f"before {function.__name__}")
        return function(self)

    return wrapper


def run_all(machine: Any) -> list[str]:
    state = machine.setup_state()
    made = machine()
    made.calls.clear()
    for found in (*state.initializers, *state.rules, *state.invariants):
        found.function(made)
    return list(made.calls)


def test_rules_and_initialize_rules_are_wrapped_and_nothing_else() -> None:
    machine = make_machine()
    rewrap_rules(machine, told)
    assert run_all(machine) == ["before begin", "begin", "before act", "act", "holds"]


def test_what_hypothesis_knows_of_a_rule_stays() -> None:
    machine = make_machine()
    rewrap_rules(machine, told)
    (found,) = machine.setup_state().rules
    assert found.function.__name__ == "act"
    assert len(found.preconditions) == 1


def drawn(decorate: object = None) -> list[int]:
    values: list[int] = []

    @settings(max_examples=20, database=None)
    @given(st.integers())
    def test(value: int) -> None:
        values.append(value)

    (seed(9)(test) if decorate else test)()
    return values


def test_a_seed_decides_what_is_drawn() -> None:
    runs = []
    for number in (1, 1, 2):
        with forced_seed(number):
            runs.append(drawn())
    assert runs[0] == runs[1] != runs[2]


def test_a_test_with_a_seed_of_its_own_goes_by_that() -> None:
    own = drawn(seed)
    with forced_seed(1):
        assert drawn(seed) == own


def test_blocks_nest_and_leave_what_they_found_also_after_an_error() -> None:
    seen: list[int | None] = []

    def nest() -> None:
        with forced_seed(1):
            with forced_seed(2):
                seen.append(hypothesis.core.global_force_seed)
            seen.append(hypothesis.core.global_force_seed)
            raise LookupError

    before = hypothesis.core.global_force_seed
    with pytest.raises(LookupError):
        nest()
    assert seen == [2, 1]
    assert hypothesis.core.global_force_seed == before


def test_hypothesis_is_not_loaded_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "hypothesis.core")
    with forced_seed(1):
        assert "hypothesis.core" not in sys.modules
