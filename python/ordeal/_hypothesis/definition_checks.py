"""Finds mistakes in the definition of a rule machine without running it, and suggests the line to write instead."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from traceback import walk_tb
from types import CodeType, FunctionType
from typing import Any

from hypothesis.errors import InvalidArgument
from hypothesis.stateful import RuleBasedStateMachine

from ordeal._base.formatting import describe_error
from ordeal._hypothesis.markers import RULE_MARKER, untimed
from ordeal.errors import MachineError

#: The module that defines the decorators of rule machines.
_HOME = RuleBasedStateMachine.__module__
#: The methods that are called on a machine besides its rules and invariants.
_HOOKS = (
    "__init__",
    "teardown",
    "check_invariants",
    "state_hash",
    "checkpoint_snapshot_filter",
    "snapshot_filter",
    "restore_snapshot",
    "clone_checkpoint_state",
    "restore_checkpoint_state",
)
#: What the decorators return before they are applied.
_UNAPPLIED = frozenset(
    {
        "rule.<locals>.accept",
        "initialize.<locals>.accept",
        "invariant.<locals>.accept",
        "precondition.<locals>.decorator",
    }
)
_COROUTINE_HINT = "write a plain `def`; what must be awaited belongs in a rule, which may be `async def`"


def check_definition(cls: type[RuleBasedStateMachine], state: Any) -> None:
    """Check that the rules and invariants of ``cls``, which Hypothesis collected in ``state``, can work.

    Raises:
        MachineError: one of them cannot; the hint is the line to write.
    """
    _check_decorators(cls)
    for kind, rules in (("rule", state.rules), ("initialize", state.initializers)):
        for rule in rules:
            _check_rule(cls, kind, rule)
    for invariant in state.invariants:
        _check_invariant(cls, invariant)
    _check_hooks(cls)


def check_constructor(cls: type) -> None:
    """Check that ``cls`` can be called without arguments, as each run does.

    Raises:
        MachineError: it cannot.
    """
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):
        return  # a constructor that is written in C, or computes its signature, may not reveal it
    try:
        signature.bind()
    except TypeError as error:
        name = cls.__name__
        raise MachineError(
            f"{name}() cannot be called without arguments, as each run does: {error}",
            hint=f"give them defaults, or name a function in place of the class: `def make(): return {name}(3)`",
        ) from None


def is_constructed(machine: RuleBasedStateMachine) -> bool:
    """Return True if the constructor of Hypothesis' base class has run for ``machine``."""
    return hasattr(machine, "bundles")


def forgotten_constructor(cls: type) -> MachineError:
    """Return the error for a class whose constructor does not call Hypothesis' own."""
    owner = next((base for base in cls.__mro__ if "__init__" in vars(base)), cls)
    return MachineError(
        f"{owner.__name__}.__init__() does not call that of its base class",
        hint=f"write `super().__init__()` as the first line of {owner.__name__}.__init__()",
    )


def precondition_error(cls: type, name: str, error: BaseException, line: tuple[CodeType, int] | None) -> MachineError:
    """Return the error for a precondition of the rule or invariant ``name`` that raised ``error``, at ``line``."""
    at = f" ({Path(line[0].co_filename).name}:{line[1]})" if line is not None else ""
    return MachineError(
        f"a precondition of {cls.__name__}.{name} raised {describe_error(error)}{at}",
        hint="let it return a truth value in each state; what may raise belongs in the rule",
    )


def raised_in_precondition(cls: Any, error: BaseException) -> MachineError | None:
    """Return what to raise in place of ``error``, which ended a run of Hypothesis; None unless a precondition did."""
    state = cls.setup_state()
    marks = (*state.rules, *state.initializers, *state.invariants)
    conditions = {_code(each): mark.function.__name__ for mark in marks for each in mark.preconditions}
    calls = {_code(inspect.unwrap(mark.function)) for mark in marks}
    for frame, line in walk_tb(error.__traceback__):
        if frame.f_code in calls:
            return None
        if frame.f_code in conditions:
            return precondition_error(cls, conditions[frame.f_code], error, (frame.f_code, line))
    return None


def _code(function: Any) -> CodeType | None:
    code = getattr(function, "__code__", None)
    return code if isinstance(code, CodeType) else None


def may_forget_constructor(cls: type) -> bool:
    """Return True if the constructor of ``cls`` seems to call no other. Only a machine that it made shows for sure."""
    own = next(vars(base)["__init__"] for base in cls.__mro__ if "__init__" in vars(base))
    return isinstance(own, FunctionType) and "__init__" not in own.__code__.co_names


