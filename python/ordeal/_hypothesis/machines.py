"""The definition of a rule machine class, and which of its rules can run."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
from hypothesis.errors import InvalidArgument, InvalidDefinition
from hypothesis.stateful import Bundle, RuleBasedStateMachine
from hypothesis.strategies import SearchStrategy

from ordeal._base.formatting import describe_error
from ordeal._hypothesis.buggify_choices import BUGGIFY_ARGUMENT
from ordeal._hypothesis.character_tables import make_character_tables
from ordeal._hypothesis.definition_checks import check_definition
from ordeal._hypothesis.draws import Draw, compile_argument, describe_strategy
from ordeal._hypothesis.markers import untimed
from ordeal.errors import MachineError

#: The modules of the base classes that say what a machine is, whose names no rule may have.
_BASES = ("hypothesis.stateful", "ordeal.chaos")


#: Stands for draws in the body of a rule.
BODY_ARGUMENT = "(body)"

#: What Hypothesis calls to put the result of a rule into bundles. The versions have one of the last two.
_ROUTES = ("bundle", "_new_name", "_add_results_to_targets", "_add_result_to_targets")


class Argument(msgspec.Struct, frozen=True):
    """An argument of a rule; ``number`` is its index in the definition's table of argument names."""

    name: str
    number: int
    draw: Draw
    strategy: SearchStrategy[Any]


class Rule(msgspec.Struct, frozen=True):
    """A rule or initialize rule. ``index`` is its position in Hypothesis' own order.

    ``fills`` names the bundles whose sizes it changes, each with a number that is unique in the class.
    """

    name: str
    index: int
    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    required_bundles: tuple[str, ...]
    preconditions: tuple[Callable[[Any], bool], ...]
    targets: tuple[str, ...]
    fills: tuple[tuple[int, str], ...]
    draws_in_body: bool
    is_coroutine: bool
    original: Any  # Hypothesis' own rule

    @property
    def may_draw_again(self) -> bool:
        """Whether draws of its arguments change nothing, so that others may take their place."""
        return bool(self.arguments) and not self.required_bundles and not self.draws_in_body


class Invariant(msgspec.Struct, frozen=True):
    """A check after every step."""

    name: str
    function: Callable[[Any], None]
    preconditions: tuple[Callable[[Any], bool], ...]
    check_during_init: bool


class MachineDefinition(msgspec.Struct, frozen=True):
    """What Hypothesis knows of a rule machine class, in its order.

    Argument name 0 stands for draws in the body of a rule, the last one for the decisions of buggify in a step.
    """

    cls: type[RuleBasedStateMachine]
    rules: tuple[Rule, ...]
    initializers: tuple[Rule, ...]
    invariants: tuple[Invariant, ...]
    argument_names: tuple[str, ...]
    order: tuple[str, ...]  # all rules in Hypothesis' own order, including those that ordeal added
    swarm_place: int | None  # the position of the initialize rule that ordeal added, among all of them


def define_machine(cls: type[RuleBasedStateMachine]) -> MachineDefinition:
    """Read the rules, initialize rules and invariants of ``cls``, without the rules that ordeal added itself.

    Raises:
        hypothesis.errors.InvalidDefinition: the class is not a valid rule machine.
        MachineError: a rule or an invariant can never work.
    """
    state = cls.setup_state()
    check_definition(cls, state)
    _check_names(cls, (*state.rules, *state.initializers, *state.invariants))
    ordered = sorted(state.rules, key=lambda r: (sorted(r.targets), len(r.arguments), r.function.__name__))
    names: dict[str, int] = {BODY_ARGUMENT: 0}
    bundles: dict[str, int] = {}
    every = (*ordered, *state.initializers)
    # Where a class decides in its own way, each of its rules may fill any bundle.
    routed = tuple(bundle.name for rule in every for bundle in rule.bundles) if routes_results(cls) else ()
    rules = tuple(
        _read_rule(rule, index, rule.arguments_strategies, names, bundles, routed)
        for index, rule in enumerate(ordered)
        if not _is_automatic(rule.function)
    )
    initializers = tuple(
        _read_rule(rule, index, rule.arguments, names, bundles, routed)
        for index, rule in enumerate(state.initializers)
        if not _is_automatic(rule.function)
    )
    make_character_tables(
        argument.strategy for rule in (*rules, *initializers) if rule.draws_in_body for argument in rule.arguments
    )
    return MachineDefinition(
        cls=cls,
        rules=rules,
        initializers=initializers,
        invariants=tuple(
            Invariant(i.function.__name__, i.function, tuple(i.preconditions), i.check_during_init)
            for i in state.invariants
        ),
        argument_names=(*names, BUGGIFY_ARGUMENT),
        order=tuple(rule.function.__name__ for rule in ordered),
        swarm_place=next((i for i, rule in enumerate(state.initializers) if _is_automatic(rule.function)), None),
    )


@functools.lru_cache(maxsize=64)
def routes_results(cls: type[RuleBasedStateMachine]) -> bool:
    """Return True if ``cls`` overrides Hypothesis' methods that put results into bundles."""
    return any(getattr(cls, name, None) is not getattr(RuleBasedStateMachine, name, None) for name in _ROUTES)


def is_initializing(machine: RuleBasedStateMachine) -> bool:
    """Return True if initialize rules are left to run."""
    return bool(machine._initialize_rules_to_run)


def may_initialize(machine: RuleBasedStateMachine, rule: Rule) -> bool:
    """Return True if the initialize rule ``rule`` is left to run."""
    return any(left is rule.original for left in machine._initialize_rules_to_run)


