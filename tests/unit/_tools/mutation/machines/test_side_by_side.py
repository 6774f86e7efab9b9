"""A run on the original and on a mutant, beside each other."""

from __future__ import annotations

from pathlib import Path

from tests.unit._tools.mutation.machines import Mutants, mutant_of, till

from ordeal._engine.replay.loading import tape_of
from ordeal._tools.mutation.machines.bench import Bench
from ordeal._tools.mutation.machines.judge_process import Order
from ordeal._tools.mutation.machines.side_by_side import side_by_side
from ordeal._tools.mutation.machines.view_process import Viewer
from ordeal._tools.mutation.source import Source
from ordeal._tools.mutation.swap import LiveFunctions
from ordeal.explore import Explorer


def test_the_step_where_the_states_part_is_told(
    live: LiveFunctions, source: Source, mutants: Mutants, bench: Bench
) -> None:
    explorer = Explorer(till.Till, target_modules=[till.__name__], workers=1, seed=1)
    traces = explorer.run(max_runs=30, max_time=600, shrink=False, record_traces=True).traces
    trace = next(each for each in traces if any(step.name == "give_back" for step in each.taken_steps()))
    tape = tape_of(trace, bench.driver)
    view = side_by_side(bench, trace, tape, 3, live, source, mutant_of(mutants, "Drawer.give_back", "-="))
    names = ["", *(step.name for step in trace.taken_steps())]
    assert view.first == names.index("give_back")
    assert view.failure == ""
    step = view.steps[view.first]
    cents = trace.taken_steps()[view.first - 1].params["cents"]
    assert step.call == f"give_back(cents={cents})"
    assert ("drawer.given_back", str(cents)) in step.original.others
    assert ("drawer.given_back", str(-int(cents))) in step.mutant.others


def test_what_fails_on_the_mutant_is_told(source: Source, mutants: Mutants) -> None:
    files = [(str(Path(till.__file__)), source.shown)]
    mutant = mutant_of(mutants, "Drawer.put", "-=")
    order = Order(files, [mutant], [f"{till.__name__}:Till"], [till.__name__], 30, 20.0, 1, 1)
    view = Viewer(order).view()
    assert "AssertionError by invariant:coins_are_" in view.failure
    assert not view.steps[-1].mutant.is_there
