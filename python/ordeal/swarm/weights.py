"""Swarm weights: a run leaves out some of its operations and varies how often it picks the others.

Bugs that need many of one operation and none of another are out of reach when all are equally likely: a queue never
fills while something empties it. Here k of the n operations are kept, with k uniform from 1 to n, and each of them gets
its own weight, from 1 to 100.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from hypothesis.stateful import RuleBasedStateMachine
from hypothesis.strategies import SearchStrategy

from ordeal._base.formatting import weights_text
from ordeal._hypothesis.machines import set_rules_strategy
from ordeal._hypothesis.markers import RULE_MARKER
from ordeal._hypothesis.private import private
from ordeal._native import draw_rule_weights, rule_picker
from ordeal.errors import MachineError, OrdealError

__all__ = ["OpWeights", "SwarmError", "op_weights", "ops_of"]

#: The largest weight that is drawn, and the largest that a user may write.
DRAWN_MAX = 100
BASE_MAX = 1000
#: The maximum number of operations that the core picks from.
OPERATIONS_MAX = 65_536
#: The distributions of ``ChaosTest.swarm``, which draw what is on in a run; True is "coins".
DISTRIBUTIONS = ("coins", "sizes", "hypothesis")
#: The attribute in which ``model.op`` stores the weight of an operation.
WEIGHT_MARKER = "ordeal_weight"


#: Decides something with a probability. Under Hypothesis, a configuration is drawn only from such decisions, which
#: Hypothesis records and shrinks to False.
Chance = Callable[[float], bool]


class RandomLike(Protocol):
    """A generator of random numbers, as ``random.Random`` is."""

    def random(self) -> float:
        """Return the next number, uniform from 0 to below 1."""


class SwarmError(OrdealError, ValueError):
    """Operations, weights or caps from which nothing can be drawn."""


@dataclass(frozen=True)
class OpWeights:
    """How often each operation of a run is picked relative to the others; one of weight 0 was left out.

    ``entries`` are the names of all operations with their weights, in the order in which they were given.
    """

    entries: tuple[tuple[str, int], ...]
    _pick: Callable[[object], str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise SwarmError if there is nothing to pick, a name occurs twice, or a weight is invalid."""
        entries: object = self.entries
        for pair in entries if isinstance(entries, tuple) else (entries,):
            name, weight = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, None)
            if type(weight) is not int or not 0 <= weight <= DRAWN_MAX * BASE_MAX:
                raise SwarmError(
                    f"{name!r} has the weight {weight!r}",
                    hint=f'write names with whole numbers from 0 to {DRAWN_MAX * BASE_MAX}: OpWeights((("put", 3),))',
                )
        names = tuple(name for name, _ in self.entries)
        _check_names(names)
        weights = [weight for _, weight in self.entries]
        if not any(weights):
            raise SwarmError("no operation has a weight above 0", hint="give one of them a weight")
        object.__setattr__(self, "_pick", rule_picker(names, weights))

    @property
    def weights(self) -> dict[str, int]:
        """The weights by name."""
        return dict(self.entries)

    @property
    def kept(self) -> tuple[str, ...]:
        """The operations that can be picked."""
        return tuple(name for name, weight in self.entries if weight)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The operations that are never picked."""
        return tuple(name for name, weight in self.entries if not weight)

    def pick(self, rng: RandomLike) -> str:
        """Pick an operation, in proportion to its weight. Takes one number from ``rng``.

        Raises:
            SwarmError: ``rng`` is not a generator.
        """
        try:
            return self._pick(rng)
        except (AttributeError, TypeError):
            _check_generator(rng)
            raise

    def __repr__(self) -> str:
        return f"OpWeights({self})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print it for Hypothesis."""
        del cycle
        printer.text(repr(self))

    def __str__(self) -> str:
        return weights_text(self.weights)

    def __reduce__(self) -> tuple[object, ...]:
        return (OpWeights, (self.entries,))


