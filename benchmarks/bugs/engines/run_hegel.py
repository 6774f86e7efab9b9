"""Hegel: the rules of a machine as rules of its own machines, their strategies as its generators."""

import math
from collections.abc import Callable
from typing import Any

import hegel
from hegel import generators
from hypothesis.strategies import SearchStrategy
from hypothesis.strategies._internal import collections, lazy, misc, numbers, strategies, strings

from bugs.watch import LimitPassed, Machine, Watch, watched

STEPS_PER_RUN = 50
# Hypothesis leaves out fewer of all characters than this.
INTERVALS_OF_ALL = 500

unwrapped: Callable[[Any], Any] = lazy.unwrap_strategies


def generator_of(strategy: SearchStrategy[Any]) -> Any:
    """The generator of the same values.

    Raises:
        TypeError: there is none for this kind of strategy.
    """
    match unwrapped(strategy):
        case numbers.IntegersStrategy() as it:
            return generators.integers(it.start, it.end)
        case misc.BooleansStrategy():
            return generators.booleans()
        case strings.TextStrategy() as it:
            chars = unwrapped(it.element_strategy)
            alphabet: Any = generator_of(chars) if not hasattr(chars, "intervals") else None
            if alphabet is None and len(chars.intervals) < INTERVALS_OF_ALL:
                alphabet = "".join(map(chr, chars.intervals))
            return generators.text(*([] if alphabet is None else [alphabet]), **sizes_of(it))
        case strings.BytesStrategy() as it:
            return generators.binary(**sizes_of(it))
        case strategies.SampledFromStrategy() as it:
            made = generators.sampled_from(list(it.elements))
            for kind, function, *_ in it._transformations:
                made = made.filter(function) if kind == "filter" else made.map(function)
            return made
        case collections.ListStrategy() as it:
            return generators.lists(generator_of(it.element_strategy), **sizes_of(it))
        case collections.TupleStrategy() as it:
            return generators.tuples(*map(generator_of, it.element_strategies))
        case strategies.OneOfStrategy() as it:
            return generators.one_of(*map(generator_of, it.original_strategies))
        case strategies.FilteredStrategy() as it:
            made = generator_of(it.filtered_strategy)
            for condition in it.flat_conditions:
                made = made.filter(condition)
            return made
        case strategies.MappedStrategy() as it:
            # A dictionary is such a strategy, over a list of unique pairs.
            return generator_of(it.mapped_strategy).map(it.pack)
    raise TypeError(f"no generator for {strategy!r}")


def sizes_of(strategy: Any) -> dict[str, Any]:
    """The bounds of a collection, as Hegel takes them."""
    most = strategy.max_size
    return {"min_size": strategy.min_size, "max_size": None if most in (None, math.inf) else int(most)}


def converted(cls: Machine) -> type[Any]:
    """A machine of Hegel's that drives one of Hypothesis'. The targets have no bundles and no preconditions."""
    state: Any = cls.setup_state()

    def rule_of(function: Callable[..., Any], arguments: dict[str, Any]) -> Callable[[Any, Any], None]:
        made = {name: generator_of(strategy) for name, strategy in arguments.items()}

        def call(self: Any, case: Any) -> None:
            function(self.machine, **{name: case.draw(each, name) for name, each in made.items()})

        return call

    def invariant_of(function: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
        return lambda self, _case: function(self.machine)

    def begin(self: Any, _case: Any) -> None:
        self.machine = cls()

    body: dict[str, Any] = {"steps": STEPS_PER_RUN, "__init__": begin, "teardown": lambda self: self.machine.teardown()}
    for each in state.rules:
        name = each.function.__name__
        call: Any = rule_of(each.function, dict(each.arguments))
        call.__name__ = call.__qualname__ = name
        body[name] = hegel.rule(name=name)(call)
    for each in state.invariants:
        name = each.function.__name__
        body[name] = hegel.invariant(always_run=True, name=name)(invariant_of(each.function))
    return type("Converted", (hegel.StateMachine,), body)


def search(watch: Watch, _modules: tuple[str, ...], rng_seed: int) -> None:
    """Generate until a finding or the limit."""
    test = hegel.state_machine_test(
        converted(watched(watch, stop_at_limit=True)),
        test_cases=10**9,
        database="",
        seed=rng_seed,
        suppress_health_check=list(hegel.HealthCheck),
        verbosity="quiet",
        phases=[hegel.Phase.generate],
        print_blob=False,
    )
    watch.start()
    try:
        test()
    except (LimitPassed, Exception):  # noqa: BLE001  The watch has seen a failure and judges for itself.
        return
    finally:
        watch.settle()
