"""Turns a class or factory given by the user into a driver of its machines, after checking that it is usable."""

from __future__ import annotations

import ast
import dis
import hashlib
import inspect
import textwrap
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from hypothesis.errors import InvalidDefinition
from hypothesis.stateful import RuleBasedStateMachine

import ordeal._native as _native
from ordeal._base.formatting import describe_error
from ordeal._base.live_threads import program_threads
from ordeal._base.untrusted import bounded_call
from ordeal._engine.execution.class_path import is_loaded, is_named, path_of
from ordeal._engine.execution.driver import END, Driver, StepSource
from ordeal._engine.isolation.child import Limits, call_in_fork, can_supervise
from ordeal._hypothesis.definition_checks import check_constructor
from ordeal._hypothesis.machines import MachineDefinition, define_machine
from ordeal._hypothesis.markers import machine_of_test_case
from ordeal._hypothesis.run_context import RunContext
from ordeal.chaos import ChaosTest, check_settings
from ordeal.errors import MachineError, OrdealError
from ordeal.faults import Fault
from ordeal.stateful.test_case import (
    AnyMachine,
    GenericRunner,
    GenericStateMachine,
    as_rule_machine,
    check_generic_class,
    maker_name,
    rule_machine_class,
)

#: The time limit of a rule where a machine sets none.
RULE_TIMEOUT_SECONDS = 30.0
EXAMPLE = "write `class MyChaos(ChaosTest):` with at least one method under `@rule(...)`"

MachineFactory = type[AnyMachine] | Callable[[], AnyMachine]


def make_driver(given: MachineFactory, rule_timeout: float | None = None) -> Driver:
    """Make a driver for the machines that ``given``, a class or a function without arguments, makes.

    With ``rule_timeout`` None, the class decides; the limit is 30 s for a machine that is not a ChaosTest.

    Raises:
        MachineError: it makes no rule machine, or one that cannot be run, or assertions do not run.
        FaultError: the target of one of its faults does not exist.
    """
    if not __debug__:
        raise MachineError(
            "assertions do not run, because Python was started with -O or PYTHONOPTIMIZE: nothing would fail",
            hint="start Python without them",
        )
    cls, factory = _class_and_factory(given)
    faults = _faults_of(cls)
    try:
        definition = usable_definition(cls)
    except InvalidDefinition as error:
        raise MachineError(f"{cls.__name__} is not a valid rule machine: {error}") from error
    if rule_timeout is None:
        rule_timeout = cls.rule_timeout if issubclass(cls, ChaosTest) else RULE_TIMEOUT_SECONDS
    make = _GenericDriver if issubclass(cls, GenericRunner) else Driver
    return make(definition, factory, faults, rule_timeout)


def check_factory(given: MachineFactory, rule_timeout: float | None, limits: Limits) -> None:
    """Call a function that makes machines in a separate process: here it might hang, or end the process.

    Raises:
        MachineError: it does not return in the time that a rule may take, or raises.
    """
    if inspect.isclass(given) or not can_supervise() or program_threads():  # a fork would lack the threads
        return
    _check_takes_nothing(given)

    def make() -> None:
        given()

    if problem := call_in_fork(make, rule_timeout or RULE_TIMEOUT_SECONDS, limits).problem:
        raise _does_not_return(given, problem)


def usable_definition(cls: type[RuleBasedStateMachine]) -> MachineDefinition:
    """Return the definition of ``cls``, after checking that its runs can do something.

    Raises:
        MachineError: it has no rules, or a rule that can never run, or lacks what its base class asks for.
        FaultError: the target of one of its faults does not exist.
        hypothesis.errors.InvalidDefinition: it is not a valid rule machine.
    """
    definition, faults = define_machine(cls), _faults_of(cls)
    if issubclass(cls, ChaosTest):
        check_settings(cls)
        cls._check_class()
    if not definition.rules:
        only = " (faults alone do nothing)" if faults else ""
        raise MachineError(f"{cls.__name__} has no rules{only}", hint=EXAMPLE)
    for fault in faults:
        fault.check_targets()
    return definition


def _faults_of(cls: type[RuleBasedStateMachine]) -> list[Fault]:
    return list(cls.faults) if issubclass(cls, ChaosTest) else []


def class_path(given: MachineFactory, cls: type) -> str:
    """Return ``module:Class`` of what the user gave, as traces and reports name it."""
    return path_of(given if is_named(given) else cls)


