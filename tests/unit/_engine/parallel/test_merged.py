"""What several workers know together does not depend on who told it first."""

from __future__ import annotations

import itertools

import ordeal._native as _native
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.search.result_builder import SearchReport
from ordeal._engine.storage.state_file import Provenance
from ordeal._engine.triage.findings import Finding

NAMES: _native.MachineNames = (["put"], [], [], [])


def finding(run: int, steps: int) -> Finding:
    tape = _native.Tape.from_steps((0, 0, number, []) for number in range(steps))
    return Finding("the bucket", tape, Provenance(run, 0, None, 0), ValueError(f"of run {run}"))


def test_of_one_bucket_the_shortest_run_is_reported_and_of_these_the_earliest() -> None:
    for order in itertools.permutations([(7, 2), (3, 9), (5, 2)]):
        union = MergedProgress(NAMES)
        assert [union.add_finding(finding(*each)) for each in order] == [True, False, False]
        (kept,) = union.findings.values()
        assert (kept.origin.run_id, len(kept.tape), str(kept.error)) == (5, 2, "of run 5")


def tally(name: str, hits: int, passes: int) -> dict[str, str | int | float | bool | None]:
    return {"name": name, "type": "sometimes", "hits": hits, "passes": passes, "failures": hits - passes}


def report(
    runs: int, *, line: int, kind: str = "copy", bucket: str = "A", note: str = "", passes: int = 0
) -> SearchReport:
    return SearchReport(
        tally={"runs": runs, "steps": 10 * runs},
        notes=[note] if note else [],
        snapshot_kind=kind,  # type: ignore[arg-type]
        checkpoints=3,
        checkpoints_saved=2,
        swarm={"a": runs},
        run_kinds={"starts": {"fresh": runs}},
        counts={bucket: 1},
        properties={"properties": [tally("it happens", runs, passes)], "cells": []},
        lines={"shop.py": [line]},
        discovery=None,
    )


def test_processes_that_ended_are_counted_together() -> None:
    known = MergedProgress(NAMES)
    for number in range(1, 101):
        known.report(0, report(number, line=number % 3, bucket="AB"[number % 2], note=f"note {number % 2}"))
        known.end_report(0, number, 10 * number, "")
    known.report(0, report(5, line=7, kind="fork", passes=1))
    totals = known.totals()
    assert totals.tally.runs == 5050 + 5
    assert totals.tally.steps == 10 * totals.tally.runs
    assert set(totals.tally.notes) == {"note 0", "note 1"}
    assert totals.report.lines == {"shop.py": [0, 1, 2, 7]}
    assert totals.report.swarm == {"a": 5055}
    assert totals.report.run_kinds == {"starts": {"fresh": 5055}}
    assert totals.report.checkpoints_saved == 202
    assert known.counts() == {"A": 51, "B": 50}
