"""The marks that Hypothesis' decorators leave on functions and classes, and the seed of all its tests.

Nothing of Hypothesis is imported here.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

RULE_MARKER = "hypothesis_stateful_rule"
INITIALIZE_MARKER = "hypothesis_stateful_initialize_rule"
_INVARIANT_MARKER = "hypothesis_stateful_invariant"

#: Class attributes in which ``@seed`` and ``@reproduce_failure`` store their arguments.
DECORATOR_MARKS = ("_hypothesis_internal_use_seed", "_hypothesis_internal_use_reproduce_failure")


def rewrap_rules(cls: type, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Replace the function of every rule and initialize rule defined in the body of ``cls`` by ``wrap(function)``.

    ``wrap`` gets the user's function. The wrapper must carry the original as ``__wrapped__``.
    """
    for name, member in list(vars(cls).items()):
        for marker in (RULE_MARKER, INITIALIZE_MARKER):
            rule = getattr(member, marker, None)
            if rule is not None:
                wrapped = wrap(rule.function)
                setattr(member, marker, dataclasses.replace(rule, function=wrapped))
                setattr(cls, name, member)


#: Of an invariant that is checked now and then: the function that always checks.
SAMPLED_MARKER = "ordeal_sampled"


def invariants_of(cls: type) -> list[Callable[[Any], None]]:
    """Return what asks each invariant of a machine class that may be asked now."""
    marks = [getattr(member, _INVARIANT_MARKER, None) for _, member in inspect.getmembers_static(cls)]
    return [_asking(mark, mark.function) for mark in marks if mark is not None]


def sampled_of(cls: type) -> list[Callable[[Any], None]]:
    """Return what asks each invariant of a machine class that its steps check now and then."""
    marks = [getattr(member, _INVARIANT_MARKER, None) for _, member in inspect.getmembers_static(cls)]
    checks = [(mark, getattr(mark.function, SAMPLED_MARKER, None)) for mark in marks if mark is not None]
    return [_asking(mark, check) for mark, check in checks if check is not None]


def has_coroutine_rules(cls: type) -> bool:
    """Return True if a rule of a machine class is a coroutine function."""
    rules = [getattr(member, RULE_MARKER, None) for _, member in inspect.getmembers_static(cls)]
    return any(inspect.iscoroutinefunction(inspect.unwrap(rule.function)) for rule in rules if rule is not None)


def _asking(mark: Any, check: Callable[[Any], None]) -> Callable[[Any], None]:
    @functools.wraps(check)
    def ask(machine: Any) -> None:
        if all(precondition(machine) for precondition in mark.preconditions):
            check(machine)

    return ask


def print_step(cls: Any, name: str, text: Callable[[], str]) -> None:
    """Have Hypothesis print ``text()`` for each step of the rule ``name`` of a machine class."""
    plain = cls._repr_step

    def line(machine: Any, rule: Any, *rest: Any) -> str:
        printed: str = f"state.{text()}" if rule.function.__name__ == name else plain(machine, rule, *rest)
        return printed

    cls._repr_step = line


def mark_as_machine_test(function: Any, cls: type) -> None:
    """Mark ``function`` for Hypothesis and its pytest plugin as a test of theirs that runs the machines of ``cls``."""
    function.is_hypothesis_test = True
    function._hypothesis_state_machine_class = cls


def machine_of_test_case(found: object) -> type | None:
    """Return the machine class behind a TestCase, or None for anything else."""
    machine = getattr(getattr(found, "runTest", None), "_hypothesis_state_machine_class", None)
    return machine if isinstance(found, type) and isinstance(machine, type) else None


def untimed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the user's function without the timer that ChaosTest adds: the Explorer times rules itself."""
    original = getattr(function, "__wrapped__", None)
    if original is None or not getattr(function, "ordeal_timed", False):
        return function
    return original  # type: ignore[no-any-return]


@contextmanager
def forced_seed(seed: int | None) -> Iterator[None]:
    """Have Hypothesis draw all examples from ``seed``, or with None from its own, if it is loaded by then.

    A test with ``@seed`` or ``derandomize`` keeps its own seed, as it does with the option.
    """
    core: Any = sys.modules.get("hypothesis.core")
    if core is None:
        yield
        return
    before = core.global_force_seed
    core.global_force_seed = seed
    try:
        yield
    finally:
        core.global_force_seed = before
