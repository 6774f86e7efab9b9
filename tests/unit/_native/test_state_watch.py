"""Whether a generator was used is seen in its memory."""

from __future__ import annotations

import random

import pytest

from ordeal._native import CoreError, StateWatch

CORE = random.Random.__mro__[1]


def test_a_draw_is_seen_and_a_return_as_well() -> None:
    generator = random.Random(5)
    watch = StateWatch(generator, CORE)
    assert watch.unchanged()
    state = generator.getstate()
    generator.random()
    assert not watch.unchanged()
    generator.setstate(state)
    assert watch.unchanged()


def test_all_draws_of_a_full_turn_are_seen() -> None:
    generator = random.Random(5)
    for _ in range(624):
        generator.getrandbits(32)
    watch = StateWatch(generator, CORE)
    for _ in range(624):
        generator.getrandbits(32)
    assert not watch.unchanged()


def test_what_is_kept_anew_is_what_counts() -> None:
    generator = random.Random(5)
    watch = StateWatch(generator, CORE)
    generator.random()
    watch.keep()
    assert watch.unchanged()


@pytest.mark.parametrize(("thing", "kind"), [(5, float), (object(), object), ([], random.Random)])
def test_a_type_that_holds_no_such_state_is_refused(thing: object, kind: type) -> None:
    with pytest.raises(CoreError):
        StateWatch(thing, kind)
