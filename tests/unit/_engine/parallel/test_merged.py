"""What several workers know together does not depend on who told it first."""

from __future__ import annotations

import itertools

import ordeal._native as _native
from ordeal._engine.parallel.merged import MergedProgress
from ordeal._engine.parallel.messages import WorkerReport
from ordeal._engine.replay.trace_builder import Provenance
from ordeal._engine.triage.findings import Finding
from ordeal.result import WorkerProgress

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


def test_a_worker_is_all_its_processes() -> None:
    union = MergedProgress(NAMES)
    for runs in (4, 6):
        report = WorkerReport()
        report.tally.update(runs=runs, steps=10 * runs)
        union.report(1, report)
        if runs == 4:
            union.end_report(1, 5, 50, "")
    assert union.by_worker(2) == (WorkerProgress(0, 0, 0), WorkerProgress(11, 110, 1))
