"""Results of explorations and failures; a test says only what it is about."""

from __future__ import annotations

from typing import Any

from ordeal._base.trace_file import Trace, TraceStep
from ordeal.result import ExplorationResult, Failure

SERVICE = "tests.test_chaos:MyServiceChaos"


def make_failure(error: BaseException, *steps: str, **changes: Any) -> Failure:
    values: dict[str, Any] = {
        "step": len(steps),
        "run_id": 42,
        "active_faults": [],
        "rule_log": list(steps),
        "trace": Trace(1, 42, SERVICE, steps=[TraceStep("rule", name) for name in steps]),
        "shrunk": True,
    }
    return Failure(error=error, **values | changes)


def make_result(*failures: Failure, **changes: Any) -> ExplorationResult:
    values: dict[str, Any] = {
        "test_class": SERVICE,
        "rng_seed": 42,
        "total_runs": 58320,
        "total_steps": 1482010,
        "unique_edges": 47,
        "checkpoints_saved": 31,
        "duration_seconds": 300.0,
        "failures": list(failures),
    }
    return ExplorationResult(**values | changes)
