"""What is seen of the states of a replay."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from ordeal._tools.mutation.machines.lookout import Ends, Lookout


def seen(lookout: Lookout, states: list[int]) -> Lookout:
    for each in states:
        machine: Any = each
        lookout(machine)
    return lookout


@pytest.fixture
def lookout() -> Lookout:
    return Lookout(int, nullcontext)  # type: ignore[arg-type]


def test_the_first_state_that_differs_is_named_of_those_asked_for(lookout: Lookout) -> None:
    original = [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    lookout.compare(original, 0b1101)
    assert seen(lookout, [1, 9, 8, 7]).other_at == 2
    assert (lookout.equal_at, lookout.steps) == (0, 4)
    lookout.compare(original, -1)
    assert seen(lookout, [1, 2, 3, 4, 5]).other_at == 4
    lookout.rest()
    assert seen(lookout, [9]).other_at == 4


def test_a_state_that_is_to_be_shown_ends_the_run(lookout: Lookout) -> None:
    lookout.compare([], 0b10, lambda machine: f"state {machine}")
    with pytest.raises(Ends):
        seen(lookout, [5, 6, 7])
    assert (lookout.shown, lookout.steps) == ("state 6", 2)


def test_all_numbers_are_collected(lookout: Lookout) -> None:
    lookout.collect()
    assert seen(lookout, [4, 5]).numbers == [4, 5]