def op_weights(
    rng: RandomLike | int,
    ops: Sequence[str],
    /,
    *,
    caps: Mapping[str, int] | None = None,
    always_on: Iterable[str] = (),
    weights: Mapping[str, int] | None = None,
) -> OpWeights:
    """Draw weights for the operations of one run; call it once, at its start.

    Of those that are not always on, k are kept: first k is drawn, uniformly from 1 to all, then which. Each kept
    operation gets a weight, uniform from 1 to its cap.

    Args:
        rng: a generator such as ``random.Random``, from which one number is taken, or an integer as a seed.
        ops: the names of the operations. Their order decides what is drawn.
        caps: the largest weight of some of them; 100 for the others.
        always_on: those that are never left out.
        weights: what the drawn weights of some of them are multiplied by; 1 for the others.

    Raises:
        SwarmError: no operation is given, a name is given twice or is not that of an operation, or a weight, a cap or
            the seed is out of range.
    """
    names = tuple([ops] if isinstance(ops, str) else ops)
    _check_names(names)
    options = SwarmOptions(
        "sizes",
        names,
        bases=_checked("weights", weights or {}, names, BASE_MAX),
        caps=_checked("caps", caps or {}, names, None),
        always_on=_checked_names("always_on", always_on, names),
    )
    if type(rng) is not int:
        _check_generator(rng)
        assert not isinstance(rng, int)
        seed = int(rng.random() * 2**53)
    elif 0 <= rng < 2**64:
        seed = rng
    else:
        raise SwarmError(f"the seed is {rng}", hint="write a whole number from 0 to 2**64 - 1")
    drawn = draw_rule_weights(seed, options.operations(names))
    return OpWeights(tuple(zip(names, drawn, strict=True)))


def ops_of(cls: type, /, *, exclude: Iterable[str] = ()) -> list[str]:
    """Return the names of the rules of a rule machine in the order of their definition, base classes first.

    Raises:
        SwarmError: ``cls`` is not a class, or ``exclude`` names no rule of it.
    """
    if not inspect.isclass(cls):
        raise SwarmError(f"{cls!r} is not a class", hint="write the class of a rule machine: `ops_of(MyMachine)`")
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        names.update(dict.fromkeys(name for name, member in vars(base).items() if _is_rule(member)))
    rules = tuple(name for name in names if _is_rule(getattr(cls, name, None)))
    excluded = _checked_names("exclude", exclude, rules)
    return [name for name in rules if name not in excluded]


def _is_rule(member: object) -> bool:
    function = getattr(getattr(member, RULE_MARKER, None), "function", None)
    return function is not None and not getattr(inspect.unwrap(function), "ordeal_automatic", False)


# ---------------------------------------------------------------------------------------------------------------------
# The configuration of a machine's runs


class SwarmOptions(msgspec.Struct, frozen=True):
    """What is known about the operations of a machine before a run draws its configuration.

    ``distribution`` is one of DISTRIBUTIONS, or "off". ``bases`` multiply drawn weights, ``caps`` bound them, each for
    some operations.
    """

    distribution: str
    ops: tuple[str, ...]
    bases: Mapping[str, int]
    caps: Mapping[str, int]
    always_on: frozenset[str]

    @property
    def chooses_rules(self) -> bool:
        """Whether rules are picked by weight. If not, Hypothesis picks them under pytest."""
        return bool(self.ops) and (self.distribution == "sizes" or any(base != 1 for base in self.bases.values()))

    def operations(self, names: Iterable[str]) -> list[tuple[int, int, bool]]:
        """Return the operations ``names`` in the form that the core takes, in their order."""
        return [(self.bases.get(name, 1), self._cap(name), name in self.always_on) for name in names]

    def draw(self, chance: Chance, always: Iterable[str] = ()) -> OpWeights:
        """Return the weights of one run, with ``always`` besides the drawn operations. All on if nothing is random.

        Except under "sizes", rules are left out as Hypothesis itself does, which this replaces.
        """
        free = [name for name in self.ops if name not in self.always_on]
        kept = {*always, *self.always_on}
        if self.distribution == "sizes":
            kept |= {name for name, on in zip(free, draw_by_size(len(free), chance), strict=True) if on}
        else:
            share = draw_below(255, chance) / 255
            kept |= {name for name in free if not share or not chance(share)} or set(free[-1:])
        entries = []
        for name in (*self.ops, *always):
            # Drawn for those that are left out too: otherwise leaving out is shorter, and shrinking would prefer it.
            drawn = 1 + draw_below(self._cap(name), chance) if self.distribution == "sizes" else 1
            entries.append((name, drawn * self.bases.get(name, 1) if name in kept else 0))
        return OpWeights(tuple(entries))

    def _cap(self, name: str) -> int:
        return min(self.caps.get(name, DRAWN_MAX), DRAWN_MAX)


