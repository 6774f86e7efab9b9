"""Every run starts from the same state of the generators that Hypothesis manages."""

from __future__ import annotations

import random

from hypothesis import register_random

from ordeal._hypothesis import GlobalRandoms


def drawn() -> list[float]:
    return [random.random(), random.gauss(0, 1), random.random()]


def test_what_was_used_starts_over() -> None:
    randoms = GlobalRandoms()
    with randoms.managed():
        randoms.reseed()
        first = drawn()
        randoms.reseed()
        assert drawn() == first
        randoms.reseed()
        random.gauss(0, 1)  # Half of a pair: the other half is kept outside of the generator's own state.
        randoms.reseed()
        assert drawn() == first


def test_it_is_seeded_as_hypothesis_does() -> None:
    randoms = GlobalRandoms()
    with randoms.managed():
        random.seed(17)
        randoms.reseed()
        assert random.getstate() == random.Random(0).getstate()


def test_a_generator_that_comes_later_is_seeded_too() -> None:
    randoms = GlobalRandoms()
    later = random.Random(3)
    holder = {"later": later}  # Hypothesis asks the collector of garbage who holds it.
    with randoms.managed():
        randoms.reseed()
        register_random(holder["later"])
        randoms.reseed()
        assert later.getstate() == random.Random(0).getstate()
        later.random()
        randoms.reseed()
        assert later.getstate() == random.Random(0).getstate()


def test_only_what_was_used_has_changed() -> None:
    randoms = GlobalRandoms()
    with randoms.managed():
        randoms.reseed()
        assert randoms.changed() == []
        random.random()
        assert [generator for generator, _ in randoms.changed()] == [random]
