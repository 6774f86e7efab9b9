"""Makes one result of a whole fleet: the failures as confirmed here, the figures of all members."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from ordeal._base.formatting import counted
from ordeal._engine.parallel.fleet.fleet import FleetOutcome
from ordeal.result import ExplorationResult
from ordeal.result.parts import Note


def fleet_result(
    result: ExplorationResult,
    outcome: FleetOutcome,
    edges: int,
    wrong: list[str],
    *,
    kept: bool,
    seeds: Collection[str] = (),
) -> ExplorationResult:
    """Return ``result``, which confirmed the failures, with the figures of the fleet and ``edges`` of its store.

    ``wrong`` is what was refused on the way, and ``seeds`` are the files that were there before. Without ``kept``, they
    are gone by now, and nothing names them.
    """
    told = f"Explored by a fleet of {counted(outcome.members, 'member')}"
    told += f", of which {outcome.lost} {'was' if outcome.lost == 1 else 'were'} lost." if outcome.lost else "."
    if outcome.left:
        told += " They go on: `ordeal fleet status` shows how."
    refused = [f"Not brought home: {each}." for each in wrong]
    if outcome.trouble:
        told += f" It was ended before its time: {outcome.trouble.rstrip('.')}."
    remarks = {use.remark() for use in result.faults}
    failures = result.failures
    if not kept:
        failures = [dataclasses.replace(each, seed_path=None) for each in failures]
    return dataclasses.replace(
        result,
        failures=failures,
        total_runs=outcome.runs,
        total_steps=outcome.steps,
        unique_edges=edges,
        duration_seconds=outcome.seconds,
        stopped_reason="interrupted" if outcome.interrupted else outcome.stopped,
        # What follows is of the one run here, which says nothing of the members'.
        discovery=None,
        coverage_gaps=[],
        lines_covered=0,
        lines_total=0,
        missed_lines={},
        covered_lines={},
        run_kinds={},
        faults=[],
        rules=[],
        checkpoints=None,
        inconclusive=None,
        seed_replays=[each for each in result.seed_replays if each.path in seeds],
        notes=(*(each for each in result.notes if each not in remarks), *map(Note, [told, *outcome.notes, *refused])),
    )