def pick_in_order(weights: Mapping[str, int], names: Sequence[str], chance: Chance) -> str:
    """Pick one of ``names``, by weight, after deciding for each in turn whether to skip it.

    So the record of a pick is a name, not a number whose meaning depends on the weights: it stays the same when weights
    shrink, or when a left out operation returns. If none of them has a weight, all are equal.
    """
    odds = [weights.get(name, 0) for name in names]
    if not any(odds):
        odds = [1] * len(names)
    left = sum(odds)
    for name, weight in zip(names, odds, strict=True):
        if not chance(1 - weight / left):
            return name
        left -= weight
        if not left:
            break
    raise AssertionError("the last operation that has a weight was skipped")


def draw_by_size(count: int, chance: Chance) -> list[bool]:
    """Return which of ``count`` things are on: how many is uniform from 1 to all. All, if nothing is random."""
    left_out = draw_below(count, chance) if count else 0
    kept = []
    for left in range(count, 0, -1):
        out = left_out > 0 and chance(left_out / left)
        left_out -= out
        kept.append(not out)
    return kept


def draw_below(bound: int, chance: Chance) -> int:
    """Draw a whole number from 0 to below ``bound``, uniform; 0 if nothing is random."""
    low = 0
    while bound > 1:
        lower = (bound + 1) // 2
        if chance((bound - lower) / bound):
            low, bound = low + lower, bound - lower
        else:
            bound = lower
    return low


def _setting(cls: type, name: str, default: object) -> object:
    """Return an attribute that sets up a ChaosTest. In another machine, one of that name belongs to the program."""
    is_chaos = any((base.__module__, base.__qualname__) == ("ordeal.chaos", "ChaosTest") for base in cls.__mro__)
    return getattr(cls, name, default) if is_chaos else default


def swarm_options_of(cls: type) -> SwarmOptions:
    """Return what a machine class defines for its swarm; of one that is not a ChaosTest, only weights of its rules.

    Raises:
        MachineError: ``swarm``, ``weights``, ``weight_caps`` or ``always_on`` is invalid.
    """
    ops = tuple(ops_of(cls))
    members = {name: getattr(cls, name) for name in ops}
    marked = {name: getattr(each, WEIGHT_MARKER) for name, each in members.items() if hasattr(each, WEIGHT_MARKER)}
    try:
        return SwarmOptions(
            distribution_of(cls),
            ops,
            bases={**marked, **_checked("weights", _setting(cls, "weights", {}), ops, BASE_MAX)},
            caps=_checked("weight_caps", _setting(cls, "weight_caps", {}), ops, None),
            always_on=_checked_names("always_on", _setting(cls, "always_on", ()), ops),
        )
    except SwarmError as error:
        raise MachineError(f"{cls.__name__}: {error.message}", hint=error.hint) from None


def distribution_of(cls: type) -> str:
    """Return the distribution that ``cls.swarm`` names, "off" without one. Raises MachineError for an unknown one."""
    swarm: object = _setting(cls, "swarm", False)
    if swarm is False or swarm is True:
        return "coins" if swarm else "off"
    if isinstance(swarm, str) and swarm in DISTRIBUTIONS:
        return swarm
    raise MachineError(
        f"{cls.__name__}.swarm is {swarm!r}, which is not a swarm distribution",
        hint='write `swarm = "sizes"`, "coins", "hypothesis", True (the same as "coins") or False',
    )


