"""The one place that touches Hypothesis' internals: what a machine is, how arguments are drawn, what a run needs."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import hypothesis.core
from hypothesis.control import BuildContext
from hypothesis.errors import InvalidArgument, InvalidDefinition, StopTest, UnsatisfiedAssumption
from hypothesis.internal.conjecture.data import ConjectureData
from hypothesis.internal.conjecture.engine import BUFFER_SIZE
from hypothesis.internal.conjecture.providers import PrimitiveProvider
from hypothesis.internal.entropy import RANDOMS_TO_MANAGE, deterministic_PRNG
from hypothesis.internal.reflection import function_digest
from hypothesis.stateful import Bundle, MultipleResults, RuleBasedStateMachine, VarReference, get_state_machine_test
from hypothesis.strategies import SearchStrategy, fixed_dictionaries
from hypothesis.strategies._internal.lazy import unwrap_strategies
from hypothesis.strategies._internal.misc import BooleansStrategy, JustStrategy
from hypothesis.strategies._internal.numbers import IntegersStrategy
from hypothesis.strategies._internal.strategies import SampledFromStrategy

from ordeal.buggify import Decisions, enter_run, leave_run
from ordeal.buggify_draws import BUGGIFY_ARGUMENT, BuggifyDraws
from ordeal.draws import TapeDraws, is_int64
from ordeal.global_generators import same_state

if TYPE_CHECKING:
    from ordeal._native import ChoiceSource

RULE_MARKER = "hypothesis_stateful_rule"
INITIALIZE_MARKER = "hypothesis_stateful_initialize_rule"

#: Where the decorators ``@seed`` and ``@reproduce_failure`` leave on a class what they say.
DECORATOR_MARKS = ("_hypothesis_internal_use_seed", "_hypothesis_internal_use_reproduce_failure")

#: A run ends early once its choices take this much of Hypothesis' buffer: better a shorter run than an overrun.
LENGTH_MAX = int(0.8 * BUFFER_SIZE)

#: What ends a run without being a failure: a failed ``assume`` and a draw that cannot be satisfied.
REJECTED = (StopTest, UnsatisfiedAssumption)

#: A step adds fewer values to bundles than this many bits can number; more are not told apart.
PLACE_BITS = 20


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


def failure_types() -> tuple[type[BaseException], ...]:
    """Exceptions that mean that the code under test failed."""
    return tuple(hypothesis.core.failure_exceptions_to_catch())


def skip_types() -> tuple[type[BaseException], ...]:
    """Exceptions by which a test asks to be skipped: they end the exploration."""
    return tuple(hypothesis.core.skip_exceptions_to_reraise())  # type: ignore[no-untyped-call]


# ---------------------------------------------------------------------------------------------------------------------
# Drawing


class TapeProvider(TapeDraws, PrimitiveProvider):
    """Gives Hypothesis' strategies their choices from the tape."""

    lifetime = "test_case"

    def __init__(self, source: ChoiceSource) -> None:
        PrimitiveProvider.__init__(self, None)
        TapeDraws.__init__(self, source)


Draw = Callable[["RunContext"], Any]


def compile_draw(strategy: SearchStrategy[Any]) -> tuple[Draw, bool]:
    """A function that draws a value of ``strategy`` in a run, and whether it goes through Hypothesis.

    Only the exact types below are drawn without Hypothesis; they write the same choices to the tape as it would.
    """
    plain: Any = unwrap_strategies(strategy)  # type: ignore[no-untyped-call]
    kind = type(plain)
    if kind is IntegersStrategy and plain.start is not None and plain.end is not None:
        if is_int64(plain.start) and is_int64(plain.end):
            return _draw_integers(plain.start, plain.end), False
    elif kind is BooleansStrategy:
        return _draw_boolean, False
    elif kind is JustStrategy and not plain._transformations:
        return _draw_constant(plain.elements[0]), False
    elif kind is SampledFromStrategy and not plain._transformations:
        return _draw_sampled(tuple(plain.elements)), False
    elif kind is Bundle and not getattr(plain, "_transformations", ()):
        return _draw_bundle(plain.name, plain.consume), False
    return _draw_generic(strategy), True


def _draw_integers(low: int, high: int) -> Draw:
    return lambda run: run.source.integer(low, high, 0)


def _draw_boolean(run: RunContext) -> bool:
    return run.source.boolean(0.5)


def _draw_constant(value: Any) -> Draw:
    return lambda _run: value


