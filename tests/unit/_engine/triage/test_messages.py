"""What a job of triage tells arrives as it was, whatever characters are in it."""

from __future__ import annotations

from ordeal._engine.triage.messages import pack_failure, unpack_failure
from ordeal.result import Failure
from ordeal.trace import Trace, TraceFailure, TraceStep


def test_a_failure_keeps_its_trace_whatever_it_holds() -> None:
    trace = Trace(
        run_id=1,
        seed=42,
        test_class="a:B",
        steps=[TraceStep("rule", "add", choices={"by": [2**100, 10**400, float("nan"), b"\xff", "\ud800"]})],
        failure=TraceFailure("ValueError", "half a pair: \ud800", 1, "bucket"),
    )
    failure = Failure(
        error=ValueError("half a pair: \ud800"), step=1, run_id=1, active_faults=[], rule_log=[], trace=trace
    )
    told = unpack_failure(pack_failure(failure))
    assert told.trace is not None
    assert told.trace.to_json() == trace.to_json()
    assert str(told.error) == "half a pair: \\ud800"
