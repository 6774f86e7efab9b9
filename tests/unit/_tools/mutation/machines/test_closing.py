"""A survivor is closed by a test that fails on it alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit._tools.mutation.machines import Mutants, mutant_of, till

from ordeal._tools.mutation.machines.closing import Closing
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, Swap
from ordeal.chaos import ChaosTest


def test_a_search_closes_what_a_run_notices_and_leaves_the_others(
    live: LiveFunctions, source: Source, mutants: Mutants
) -> None:
    killable, unread = mutant_of(mutants, "Drawer.put", "-="), mutant_of(mutants, "Drawer.give_back", "-=")
    closed = Closing(live, source, killable, till.Till).searched([till.__name__], "", 1, 5.0)
    assert (closed.how, closed.steps, closed.failed, closed.passed) == ("killed", 1, 10, 10)
    assert closed.searched > 0
    assert f"def test_kills_{killable.id}()" in closed.test
    assert "machine.pay(cents=1)" in closed.test
    space: dict[str, Callable[[], None]] = {}
    exec(closed.test, space)
    test = next(each for name, each in space.items() if name.startswith("test_"))
    test()
    swap = Swap(live, source, killable)
    with pytest.raises(AssertionError):
        test()
    swap.undo()
    left = Closing(live, source, unread, till.Till).searched([till.__name__], "drawer.given_back", 1, 0.5)
    assert (left.how, left.test) == ("open", "")


def test_what_a_mutant_changes_is_watched_for_new_values_during_a_search(
    live: LiveFunctions, source: Source, mutants: Mutants
) -> None:
    closing = Closing(live, source, mutant_of(mutants, "Drawer.put", "-="), till.Till)
    with closing._watched("drawer.coins.*"):
        first, second = till.Till(), till.Till()
        assert first.state_hash() == second.state_hash()
        first.pay(3)
        assert first.state_hash() != second.state_hash()
        first.teardown()
        second.teardown()
    assert till.Till.state_hash is ChaosTest.state_hash
