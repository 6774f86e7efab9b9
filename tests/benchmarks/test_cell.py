"""A cell of the bug suite, run as the suite runs it: what is found, what is false, and when it ends."""

import argparse
from pathlib import Path

import pytest
from bugs.catalog import target_named
from bugs.environments import Engine, engine_named
from bugs_suite import cells, run_cell, search
from harness.cells import said_by

DEPTH = target_named("syn_depth")
FAULTS = target_named("syn_two_faults")


@pytest.mark.slow
def test_ordeal_finds_a_planted_bug() -> None:
    result = run_cell(engine_named("ordeal"), FAULTS, 1, 60.0, repaired=False)
    assert result.found, result.note
    assert result.note == "AssertionError: a write that was acknowledged is lost"
    assert result.length > 0
    assert result.false_failures == 0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["ordeal", "Hypothesis"])
def test_nothing_is_found_where_it_is_repaired(engine: str) -> None:
    result = run_cell(engine_named(engine), FAULTS, 1, 0.5, repaired=True)
    assert not result.broken, result.note
    assert not result.found
    assert result.calls > 0
    assert result.cpu_s >= 0.5


@pytest.mark.slow
def test_a_cell_that_breaks_says_so(tmp_path: Path) -> None:
    broken = Engine("broken", "ordeal", Path("/bin/false"), "ordeal")
    result = run_cell(broken, DEPTH, 1, 1.0, repaired=False)
    assert result.broken
    assert not result.found


def test_engines_take_turns_on_each_seed() -> None:
    engines = [engine_named("ordeal"), engine_named("Hypothesis")]
    order = [(engine.name, rng_seed) for engine, _, rng_seed in cells(engines, [DEPTH], 2)]
    assert order == [("ordeal", 1), ("Hypothesis", 1), ("Hypothesis", 2), ("ordeal", 2)]


@pytest.mark.slow
def test_cells_in_the_file_are_not_run_again(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    options = argparse.Namespace(seeds=1, seconds=0.2, repaired=True)
    first = search([engine_named("ordeal")], [DEPTH], options, path)
    assert search([Engine("ordeal", "ordeal", Path("/bin/false"), "ordeal")], [DEPTH], options, path) == first


@pytest.mark.slow
def test_rule_calls_are_the_same_each_time_and_never_more_than_the_limit() -> None:
    engine = engine_named("ordeal")
    arguments = ["--engine", engine.module, "--target", FAULTS.name, "--seeds", "2", "--steps", "300"]
    calls = [said_by(engine.python, "bugs.steps", *arguments, limit_s=60.0)["calls"] for _ in range(2)]
    assert calls[0] == calls[1]
    assert isinstance(calls[0], list)
    assert len(calls[0]) == 2
    assert max(calls[0]) <= 300