# ---------------------------------------------------------------------------------------------------------------------
# Rules and invariants


def _check_rule(cls: type, kind: str, rule: Any) -> None:
    function, name = rule.function, rule.function.__name__
    _check_not_given(cls, kind, name, function)
    place = f"{kind} rule" if kind == "initialize" else kind
    if not rule.targets and _is_generator(function):
        raise MachineError(
            f"{place} {name!r} of {cls.__name__} contains `yield`, so a call of it runs nothing",
            hint=f"take the `yield` out of {name}(), or move it to a function that {name}() goes through",
        )
    signature = _signature(function)
    if signature is None:
        return
    given = dict(rule.arguments)
    positional, named, takes_any = _parameters(signature)
    if not positional:
        raise MachineError(
            f"{place} {name!r} of {cls.__name__} has no `self`",
            hint=f"write `def {name}({', '.join(['self', *given])}):`",
        )
    missing = [key for key in (*positional[1:], *named) if key not in given and _is_required(signature, key)]
    unknown = [key for key in given if key not in positional[1:] and key not in named]
    if missing:
        meant = {key: close[0] for key in unknown if (close := get_close_matches(key, missing, n=1))}
        names = [*(meant.get(key, key) for key in given), *(key for key in missing if key not in meant.values())]
        arguments = ", ".join(
            f"{key}=..." if key in (*given, *meant.values()) else f"{key}=st.integers()" for key in names
        )
        guess = f"did you mean `{next(iter(meant.values()))}`? " if meant else ""
        raise MachineError(
            f"{_list(missing)} of {place} {name!r} of {cls.__name__} {'have' if missing[1:] else 'has'} no strategy",
            hint=f"{guess}write `@{kind}({arguments})`, with a strategy for each argument",
        )
    if unknown and not takes_any:
        raise MachineError(
            f"{place} {name!r} of {cls.__name__} does not take {_list(unknown)}",
            hint=f"write `def {name}({', '.join(['self', *given])}):`, or leave the strategy out of `@{kind}(...)`",
        )
    for condition in rule.preconditions:
        _check_condition(cls, name, condition)


def _check_invariant(cls: type, invariant: Any) -> None:
    function, name = invariant.function, invariant.function.__name__
    _check_not_given(cls, "invariant", name, function)
    if _is_coroutine(function):
        raise MachineError(
            f"invariant {name!r} of {cls.__name__} is `async def`, and nothing awaits it",
            hint=f"write `def {name}(self):`; what must be awaited belongs in a rule, which may be `async def`",
        )
    if _is_generator(function):
        raise MachineError(
            f"invariant {name!r} of {cls.__name__} contains `yield`, so it checks nothing",
            hint=f"take the `yield` out of {name}()",
        )
    signature = _signature(function)
    if signature is not None:
        positional, named, _ = _parameters(signature)
        wanted = [key for key in (*positional[1:], *named) if _is_required(signature, key)]
        if wanted or not positional:
            raise MachineError(
                f"invariant {name!r} of {cls.__name__} takes {_list(wanted) if wanted else 'no `self`'}",
                hint=f"write `def {name}(self):`, and keep what it looks at in the machine",
            )
    for condition in invariant.preconditions:
        _check_condition(cls, name, condition)


def _check_not_given(cls: type, kind: str, name: str, function: Any) -> None:
    if getattr(function, "is_hypothesis_test", False):
        with_arguments = "@rule(x=st.integers())" if kind != "invariant" else "a rule, which may draw arguments,"
        raise MachineError(
            f"{kind} {name!r} of {cls.__name__} is a test under `@given`, so each call of it runs many examples",
            hint=f"remove the `@given`, and write its strategies in {with_arguments} instead",
        )


def _check_condition(cls: type, name: str, condition: Callable[..., Any]) -> None:
    if _is_coroutine(condition):
        raise MachineError(
            f"the precondition of {name!r} of {cls.__name__} is `async def`, so it is always true",
            hint=_COROUTINE_HINT,
        )


def _check_hooks(cls: type) -> None:
    """Refuse methods that are called for what they do or return, and would only return a coroutine or a generator."""
    for name in _HOOKS:
        if not hasattr(cls, name) or hasattr(hook := getattr(cls, name), RULE_MARKER):
            continue  # a rule of such a name is refused for it
        if not callable(hook):
            raise MachineError(
                f"{cls.__name__}.{name} is {hook!r:.100}, not a method", hint=f"write `def {name}(self, ...):`"
            )
        function = inspect.unwrap(hook)
        if _is_coroutine(function):
            raise MachineError(f"{cls.__name__}.{name}() is `async def`, and nothing awaits it", hint=_COROUTINE_HINT)
        if _is_generator(function):
            raise MachineError(
                f"{cls.__name__}.{name}() contains `yield`, so a call of it does nothing",
                hint=f"take the `yield` out of {name}()",
            )


