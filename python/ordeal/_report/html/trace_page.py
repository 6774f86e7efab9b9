"""The page of one saved failure: from its trace, and what was recorded when it ran again."""

from __future__ import annotations

from typing import Any

from ordeal._base.trace_file import Trace
from ordeal._engine.trace_view.view import TraceView
from ordeal._report.html.finding import finding_values
from ordeal._report.html.page import render
from ordeal.result.failure import failure_id


def render_trace(trace: Trace, view: TraceView, path: str) -> str:
    """Return the page of a trace that fails; ``path`` is where it is saved."""
    failure = finding_values(_row(trace, view, path), view, number=1, replayed=frozenset([path]))
    facts = [f"random seed {trace.seed}", *(f"{name} {version}" for name, version in trace.versions.items())]
    title = f"{failure['error']} - ordeal"
    return render("trace.html", {"title": title, "finding": failure, "facts": facts, "test_class": trace.test_class})


def _row(trace: Trace, view: TraceView, path: str) -> dict[str, Any]:
    """Return the failure as the report would have it, as far as a trace tells."""
    assert trace.failure is not None
    bucket = trace.failure.bucket
    return {
        "id": failure_id(bucket),
        "error_type": trace.failure.error_type,
        "error_message": trace.failure.error_message,
        "run_id": trace.run_id,
        "bucket": bucket,
        "place": None,
        "count": 0,
        "flaky": False,
        "shrunk": True,
        "active_faults": view.steps[-1].faults_on if view.steps else [],
        "necessary_faults": None,
        "trace_steps": len(trace.taken_steps()),
        "trace_path": path,
        "seed_path": path,
        "program": "\n".join(trace.program),
    }