# ---------------------------------------------------------------------------------------------------------------------
# Checks


def _check_names(names: Sequence[object]) -> None:
    if not names:
        raise SwarmError("no operation to pick", hint='name at least one: op_weights(rng, ["put", "get"])')
    for name in names:
        if not isinstance(name, str):
            raise SwarmError(f"an operation is named {name!r}", hint="write its name as a string")
    if len(names) > OPERATIONS_MAX:
        raise SwarmError(f"there are {len(names)} operations", hint=f"write {OPERATIONS_MAX} at most")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise SwarmError(f"{_listed(twice)} is given more than once", hint="name each operation once")


def _checked(what: str, given: object, names: tuple[str, ...], most: int | None) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise SwarmError(f"{what} is {given!r}, not numbers by name", hint='write for example {"restart": 5}')
    _check_known(what, given, names)
    for name, number in given.items():
        if type(number) is not int or number < 1 or (most is not None and number > most):
            upper = "" if most is None else f" to {most}"
            raise SwarmError(f"{what} has {number!r} for {name!r}", hint=f"write a whole number from 1{upper}")
    return dict(given)


def _checked_names(what: str, given: object, names: tuple[str, ...]) -> frozenset[str]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise SwarmError(f"{what} is {given!r}, not a set of names", hint=f"write {what}={{{str(given)!r}}}")
    wanted = list(given)
    _check_known(what, wanted, names)
    return frozenset(wanted)


def _check_known(what: str, given: Iterable[object], names: tuple[str, ...]) -> None:
    unknown = [name for name in given if name not in names]
    if unknown:
        known = ", ".join(names) or "none"
        raise SwarmError(
            f"{what} names {_listed(unknown)}, which is not an operation", hint=f"the operations are: {known}"
        )


def _listed(names: Sequence[object]) -> str:
    return ", ".join(repr(name) for name in names)


def _check_generator(rng: object) -> None:
    if isinstance(rng, type) or not callable(getattr(rng, "random", None)):
        raise SwarmError(f"{rng!r} is not a generator of random numbers", hint="pass random.Random(seed), or the like")


class ChanceStrategy(SearchStrategy[Any]):
    """Draws by decisions with given probabilities, each a boolean that Hypothesis records and shrinks.

    No other public strategy keeps to a probability: Hypothesis favours the ends of a range, and special values.
    """

    def __init__(self, draw: Callable[[Chance], Any]) -> None:
        super().__init__()
        self._draw = draw

    def do_draw(self, data: Any) -> Any:
        """Draw the value."""
        return self._draw(data.draw_boolean)


_RuleStrategy: Any = private("hypothesis.stateful:RuleStrategy", None)


class WeighedRules(_RuleStrategy or SearchStrategy):  # type: ignore[misc]
    """Chooses the next rule by weight among those that can run. Hypothesis leaves out no rule then."""

    def __init__(self, machine: RuleBasedStateMachine, weights: Mapping[str, int]) -> None:
        super().__init__(machine)
        self._weights = weights

    def do_draw(self, data: Any) -> Any:
        """Draw the rule and its arguments."""
        rules = {rule.function.__name__: rule for rule in self.rules if self.is_valid(rule)}
        if not rules:
            # The base class finds the same error, and explains it.
            return super().do_draw(data)
        rule = rules[pick_in_order(self._weights, list(rules), data.draw_boolean)]
        return rule, {name: data.draw(strategy) for name, strategy in rule.arguments_strategies.items()}


def weigh_rules(machine: RuleBasedStateMachine, weights: Mapping[str, int]) -> None:
    """Choose the rules of ``machine`` by ``weights`` from now on, if Hypothesis has the class that chooses rules."""
    if _RuleStrategy is not None:
        set_rules_strategy(machine, WeighedRules(machine, weights))