# ---------------------------------------------------------------------------------------------------------------------
# Decorators


def _check_decorators(cls: type) -> None:
    for base in cls.__mro__:
        if base.__module__ == _HOME:
            return
        for name, member in vars(base).items():
            # A decorator that was not applied: it was called one time too few.
            if type(member) is not FunctionType or member.__module__ != _HOME or member.__qualname__ not in _UNAPPLIED:
                continue
            decorator = member.__qualname__.partition(".")[0]
            if decorator == "precondition":
                raise MachineError(
                    f"`@precondition` got {base.__name__}.{name} in place of a condition",
                    hint=f"write `@precondition(lambda self: ...)` above `def {name}(self):`",
                )
            raise MachineError(
                f"{base.__name__}.{name} is a decorator that decorates nothing",
                hint=f"write `@{decorator}(...)` on the line above `def {name}(self):`",
            )


#: Python's message for a decorator written without its parentheses.
_UNCALLED = re.compile(r"(rule|initialize|invariant)\(\) takes 0 positional arguments but 1 ")
#: Hypothesis' message for a text as the target of a rule.
_NO_BUNDLE = re.compile(r"Got invalid target ('(\w+)') of type <class 'str'>")
#: Hypothesis' message for an argument of a rule that is not a strategy.
_NO_STRATEGY = re.compile(r"Expected a SearchStrategy.* but got (\w+)=(.*) \(type=(\w+)\)$", re.DOTALL)
#: Names that older versions of Hypothesis had.
_REMOVED = frozenset({"GenericStateMachine"})


def hint_for_definition(error: BaseException) -> str:
    """Return what to write when ``error``, raised by a class definition, does not say enough; empty for others."""
    if isinstance(error, TypeError) and (uncalled := _UNCALLED.match(str(error))):
        return f"write `@{uncalled[1]}()`, with parentheses"
    if isinstance(error, InvalidArgument) and (found := _NO_STRATEGY.search(str(error))):
        name, kind = found[1], found[3]
        if kind == "type":
            strategy = f"write a strategy, such as `{name}=st.integers()`"
            return f"{strategy}, or import `rule` from `ordeal.stateful`, which takes types"
        if uncalled := re.match(r"<function (\w+) at ", found[2]):
            return f"write a strategy, such as `{name}=st.{uncalled[1]}()`, with parentheses"
        return f"write a strategy, such as `{name}=st.just(...)`"
    if isinstance(error, InvalidArgument) and (found := _NO_BUNDLE.match(str(error))):
        return f"write `{found[2]} = Bundle({found[1]})` in the class, and `target={found[2]}` without quotes"
    if isinstance(error, ImportError) and getattr(error, "name_from", "") in _REMOVED and error.name == _HOME:
        return f"write `from ordeal.stateful import {error.name_from}`: Hypothesis has it no longer"
    return ""


# ---------------------------------------------------------------------------------------------------------------------
# Functions


def _is_coroutine(function: Any) -> bool:
    return inspect.iscoroutinefunction(untimed(function)) or inspect.isasyncgenfunction(untimed(function))


def _is_generator(function: Any) -> bool:
    return inspect.isgeneratorfunction(untimed(function)) or inspect.isasyncgenfunction(untimed(function))


def _signature(function: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _parameters(signature: inspect.Signature) -> tuple[list[str], list[str], bool]:
    """Return the positional parameters, the keyword-only ones, and whether any other name is accepted."""
    kinds = inspect.Parameter
    parameters = signature.parameters.values()
    by_place = [p.name for p in parameters if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    if not by_place and any(p.kind is kinds.VAR_POSITIONAL for p in parameters):
        by_place = ["self"]
    by_name = [p.name for p in parameters if p.kind is kinds.KEYWORD_ONLY]
    return by_place, by_name, any(p.kind is kinds.VAR_KEYWORD for p in parameters)


def _is_required(signature: inspect.Signature, name: str) -> bool:
    parameter = signature.parameters.get(name)
    return parameter is not None and parameter.default is inspect.Parameter.empty


def _list(names: Iterable[str]) -> str:
    quoted = [repr(name) for name in names]
    return f"argument{'s' * (len(quoted) > 1)} {', '.join(quoted)}"
