"""What a run replaces by name is the program's own: the search, its verdict and its replays see none of it."""

from __future__ import annotations

import builtins
import os
import sys
from typing import Any

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ordeal.explore import Explorer


class Replacing(RuleBasedStateMachine):
    @rule()
    def replace(self) -> None:
        vars(builtins).update(len=lambda _: 0, isinstance=lambda *_: False)


def test_a_run_leaves_the_search_as_it_was() -> None:
    before = len, isinstance
    assert Explorer(Replacing).run(max_runs=20).total_runs == 20
    assert (len, isinstance) == before


def refuse(*_arguments: object, **_named: object) -> Any:
    raise LookupError("replaced")


class Hostile(RuleBasedStateMachine):
    """Replaces a name by what always raises, and has an ordinary bug as well."""

    owner: Any = builtins
    name = ""
    for_ever = False

    def __init__(self) -> None:
        super().__init__()
        self.is_replaced = False
        self.walked = 0

    @rule()
    def replace(self) -> None:
        if not self.is_replaced:
            self.is_replaced, self.found = True, getattr(self.owner, self.name)
            setattr(self.owner, self.name, refuse)

    @invariant()
    def is_still_replaced(self) -> None:
        if self.is_replaced and vars(self.owner)[self.name] is not refuse:
            raise ArithmeticError("the program does not see its own")

    @rule()
    def walk(self) -> None:
        self.walked += self.is_replaced
        if self.walked == 3:
            raise KeyError("an ordinary bug")

    def teardown(self) -> None:
        if self.is_replaced and not self.for_ever:
            setattr(self.owner, self.name, self.found)


NAMES = [
    *((builtins, name) for name in ("isinstance", "len", "dict", "next", "Exception", "type", "super", "tuple")),
    *((sys, name) for name in ("modules", "exception", "_getframe", "path")),
]


@pytest.mark.forks
@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize(("owner", "name"), NAMES, ids=[name for _, name in NAMES])
def test_a_program_that_replaces_a_name_has_its_own_failure_alone(owner: Any, name: str, for_ever: bool) -> None:
    body = {"owner": owner, "name": name, "for_ever": for_ever, "__module__": __name__}
    machine = globals()["Made"] = type("Made", (Hostile,), body)
    result = Explorer(machine, seed=1, workers=1, isolate=True).run(max_runs=40, steps_per_run=12)
    (failure,) = result.failures
    assert failure.trace is not None
    assert (type(failure.error).__name__, failure.flaky, len(failure.trace.steps)) == ("KeyError", False, 4)


@pytest.mark.forks
def test_a_fork_ends_where_the_program_refuses_to_exit() -> None:
    body = {"owner": os, "name": "_exit", "for_ever": True, "__module__": __name__}
    machine = globals()["Made"] = type("Made", (Hostile,), body)
    result = Explorer(machine, seed=1, workers=1, isolate=True).run(max_runs=40, steps_per_run=12)
    assert [type(each.error).__name__ for each in result.failures] == ["KeyError"]
