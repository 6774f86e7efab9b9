"""Survivors are searched together, and each is told by which runs notice it alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit._tools.mutation.machines import Mutants, mutant_of, till

from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.closed import Closed
from ordeal._tools.mutation.machines.closing import Closing
from ordeal._tools.mutation.machines.pool import POOL_MAX, Pool, pools_of
from ordeal._tools.mutation.mutants import mutants_of
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, Swap
from ordeal.chaos import ChaosTest


def written(test: str) -> Callable[[], None]:
    space: dict[str, Callable[[], None]] = {}
    exec(test, space)
    return next(each for name, each in space.items() if name.startswith("test_"))


def test_no_two_mutants_of_a_function_share_a_pool(source: Source) -> None:
    mutants = mutants_of(source, ["boundary", "delete_statement", "arithmetic", "comparison"])
    pools = pools_of(mutants)
    assert sorted(each.id for pool in pools for each in pool) == sorted(each.id for each in mutants)
    assert all(len({each.function for each in pool}) == len(pool) <= POOL_MAX for pool in pools)
    assert len(pools) < len(mutants)


def test_a_search_closes_those_that_runs_notice_and_leaves_the_others(
    live: LiveFunctions, source: Source, mutants: Mutants, bench: Bench
) -> None:
    killable, unread = mutant_of(mutants, "Drawer.put", "-="), mutant_of(mutants, "Drawer.give_back", "-=")
    pool = Pool(till.Till, [Closing(live, source, each, till.Till, bench) for each in (killable, unread)])
    found: dict[str, Closed] = {}
    for closing, closed in pool.search([till.__name__], 1, 1.0):
        found[closing.id] = closed
    closed = found[killable.id]
    assert (closed.how, closed.steps, closed.failed, closed.passed) == ("killed", 1, 10, 10)
    assert f"def test_kills_{killable.id}()" in closed.test
    assert "machine.pay(cents=1)" in closed.test
    test = written(closed.test)
    test()
    swap = Swap(live, source, killable)
    with pytest.raises(AssertionError):
        test()
    swap.undo()
    assert (found[unread.id].how, found[unread.id].test) == ("open", "")
    assert pool.searched > 0


def test_what_a_mutant_changes_is_watched_for_new_values_during_a_search(bench: Bench) -> None:
    pool = Pool(till.Till, [], ["drawer.coins.*"])
    with pool._watched():
        first, second = till.Till(), till.Till()
        assert first.state_hash() == second.state_hash()
        first.pay(3)
        assert first.state_hash() != second.state_hash()
        first.teardown()
        second.teardown()
    assert till.Till.state_hash is ChaosTest.state_hash