def is_importable(given: MachineFactory, path: str) -> bool:
    """Return True if another process can import what the user gave by ``path``, which ``class_path`` returned."""
    module, _, name = path.partition(":")
    return is_named(given) and module != "__main__" and "<" not in name


class _GenericDriver(Driver):
    """Runs generic machines; a run is over when its machine has no steps left."""

    def next_step(self, step_source: StepSource, run: RunContext) -> int:
        """Return the end when no steps are left, else the next step of the source. Raises errors of ``steps()``."""
        self._current_rule = "steps"
        return END if run.machine.is_over else super().next_step(step_source, run)


def _class_and_factory(given: Any) -> tuple[type[RuleBasedStateMachine], Callable[[], RuleBasedStateMachine]]:
    """Return the class of the rule machines to run, and the function that makes them."""
    if inspect.isclass(given) and issubclass(given, GenericStateMachine):
        check_generic_class(given)
        check_constructor(given)
        return rule_machine_class(given), rule_machine_class(given)
    if inspect.isclass(given) and issubclass(given, RuleBasedStateMachine):
        check_constructor(given)
        return given, given
    if isinstance(given, AnyMachine):
        name = type(given).__name__
        raise MachineError(
            f"an instance of {name} was given in place of the class: each run makes its own machine",
            hint=f"write `{name}`, without the parentheses; for one with arguments write `lambda: {name}(3)`",
        )
    if not inspect.isfunction(given) and (machine := machine_of_test_case(given)) is not None:
        raise MachineError(
            f"{maker_name(given)} is the TestCase of a rule machine, not the machine",
            hint=f"write `{machine.__name__}`, without `.TestCase`",
        )
    if inspect.isclass(given) or not callable(given):
        name = given.__name__ if inspect.isclass(given) else repr(given)
        raise MachineError(f"{name} is not a rule machine", hint=EXAMPLE)
    # A function, or another callable, such as a partial.
    _check_takes_nothing(given)
    try:
        made = given()
    except (OrdealError, KeyboardInterrupt):
        raise
    except BaseException as error:
        if is_loaded(given):  # it was named by a path, so no caller expects its errors
            raise _does_not_return(given, f"raised {describe_error(error)}") from error
        raise
    if isinstance(made, GenericStateMachine):
        return type(as_rule_machine(made, given)), lambda: as_rule_machine(given(), given)
    return type(as_rule_machine(made, given)), given


def _does_not_return(given: Callable[..., Any], problem: str) -> MachineError:
    module, _, name = path_of(given).partition(":")
    return MachineError(
        f"{maker_name(given)}, which should make machines, {problem}",
        hint=f"`python -c 'import {module} as m; m.{name}()'` shows what happens",
    )


def _check_takes_nothing(function: Callable[..., Any]) -> None:
    try:
        inspect.signature(function).bind()
    except TypeError as error:
        raise MachineError(
            f"{maker_name(function)} cannot be called without arguments: {error}",
            hint="write a function without any, such as `lambda: MyMachine(3)`",
        ) from None
    except ValueError:
        # A function written in C may not reveal its arguments.
        return


#: What loads a constant, or returns one.
_OF_CONSTANTS = ("LOAD_CONST", "LOAD_COMMON_CONSTANT", "RETURN_CONST")


def returns_nothing(function: Any) -> bool:
    """Return True if each way through a function written in Python returns None."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None or code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        return False
    before, is_nothing = None, False
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("RETURN_CONST", "RETURN_VALUE"):
            given = instruction if instruction.opname == "RETURN_CONST" else before
            if given is None or given.argval is not None or given.opname not in _OF_CONSTANTS:
                return False
            is_nothing = True
        before = instruction
    return is_nothing


@lru_cache(maxsize=64)
def source_digest(cls: type) -> str:
    """Return a digest of the source of a machine class and its bases, without comments; empty if it cannot be read."""
    libraries = ("ordeal", "hypothesis", "builtins")
    own = [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in libraries]
    # A file that has changed since the import may hold anything where the class was.
    texts = bounded_call(
        lambda: [ast.unparse(ast.parse(textwrap.dedent(inspect.getsource(base)))) for base in own], lambda _raised: []
    )
    return hashlib.sha256("\0".join(texts).encode("utf-8", "backslashreplace")).hexdigest()[:16] if texts else ""


def machine_names(driver: Driver) -> _native.MachineNames:
    """Return the names of the rules, initialize rules, faults and arguments of the machine."""
    definition = driver.definition
    return (
        [rule.name for rule in definition.rules],
        [rule.name for rule in definition.initializers],
        [fault.name for fault in driver.faults],
        list(definition.argument_names),
    )
