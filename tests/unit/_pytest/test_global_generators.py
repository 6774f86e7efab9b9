"""Generators that a process shares are started from seeds, and put back."""

from __future__ import annotations

import random
import sys
from array import array
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import hypothesis.core
import numpy
import pytest

from ordeal import buggify
from ordeal._hypothesis.randoms import same_state
from ordeal._pytest import global_generators
from ordeal._pytest.global_generators import CHAOS_SEEDED, REGISTERED, GlobalGenerators

registered: list[int] = []


def note(number: int) -> None:
    """Stands for a function that a library registers."""
    registered.append(number)


def seeds(session: int) -> Any:
    return lambda name: session * 2**40 + len(name)


def draws() -> list[object]:
    """What each generator gives next, and what Hypothesis would start from."""
    return [random.random(), numpy.random.random(), hypothesis.core.global_force_seed, *decisions()]


def decisions() -> list[bool]:
    buggify.activate()
    try:
        return [buggify.buggify(0.5) for _ in range(64)]
    finally:
        buggify.deactivate()


def test_same_seeds_same_draws() -> None:
    generators = GlobalGenerators()

    def drawn(session: int) -> list[object]:
        with generators.seeded(seeds(session)):
            return draws()

    one, other = drawn(1), drawn(2)
    assert one == drawn(1)
    assert all(left != right for left, right in zip(one[:3], other[:3], strict=True))
    assert one[3:] != other[3:]


def test_functions_of_random_that_a_test_has_replaced_are_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    with GlobalGenerators().seeded(seeds(1)):
        drawn = random.random()
    for name in ("seed", "getstate", "setstate"):
        monkeypatch.setattr(random, name, None)
    with GlobalGenerators().seeded(seeds(1)):
        assert random.random() == drawn


def test_everything_is_put_back() -> None:
    states = random.getstate(), repr(numpy.random.get_state()), hypothesis.core.global_force_seed
    with GlobalGenerators().seeded(seeds(1)):
        draws()
    assert states == (random.getstate(), repr(numpy.random.get_state()), hypothesis.core.global_force_seed)


def test_what_is_left_alone() -> None:
    state, forced = random.getstate(), hypothesis.core.global_force_seed
    with GlobalGenerators(leave=CHAOS_SEEDED).seeded(seeds(1)):
        assert random.getstate() == state
        assert hypothesis.core.global_force_seed == forced


def test_generator_of_a_library(monkeypatch: pytest.MonkeyPatch) -> None:
    library: Any = ModuleType("faker.generator")
    library.random = random.Random(5)
    state = library.random.getstate()
    monkeypatch.setitem(sys.modules, "faker.generator", library)
    with GlobalGenerators().seeded(seeds(1)):
        assert library.random.random() == random.Random(seeds(1)("faker.generator")).random()
    assert library.random.getstate() == state
    with GlobalGenerators(leave=[REGISTERED]).seeded(seeds(1)):
        assert library.random.getstate() == state


def test_functions_that_libraries_register(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("library", f"{__name__}:note", "pytest_randomly.random_seeder")
    monkeypatch.setattr(global_generators, "entry_points", lambda group: [point] if group == point.group else [])
    registered.clear()
    with GlobalGenerators().seeded(seeds(1)):
        pass
    assert registered == [len(REGISTERED)], "such functions may take no more than 32 bits"


def test_states_of_any_generator_can_be_compared() -> None:
    generator = random.Random(1)
    state = generator.getstate()
    assert same_state(state, generator.getstate())
    generator.random()
    assert not same_state(state, generator.getstate())
    assert same_state({"key": [1]}, {"key": [1]})
    assert not same_state(("MT", [1]), ("MT", [2]))
    assert not same_state({"key": 1}, {"seed": 1})
    assert not same_state((1, 2), [1, 2])


def test_states_that_hold_arrays_are_compared_as_a_whole() -> None:
    state = ("MT", array("L", range(10_000)), 3)
    assert same_state(state, ("MT", array("L", range(10_000)), 3))
    # Not by their text, which may leave out the middle of an array.
    now = array("L", range(10_000))
    now[5_000] += 1
    assert not same_state(state, ("MT", now, 3))
    assert not same_state(array("b", [1]), array("B", [1]))