def _draw_sampled(elements: tuple[Any, ...]) -> Draw:
    size = len(elements)
    return lambda run: elements[run.source.position(size)]


def _draw_bundle(name: str, consume: bool) -> Draw:
    def draw(run: RunContext) -> Any:
        references = run.machine.bundles.get(name)
        if not references:
            run.data.mark_invalid(f"Cannot draw from empty bundle {name!r}")
        newest = len(references) - 1
        at = newest - (run.source.position(newest + 1) if run.source.live else run.follow(references))
        return references.pop(at) if consume else references[at]

    return draw


def _draw_generic(strategy: SearchStrategy[Any]) -> Draw:
    return lambda run: run.data.draw(strategy)


#: What strategies are made of, where they say so.
_PARTS = (
    *("elements", "_transformations", "element_strategies", "element_strategy", "tuple_suffixes", "min_size"),
    *("max_size", "mapping", "optional", "mapped_strategy", "filtered_strategy"),
)


def describe_strategy(strategy: SearchStrategy[Any]) -> tuple[str, dict[str, Any]]:
    """The name of the class that does the drawing of ``strategy``, and what that is made of."""
    plain: Any = unwrap_strategies(strategy)  # type: ignore[no-untyped-call]
    return type(plain).__name__, {part.strip("_"): getattr(plain, part, None) for part in _PARTS}


