"""Relations between numbers of a state, from a fixed grammar: what held in every state of the original.

An attribute is a number, or a mapping of numbers. The relations are those of ``FORMS``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import permutations
from typing import Any

import msgspec

Number = int | float
#: The numbers of an attribute by key; a number alone has the key None.
Numbers = dict[Any, Number]


class Relation(msgspec.Struct, frozen=True):
    """A relation between two attributes, or of one where ``right`` is empty."""

    form: str
    left: str
    right: str = ""

    @property
    def text(self) -> str:
        """The relation as people write it."""
        return FORMS[self.form].text.format(left=self.left, right=self.right)


def _each(compare: Callable[[Number, Number], bool]) -> Callable[[Numbers, Numbers], bool]:
    def holds(left: Numbers, right: Numbers) -> bool:
        return all(compare(number, right.get(key, 0)) for key, number in left.items())

    return holds


def _total(compare: Callable[[Number, Number], bool]) -> Callable[[Numbers, Numbers], bool]:
    return lambda left, right: compare(sum(left.values()), sum(right.values()))


Holds = Callable[[Numbers, Numbers], bool]


class Form(msgspec.Struct, frozen=True):
    """A form of relations: its text, whether it holds, and of which attributes it speaks.

    ``of`` has a letter for each attribute: ``n`` is a number, ``m`` a mapping, ``s`` either of them, but both of the
    same kind, ``a`` either of them, but not two numbers.
    """

    text: str
    holds: Holds
    of: str


def _limit(right: Numbers) -> Number:
    return right.get(None, -math.inf)


def _each_at_most(left: Numbers, right: Numbers) -> bool:
    return all(number <= _limit(right) for number in left.values())


#: Each form by name. Of those that the same survivors break the first is shown: ``<=`` is meant more often than ``<``.
FORMS: dict[str, Form] = {
    "not negative": Form("{left} >= 0", _each(lambda one, _: one >= 0), "s"),
    "positive": Form("{left} > 0", _each(lambda one, _: one > 0), "s"),
    "equal": Form("{left} == {right}", lambda left, right: left == right, "ss"),
    "at most": Form("{left} <= {right}", _each(lambda one, other: one <= other), "ss"),
    "below": Form("{left} < {right}", _each(lambda one, other: one < other), "ss"),
    "each at most": Form(
        "max({left}) <= {right}", lambda ours, right: max(ours.values(), default=0) <= _limit(right), "mn"
    ),
    "same keys": Form("set({left}) == set({right})", lambda left, right: left.keys() == right.keys(), "mm"),
    "keys within": Form("set({left}) <= set({right})", lambda left, right: left.keys() <= right.keys(), "mm"),
    "size equal": Form("len({left}) == {right}", lambda left, right: len(left) == _limit(right), "mn"),
    "size at most": Form("len({left}) <= {right}", lambda left, right: len(left) <= _limit(right), "mn"),
    "sum equal": Form("sum({left}) == sum({right})", _total(lambda one, other: one == other), "aa"),
    "sum at most": Form("sum({left}) <= sum({right})", _total(lambda one, other: one <= other), "aa"),
}
#: Forms that say the same with their attributes exchanged.
_MUTUAL = {"equal", "same keys", "sum equal"}
#: What a form says as well: it is not told of the same attributes.
_IMPLIES: dict[str, tuple[str, ...]] = {
    "equal": ("at most", "sum equal", "sum at most", "same keys", "keys within"),
    "below": ("sum at most",),
    "at most": ("sum at most",),
    "same keys": ("keys within",),
    "size equal": ("size at most",),
    "sum equal": ("sum at most",),
}


class Suggestion(msgspec.Struct, frozen=True):
    """A relation that held in all ``states`` of the original, and not in those of some survivors."""

    relation: Relation
    states: int
    survivors: tuple[str, ...]


class Held:
    """Which relations have held in all states that were shown."""

    def __init__(self) -> None:
        self.states = 0
        self._left: dict[Relation, bool] = {}
        self._known: dict[str, bool] = {}

    def take(self, numbers: Mapping[str, Numbers]) -> None:
        """Drop what does not hold in a state. ``numbers`` are those of each attribute."""
        self.states += 1
        for relation in _of(numbers, self._known):
            self._left[relation] = False
        self._known |= dict.fromkeys(numbers, True)
        for relation, was_used in list(self._left.items()):
            if not holds(relation, numbers):
                del self._left[relation]
            elif not was_used and _is_told(relation, numbers):
                self._left[relation] = True

    def all(self) -> list[Relation]:
        """Return what held, and said something in some state: no number compared with none."""
        found = [relation for relation, was_used in self._left.items() if was_used]
        said = {(name, each.left, each.right) for each in found for name in _IMPLIES.get(each.form, ())}
        # What is mutual is so in both directions.
        said |= {
            (name, each.right, each.left) for each in found if each.form in _MUTUAL for name in _IMPLIES[each.form]
        }
        return [each for each in found if (each.form, each.left, each.right) not in said]


def _of(numbers: Mapping[str, Numbers], known: Mapping[str, bool]) -> Iterator[Relation]:
    """Yield the relations of attributes that were not known before."""
    names = list(numbers)
    for name in names:
        if name not in known:
            yield from (Relation(form, name) for form in FORMS if len(FORMS[form].of) == 1)
    for left, right in permutations(names, 2):
        if left in known and right in known:
            continue
        kinds = "".join("n" if None in numbers[name] else "m" for name in (left, right))
        for name, form in FORMS.items():
            fits = kinds == form.of or (form.of == "ss" and kinds[0] == kinds[1]) or (form.of == "aa" and "m" in kinds)
            if len(form.of) == 2 and fits and (name not in _MUTUAL or left < right):
                yield Relation(name, left, right)


def holds(relation: Relation, numbers: Mapping[str, Numbers]) -> bool:
    """Return whether a relation holds in a state; where an attribute is not there, there is nothing to hold."""
    left = numbers.get(relation.left)
    right = numbers.get(relation.right) if relation.right else {}
    return left is None or right is None or FORMS[relation.form].holds(left, right)


def _is_told(relation: Relation, numbers: Mapping[str, Numbers]) -> bool:
    left, right = numbers.get(relation.left), numbers.get(relation.right)
    return any((left or {}).values()) and (not relation.right or any((right or {}).values()))


def suggested(held: Mapping[Relation, int], broken: Iterable[tuple[str, Iterable[int]]]) -> list[Suggestion]:
    """Return the relations that survivors broke, those that most of them broke first.

    ``held`` has the states of each; ``broken`` the number of each relation that a survivor broke.
    """
    relations = list(held)
    survivors: dict[Relation, list[str]] = {}
    for survivor, numbers in broken:
        for number in numbers:
            survivors.setdefault(relations[number], []).append(survivor)
    found = [Suggestion(relation, held[relation], tuple(names)) for relation, names in survivors.items()]
    order = list(FORMS)
    # Of what the same survivors break, that which says most comes first: one that names keys before one of sums.
    return sorted(found, key=lambda each: (-len(each.survivors), order.index(each.relation.form), each.relation.text))
