"""Has failing traces recorded for the viewer, each in a separate process.

This process runs no code of the user's: it sends the trace and takes texts, with limits of time and size.
"""

from __future__ import annotations

import msgspec

from ordeal._base.formatting import one_line
from ordeal._base.interpreter import answer_of
from ordeal._base.limits import GRACE_SECONDS
from ordeal._base.trace_file import Trace
from ordeal._engine.execution.bucket import ends_process
from ordeal._engine.execution.class_path import is_trusted
from ordeal._engine.trace_view.view import TraceView
from ordeal._engine.trace_view.watch import lanes_of

#: Seconds that the computation of likelihoods may take; the process may take that much longer with it.
LIKELIHOOD_SECONDS = 5.0


def record_view(trace: Trace, *, likelihood: bool = True) -> TraceView:
    """Return what a replay of ``trace`` showed, and with ``likelihood`` when its failure was decided."""
    failure = trace.failure
    if failure is None:
        return TraceView(reason="the trace does not fail")
    if trace.is_schedule:
        return TraceView(reason="a schedule of tasks has no steps", lanes=lanes_of(trace))
    if ends_process(failure.error_type, failure.bucket):
        return TraceView(reason="the failure ends its process")
    seconds = LIKELIHOOD_SECONDS if likelihood else 0.0
    request = {
        "trace": trace.to_request(),
        "trusted": is_trusted(trace.test_class),
        "targets": sorted(trace.targets),
        "likelihood_seconds": seconds,
    }
    module = "ordeal._engine.trace_view.child"
    try:
        answer = answer_of(module, request, seconds=GRACE_SECONDS + 2 * seconds)
        # The last whole line is the most complete answer: what follows it may have taken too long.
        lines = answer.split(b"\n")[:-1]
        if not lines:
            return TraceView(reason="its process ended without an answer")
        return msgspec.json.decode(lines[-1], type=TraceView)
    except (OSError, ValueError, RecursionError) as error:
        return TraceView(reason=f"it could not be recorded: {one_line(str(error))}")
