"""A survivor is closed by a test that fails on it alone, or its value of today is pinned."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit._tools.mutation.machines import Mutants, mutant_of, till

from ordeal._tools.mutation.machines.bench import TraceReplayer
from ordeal._tools.mutation.machines.closing import Closing
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions, Swap
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer


def test_what_no_invariant_reads_is_pinned_for_a_person_to_check(
    live: LiveFunctions, source: Source, mutants: Mutants, bench: TraceReplayer
) -> None:
    mutant = mutant_of(mutants, "Drawer.give_back", "-=")
    explorer = Explorer(till.Till, target_modules=[till.__name__], workers=1, seed=1)
    traces = explorer.run(max_runs=30, max_time=600, shrink=False, record_traces=True).traces
    trace = max(traces, key=lambda each: len(each.steps))
    closed = Closing(live, source, mutant, till.Till, bench).pinned(trace, len(trace.taken_steps()))
    assert (closed.how, closed.steps, closed.failed, closed.passed) == ("pinned", 1, 10, 10)
    assert "        # The value of today's code: check that it is right.\n" in closed.test
    assert "assert machine.drawer.given_back == 1\n" in closed.test


def test_a_search_closes_what_a_run_notices_and_leaves_the_others(
    live: LiveFunctions, source: Source, mutants: Mutants, bench: TraceReplayer
) -> None:
    killable, unread = mutant_of(mutants, "Drawer.put", "-="), mutant_of(mutants, "Drawer.give_back", "-=")
    closed = Closing(live, source, killable, till.Till, bench).searched([till.__name__], "", 1, 5.0)
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
    left = Closing(live, source, unread, till.Till, bench).searched([till.__name__], "drawer.given_back", 1, 0.5)
    assert (left.how, left.test) == ("open", "")


def test_what_a_mutant_changes_is_watched_for_new_values_during_a_search(
    live: LiveFunctions, source: Source, mutants: Mutants, bench: TraceReplayer
) -> None:
    closing = Closing(live, source, mutant_of(mutants, "Drawer.put", "-="), till.Till, bench)
    with closing._watched("drawer.coins.*"):
        first, second = till.Till(), till.Till()
        assert first.state_hash() == second.state_hash()
        first.pay(3)
        assert first.state_hash() != second.state_hash()
        first.teardown()
        second.teardown()
    assert till.Till.state_hash is ChaosTest.state_hash
