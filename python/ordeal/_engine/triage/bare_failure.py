"""Makes a failure of which only the tape is known."""

from __future__ import annotations

from ordeal._base.trace_file import Trace, TraceFailure
from ordeal._engine.replay.crash_replayer import bare_steps
from ordeal._engine.triage.findings import Finding
from ordeal._engine.triage.setup import ReplaySetup
from ordeal.result import Failure


def bare_failure(setup: ReplaySetup, finding: Finding) -> Failure:
    """Return a failure of which only the tape is known, because its process died before recording it."""
    steps = bare_steps(setup.driver, finding.tape)
    trace = Trace(
        run_id=finding.origin.run_id,
        seed=setup.settings.seed,
        test_class=setup.settings.test_class,
        steps=steps,
        failure=TraceFailure.of(finding.error, len(steps), finding.bucket),
        rule_timeout=setup.settings.rule_timeout,
        max_memory=setup.settings.max_memory,
    )
    return Failure(
        error=finding.error,
        step=len(steps),
        run_id=finding.origin.run_id,
        active_faults=steps[-1].active_faults if steps else [],
        rule_log=[step.name for step in steps],
        trace=trace,
        error_traceback=finding.error_traceback,
        bucket=finding.bucket,
        broken_by=finding.broken_by,
        flaky=finding.flaky,
    )
