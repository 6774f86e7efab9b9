"""From a class or factory given by the user to a driver of its machines, checked to be usable."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._hypothesis import define_machine
from ordeal.chaos import ChaosTest
from ordeal.driver import Driver
from ordeal.errors import MachineError
from ordeal.faults import Fault

RULE_TIMEOUT_SECONDS = 30.0
EXAMPLE = "write `class MyChaos(ChaosTest):` with at least one method under `@rule(...)`"

MachineFactory = type[RuleBasedStateMachine] | Callable[[], RuleBasedStateMachine]


def make_driver(given: MachineFactory, rule_timeout: float | None = None) -> Driver:
    """A driver of the machines that ``given``, a class or a function without arguments, makes.

    ``rule_timeout`` None takes the class' own, or 30 s for a machine that is no ChaosTest.

    Raises:
        MachineError: it makes no rule machine, or one without rules.
    """
    cls = _class_of(given)
    try:
        definition = define_machine(cls)
    except InvalidDefinition as error:
        raise MachineError(f"{cls.__name__} is not a valid rule machine: {error}") from error
    faults: list[Fault] = list(cls.faults) if issubclass(cls, ChaosTest) else []
    if not definition.rules:
        only = " (faults alone do nothing)" if faults else ""
        raise MachineError(f"{cls.__name__} has no rules{only}", hint=EXAMPLE)
    if rule_timeout is None:
        rule_timeout = cls.rule_timeout if issubclass(cls, ChaosTest) else RULE_TIMEOUT_SECONDS
    return Driver(definition, given, faults, rule_timeout)


def class_path(given: MachineFactory, cls: type) -> str:
    """``module:Class`` of what the user gave, as traces and reports name it."""
    named = given if inspect.isclass(given) or inspect.isfunction(given) else cls
    return f"{named.__module__}:{named.__qualname__}"


def is_importable(given: MachineFactory, path: str) -> bool:
    """Whether another process can import what the user gave by its ``path``, as ``class_path`` names it."""
    module, _, name = path.partition(":")
    return inspect.isclass(given) and module != "__main__" and "<" not in name


def _class_of(given: MachineFactory) -> type[RuleBasedStateMachine]:
    if inspect.isclass(given):
        if not issubclass(given, RuleBasedStateMachine):
            raise MachineError(f"{given.__name__} is not a rule machine", hint=EXAMPLE)
        return given
    if not callable(given):
        raise MachineError(f"{given!r} is not a rule machine", hint=EXAMPLE)
    made = given()
    if not isinstance(made, RuleBasedStateMachine):
        raise MachineError(f"{given!r} made a {type(made).__name__}, which is not a rule machine", hint=EXAMPLE)
    return type(made)