# ---------------------------------------------------------------------------------------------------------------------
# Machines


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a rule; ``number`` is its place in the definition's table of argument names."""

    name: str
    number: int
    draw: Draw
    strategy: SearchStrategy[Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """A rule or initialize rule. ``index`` is its position in Hypothesis' own order."""

    name: str
    index: int
    function: Callable[..., Any]
    arguments: tuple[Argument, ...]
    gates: tuple[str, ...]
    preconditions: tuple[Callable[[Any], bool], ...]
    targets: tuple[str, ...]
    draws_in_body: bool
    is_coroutine: bool
    original: Any  # Hypothesis' own rule


@dataclasses.dataclass(frozen=True, slots=True)
class Invariant:
    """A check after every step."""

    name: str
    function: Callable[[Any], None]
    preconditions: tuple[Callable[[Any], bool], ...]
    check_during_init: bool


@dataclasses.dataclass(frozen=True, slots=True)
class MachineDefinition:
    """What Hypothesis knows of a rule machine class, in its order.

    Argument name 0 stands for draws in a body, the last one for the decisions of buggify in a step.
    """

    cls: type[RuleBasedStateMachine]
    rules: tuple[Rule, ...]
    initializers: tuple[Rule, ...]
    invariants: tuple[Invariant, ...]
    argument_names: tuple[str, ...]
    order: tuple[str, ...]  # all rules in Hypothesis' own order, with those that ordeal added
    swarm_place: int | None  # of the initialize rule that ordeal added, among all of them


def define_machine(cls: type[RuleBasedStateMachine]) -> MachineDefinition:
    """Read the rules, initialize rules and invariants of ``cls``; rules that ordeal added itself are left out.

    Raises:
        hypothesis.errors.InvalidDefinition: the class is not a valid rule machine.
    """
    state = cls.setup_state()
    _check_names(cls, (*state.rules, *state.initializers, *state.invariants))
    ordered = sorted(state.rules, key=lambda r: (sorted(r.targets), len(r.arguments), r.function.__name__))
    names: dict[str, int] = {"(body)": 0}
    return MachineDefinition(
        cls=cls,
        rules=tuple(
            _read_rule(rule, index, rule.arguments_strategies, names)
            for index, rule in enumerate(ordered)
            if not _is_automatic(rule.function)
        ),
        initializers=tuple(
            _read_rule(rule, index, rule.arguments, names)
            for index, rule in enumerate(state.initializers)
            if not _is_automatic(rule.function)
        ),
        invariants=tuple(
            Invariant(i.function.__name__, i.function, tuple(i.preconditions), i.check_during_init)
            for i in state.invariants
        ),
        argument_names=(*names, BUGGIFY_ARGUMENT),
        order=tuple(rule.function.__name__ for rule in ordered),
        swarm_place=next((i for i, rule in enumerate(state.initializers) if _is_automatic(rule.function)), None),
    )


def is_initializing(machine: RuleBasedStateMachine) -> bool:
    """Whether initialize rules are left to run."""
    return bool(machine._initialize_rules_to_run)


def may_initialize(machine: RuleBasedStateMachine, rule: Rule) -> bool:
    """Whether the initialize rule ``rule`` is left to run."""
    return any(left is rule.original for left in machine._initialize_rules_to_run)


def may_run(machine: RuleBasedStateMachine, rule: Rule) -> bool:
    """Whether the rule ``rule`` can run: its bundles hold values, and its preconditions are true.

    While initialize rules are left it cannot. Only a replay of an edited tape asks then: in a run they come first.
    """
    if machine._initialize_rules_to_run:
        return False
    for gate in rule.gates:
        if not machine.bundles.get(gate):
            return False
    return holds(rule.preconditions, machine)


def holds(preconditions: tuple[Callable[[Any], bool], ...], machine: RuleBasedStateMachine) -> bool:
    """Whether all ``preconditions`` are true, asked in their order until one is not."""
    # A loop, where all() would make a generator: this is asked for every step that is proposed.
    for precondition in preconditions:  # noqa: SIM110
        if not precondition(machine):
            return False
    return True


def set_rules_strategy(machine: RuleBasedStateMachine, strategy: Any) -> None:
    """Have Hypothesis' loop draw each next rule of ``machine``, with its arguments, from ``strategy``."""
    machine._rules_strategy = strategy


def initialized(machine: RuleBasedStateMachine, rule: Rule) -> None:
    """Take the initialize rule ``rule`` off the list: it runs now."""
    machine._initialize_rules_to_run = [left for left in machine._initialize_rules_to_run if left is not rule.original]


def position_among_initializers(machine: RuleBasedStateMachine, rule: Rule) -> tuple[int, int]:
    """The place of ``rule`` among the initialize rules left, and how many these are."""
    left = machine._initialize_rules_to_run
    return next(i for i, item in enumerate(left) if item is rule.original), len(left)


def resolve(values: dict[str, Any], machine: RuleBasedStateMachine) -> None:
    """Put the values of bundles in the place of references to them."""
    for name, value in values.items():
        if type(value) is VarReference:
            values[name] = machine.names_to_values[value.name]
        elif type(value) is list and value and all(type(item) is VarReference for item in value):
            values[name] = [machine.names_to_values[item.name] for item in value]


def add_to_bundles(machine: RuleBasedStateMachine, rule: Rule, result: Any) -> list[list[str]]:
    """Put what ``rule`` returned into its target bundles; the new names, by target."""
    # Not isinstance(): MultipleResults is an abstract base's child, which makes the question ten times as slow.
    results = result.values if type(result) is MultipleResults else (result,)
    counters = machine.names_counters
    names = []
    for target in rule.targets:
        bundle = machine.bundle(target)
        number = counters[target]
        added = [f"{target}_{number + place}" for place in range(len(results))]
        counters[target] = number + len(added)
        machine.names_list += added
        machine.names_to_values.update(zip(added, results, strict=True))
        bundle += map(VarReference, added)
        names.append(added)
    return names


#: Attributes of a machine that hold no state of the run: shared by reference between copies, never copied.
ENGINE_ATTRIBUTES = frozenset(
    {
        "_RuleBasedStateMachine__printer",
        "_RuleBasedStateMachine__stream",
        "_observability_predicates",
        "_rules_strategy",
        "invariants",
        "rules",
    }
)


@dataclasses.dataclass(frozen=True, slots=True)
class BundleState:
    """Which values are in which bundle, and which initialize rules are left: Hypothesis' part of a run's state.

    References never change, so copies of the lists that hold them are enough. The values are the machine's.
    """

    bundles: dict[str, list[Any]]
    names_counters: Counter[str]
    names_list: list[str]
    _initialize_rules_to_run: list[Any]

    @classmethod
    def of(cls, machine: RuleBasedStateMachine) -> BundleState:
        """The state of ``machine``."""
        return cls(
            {name: list(references) for name, references in machine.bundles.items()},
            Counter(machine.names_counters),
            list(machine.names_list),
            list(machine._initialize_rules_to_run),
        )

    def give(self, machine: RuleBasedStateMachine) -> None:
        """Set a copy of the state on ``machine``."""
        machine.bundles = {name: list(references) for name, references in self.bundles.items()}
        machine.names_counters = Counter(self.names_counters)
        machine.names_list = list(self.names_list)
        machine._initialize_rules_to_run = list(self._initialize_rules_to_run)


def _is_automatic(function: Callable[..., Any]) -> bool:
    return bool(getattr(inspect.unwrap(function), "ordeal_automatic", False))


def _read_rule(rule: Any, index: int, strategies: dict[str, SearchStrategy[Any]], names: dict[str, int]) -> Rule:
    arguments = []
    generic = False
    for name, strategy in strategies.items():
        _check_strategy(rule.function.__name__, name, strategy)
        draw, goes_through_hypothesis = compile_draw(strategy)
        generic = generic or goes_through_hypothesis
        arguments.append(Argument(name, names.setdefault(name, len(names)), draw, strategy))
    return Rule(
        name=rule.function.__name__,
        index=index,
        function=_untimed(rule.function),
        arguments=tuple(arguments),
        gates=tuple(bundle.name for bundle in rule.bundles),
        preconditions=tuple(rule.preconditions),
        targets=tuple(rule.targets),
        draws_in_body=generic,
        is_coroutine=inspect.iscoroutinefunction(inspect.unwrap(rule.function)),
        original=rule,
    )


def _check_strategy(rule: str, argument: str, strategy: SearchStrategy[Any]) -> None:
    try:
        strategy.validate()
    except InvalidArgument as error:
        raise InvalidDefinition(f"argument {argument!r} of rule {rule!r} has no valid strategy: {error}") from error
    if strategy.is_empty:
        raise InvalidDefinition(
            f"argument {argument!r} of rule {rule!r} can have no value: its strategy is {strategy!r}"
        )


def _check_names(cls: type[RuleBasedStateMachine], members: Iterable[Any]) -> None:
    for member in members:
        name = member.function.__name__
        every = inspect.getattr_static(RuleBasedStateMachine, name, None)
        # A function may bear the name and lie elsewhere: then nothing is hidden.
        if every is not None and inspect.getattr_static(cls, name) is not every:
            raise InvalidDefinition(
                f"{cls.__name__}.{name} has the name of a method that every rule machine has; give it another name"
            )


def _untimed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The user's function below the timer that ChaosTest puts around it: the Explorer times rules itself."""
    original = getattr(function, "__wrapped__", None)
    if original is None or not getattr(function, "ordeal_timed", False):
        return function
    return original  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------------------------------
# Runs


class RunContext:
    """What Hypothesis wants to be there during one run: its data object and build context. Use as a context manager.

    Attributes:
        source: where choices come from.
        machine: the machine of this run, set by the driver once it exists.
        buggify: what the points of buggify do, which the driver tells of steps; with a probability of None, nothing.
        data: Hypothesis' record of the run, through which strategies without a plan draw.
    """

    __slots__ = ("_before", "_buggify_prob", "_context", "_producers", "buggify", "data", "machine", "source")

    def __init__(self, source: ChoiceSource, buggify_argument: int = 0, buggify_prob: float | None = None) -> None:
        self.source = source
        self.buggify = BuggifyDraws(source, buggify_argument, points_act=bool(buggify_prob))
        self._buggify_prob = buggify_prob
        self._before: tuple[float | None, Decisions | None] = (None, None)
        self.machine: Any = None
        self._producers: dict[str, int] = {}
        self.data = ConjectureData(random=None, provider=TapeProvider(source))
        self._context = BuildContext(self.data, is_final=False, wrapped_test=_no_test)

    def __enter__(self) -> RunContext:
        self._context.__enter__()
        self._before = enter_run(self.buggify, self._buggify_prob)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        leave_run(self._before)
        self._context.__exit__(*exc_info)

    def adopt(self, machine: RuleBasedStateMachine) -> None:
        """Make ``machine`` the runner of this run, as ``st.runner()`` and bundles see it."""
        self.machine = machine
        self.data.hypothesis_runner = machine
        machine._observability_predicates = self.data._observability_predicates

    def begin(self, machine: RuleBasedStateMachine, definition: MachineDefinition) -> None:
        """Adopt a fresh machine: initialize rules that ordeal added itself are not for the Explorer to run."""
        self.adopt(machine)
        machine._initialize_rules_to_run = [rule.original for rule in definition.initializers]

    def made(self, names: list[list[str]]) -> None:
        """Remember which step of the tape made the values ``names``; a replay follows them when other steps go."""
        origin = self.source.origin
        for place, name in enumerate(name for added in names for name in added):
            self._producers[name] = origin << PLACE_BITS | place

    def follow(self, references: list[VarReference]) -> int:
        """The position, 0 for the newest, of the value that the recorded argument was."""
        source = self.source
        wanted = source.producer
        if wanted < 0:
            position = source.position(len(references))
        else:
            # Where the step that made it is gone, the newest value takes its place: the run may fail all the same.
            made_by = [self._producers.get(reference.name) for reference in reversed(references)]
            position = made_by.index(wanted) if wanted in made_by else 0
            source.put(position)
        source.set_producer(self._producers.get(references[-1 - position].name, -1))
        return position

    def draw_by(self, provider: PrimitiveProvider, draw: Callable[..., Any]) -> None:
        """Have Hypothesis take its choices from ``provider``, and ``draw(original, strategy, ...)`` make its draws."""
        self.data.provider = provider
        self.data.draw = functools.partial(draw, self.data.draw)  # type: ignore[method-assign]

    @property
    def length(self) -> int:
        """How much of Hypothesis' buffer the run has used; a restored run goes on from what its copy had used."""
        return self.data.length

    @length.setter
    def length(self, used: int) -> None:
        self.data.length = used

    @property
    def choices(self) -> tuple[Any, ...]:
        """All choices that went through Hypothesis in this run, forced ones as well: its own flat sequence."""
        return tuple(self.data.choices)

    def write_boolean(self, value: bool, p: float = 0.5) -> None:
        """Write a choice that Hypothesis' own loop would make."""
        self.data.draw_boolean(p, forced=value)

    def write_integer(self, value: int, low: int, high: int) -> None:
        """Write a choice that Hypothesis' own loop would make."""
        self.data.draw_integer(low, high, forced=value)

    def draw_as_hypothesis(self, rule: Rule, *, initialize: bool) -> dict[str, Any]:
        """The arguments of ``rule``, each drawn through its strategy, in the layout of Hypothesis' own loop."""
        keyed = {argument.name: _Keyed(argument, self) for argument in rule.arguments}
        if initialize:
            return dict(self.data.draw(fixed_dictionaries(keyed)))
        return {name: self.data.draw(strategy) for name, strategy in keyed.items()}

    @property
    def shared(self) -> dict[Any, tuple[Any, SearchStrategy[Any]]]:
        """What was drawn from ``st.shared`` in this run, with the strategy, by key: part of a run's state."""
        return self.data._shared_strategy_draws


class _Keyed(SearchStrategy[Any]):
    """An argument's strategy that tells the source which argument is drawn; it adds no choice."""

    def __init__(self, argument: Argument, run: RunContext) -> None:
        super().__init__()
        self._argument = argument
        self._run = run

    def do_draw(self, data: ConjectureData) -> Any:
        self._run.source.begin_argument(self._argument.number)
        return data.draw(self._argument.strategy)


def _no_test() -> None:
    """Stands for the test function in a run that has none."""


class GlobalRandoms:
    """Seeds every random generator that Hypothesis manages (``random``, numpy's, registered ones) before each run."""

    def __init__(self) -> None:
        self._seeded: dict[int, Any] = {}

    def reseed(self) -> None:
        """Put all generators into the state that every run starts from."""
        for generator in self._managed():
            generator.seed(0)

    def changed(self) -> list[tuple[Any, Any]]:
        """The generators that were used since ``reseed``, each with its state now."""
        return [
            (generator, state)
            for generator in self._managed()
            if not same_state(state := generator.getstate(), self._seeded_state(generator))
        ]

    @contextmanager
    def managed(self) -> Iterator[GlobalRandoms]:
        """Save the generators' states now and restore them at the end."""
        with deterministic_PRNG():
            yield self

    @staticmethod
    def _managed() -> list[Any]:
        own = hypothesis.core.threadlocal._hypothesis_global_random
        return [generator for generator in RANDOMS_TO_MANAGE.values() if generator is not own]

    def _seeded_state(self, generator: Any) -> Any:
        known = self._seeded.get(id(generator))
        if known is None:
            now = generator.getstate()
            generator.seed(0)
            known = self._seeded[id(generator)] = generator.getstate()
            generator.setstate(now)
        return known


# ---------------------------------------------------------------------------------------------------------------------
# Hypothesis' own test of a machine


def database_key(cls: type[RuleBasedStateMachine]) -> bytes:
    """The key under which ``cls.TestCase`` looks for its failures in an example database.

    It changes with the source of the class and with the version of Hypothesis.
    """
    test: Any = get_state_machine_test(cls)
    return function_digest(test.hypothesis.inner_test)
