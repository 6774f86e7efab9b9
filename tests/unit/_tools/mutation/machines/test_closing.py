"""A survivor is closed by a test that fails on it alone, or its value of today is pinned."""

from __future__ import annotations

from tests.unit._tools.mutation.machines import Mutants, mutant_of, till

from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.closing import Closing
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions
from ordeal.explore import Explorer


def test_what_no_invariant_reads_is_pinned_for_a_person_to_check(
    live: LiveFunctions, source: Source, mutants: Mutants, bench: Bench
) -> None:
    mutant = mutant_of(mutants, "Drawer.give_back", "-=")
    explorer = Explorer(till.Till, target_modules=[till.__name__], workers=1, seed=1)
    traces = explorer.run(max_runs=30, max_time=600, shrink=False, record_traces=True).traces
    trace = max(traces, key=lambda each: len(each.steps))
    closed = Closing(live, source, mutant, till.Till, bench).pinned(trace, len(trace.taken_steps()))
    assert (closed.how, closed.steps, closed.failed, closed.passed) == ("pinned", 1, 10, 10)
    assert "        # The value of today's code: check that it is right.\n" in closed.test
    assert "assert machine.drawer.given_back == 1\n" in closed.test
