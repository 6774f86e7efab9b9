"""Every run starts from the same state of the generators that Hypothesis manages."""

from __future__ import annotations

import gc
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import hypothesis.core
from hypothesis import register_random
from hypothesis.internal.entropy import RANDOMS_TO_MANAGE

from ordeal._hypothesis.randoms import GlobalRandoms


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
        randoms.reseed()
        assert randoms.changed() == []
        random.seed(1)
        ((generator, state),) = randoms.changed()
        assert generator is random
        assert state == random.Random(1).getstate()
        random.seed(0)
        assert randoms.changed() == [], "it is where it began"


def test_what_came_after_the_run_began_is_compared_by_its_state() -> None:
    randoms = GlobalRandoms()
    later = random.Random(3)
    holder = {"later": later}
    with randoms.managed():
        randoms.reseed()
        register_random(holder["later"])
        assert [generator for generator, _ in randoms.changed()] == [later]


def test_what_hypothesis_makes_for_itself_is_its_own_afterwards() -> None:
    searches = 0

    def count(phase: str, _: object) -> None:
        nonlocal searches
        searches += phase == "start"

    def manage() -> tuple[bool, bool, bool]:
        """Whether it is registered, whether it is seeded, and whether it goes on afterwards from where it was."""
        local: Any = hypothesis.core.threadlocal
        assert local._hypothesis_global_random is None, "each thread has one of its own"
        with GlobalRandoms().managed():
            own: Any = local._hypothesis_global_random
            seeded = own.getstate() == random.Random(0).getstate()
        register_random(own)
        return list(RANDOMS_TO_MANAGE.values()).count(own) == 1, seeded, own.getstate() != random.Random(0).getstate()

    gc.callbacks.append(count)
    try:
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(manage).result() == (True, True, True)
    finally:
        gc.callbacks.remove(count)
    assert searches == 0, "the heap is not searched for references"