def may_run(machine: RuleBasedStateMachine, rule: Rule) -> bool:
    """Return True if ``rule`` can run: its bundles have values, and its preconditions hold.

    It cannot while initialize rules are left. Only the replay of an edited tape asks then: in a run they come first.
    """
    if machine._initialize_rules_to_run:
        return False
    for bundle in rule.required_bundles:
        if not machine.bundles.get(bundle):
            return False
    return holds(rule.preconditions, machine)


def holds(preconditions: tuple[Callable[[Any], bool], ...], machine: RuleBasedStateMachine) -> bool:
    """Return True if all ``preconditions`` hold, checking them in order until one does not."""
    # A loop, because all() would make a generator: this runs for every proposed step.
    for precondition in preconditions:  # noqa: SIM110
        if not precondition(machine):
            return False
    return True


def set_rules_strategy(machine: RuleBasedStateMachine, strategy: Any) -> None:
    """Have Hypothesis' loop draw each next rule of ``machine``, with its arguments, from ``strategy``."""
    machine._rules_strategy = strategy


def initialized(machine: RuleBasedStateMachine, rule: Rule) -> None:
    """Remove ``rule`` from the initialize rules that are left, because it runs now."""
    machine._initialize_rules_to_run = [left for left in machine._initialize_rules_to_run if left is not rule.original]


def position_among_initializers(machine: RuleBasedStateMachine, rule: Rule) -> tuple[int, int]:
    """Return the position of ``rule`` among the initialize rules that are left, and their number."""
    left = machine._initialize_rules_to_run
    return next(i for i, item in enumerate(left) if item is rule.original), len(left)


def _is_automatic(function: Callable[..., Any]) -> bool:
    return bool(getattr(inspect.unwrap(function), "ordeal_automatic", False))


def _read_rule(
    rule: Any,
    index: int,
    strategies: dict[str, SearchStrategy[Any]],
    names: dict[str, int],
    bundles: dict[str, int],
    routed: tuple[str, ...],
) -> Rule:
    arguments = []
    generic = False
    for name, strategy in strategies.items():
        _check_strategy(name, rule.function, strategy)
        draw, goes_through_hypothesis = compile_argument(strategy)
        generic = generic or goes_through_hypothesis
        arguments.append(Argument(name, names.setdefault(name, len(names)), draw, strategy))
    # The oldest versions have a separate class for bundles whose values are consumed.
    consumed = (each.name for each in rule.bundles if getattr(each, "consume", type(each) is not Bundle))
    filled = dict.fromkeys((*rule.targets, *consumed, *(routed if rule.targets else ())))
    return Rule(
        name=rule.function.__name__,
        index=index,
        function=untimed(rule.function),
        arguments=tuple(arguments),
        required_bundles=tuple(bundle.name for bundle in rule.bundles),
        preconditions=(*rule.preconditions, *filter(None, map(_one_is_filled, strategies.values()))),
        targets=tuple(rule.targets),
        fills=tuple((bundles.setdefault(name, len(bundles)), name) for name in filled),
        draws_in_body=generic,
        is_coroutine=inspect.iscoroutinefunction(inspect.unwrap(rule.function)),
        original=rule,
    )


def _check_strategy(argument: str, function: Callable[..., Any], strategy: SearchStrategy[Any]) -> None:
    try:
        strategy.validate()
    except InvalidArgument as error:
        problem = f"has no valid strategy: {error}"
    except Exception as error:  # noqa: BLE001 - a strategy may call functions of the user's, as deferred() does
        problem = f"has a strategy that raised {describe_error(error)}"
    else:
        if not strategy.is_empty:
            return
        problem = f"can have no value: its strategy is {strategy!r}"
    rule, code = function.__name__, getattr(inspect.unwrap(function), "__code__", None)
    # The line of its first decorator; what a strategy was written on is not known.
    at = f" ({Path(code.co_filename).name}:{code.co_firstlineno})" if code is not None else ""
    raise MachineError(
        f"argument {argument!r} of rule {rule!r} {problem}{at}",
        hint=f"write another strategy in the `@rule({argument}=...)` of {rule}",
    )


def _one_is_filled(strategy: SearchStrategy[Any]) -> Callable[[Any], bool] | None:
    """Return a check that any of the bundles from which ``strategy`` draws has a value; None for other strategies.

    A rule that needs a value of one bundle is not taken while that is empty. Of several, Hypothesis rejects the run.
    """
    kind, parts = describe_strategy(strategy)
    branches = parts["element_strategies"] if kind == "OneOfStrategy" else []
    names = [branch.name for branch in branches if isinstance(branch, Bundle)]
    if not names or len(names) < len(branches):
        return None
    return lambda machine: any(map(machine.bundles.get, names))


def _check_names(cls: type[RuleBasedStateMachine], members: Iterable[Any]) -> None:
    for member in members:
        name = member.function.__name__
        # Not by an attribute of the class: that would find what its metaclass has, such as `__or__` and `mro`.
        every = next(
            (vars(base)[name] for base in cls.__mro__ if base.__module__ in _BASES and name in vars(base)), None
        )
        # A function may bear the name and lie elsewhere: then nothing is hidden.
        if every is None or inspect.getattr_static(cls, name) is every:
            continue
        # Hypothesis calls a rule of this name once more, after the run.
        if name != "teardown" or getattr(member, "arguments", None):
            raise InvalidDefinition(
                f"{cls.__name__}.{name} has the name of something that every such machine has; give it another name"
            )
