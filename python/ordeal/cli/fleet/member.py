"""The process of a member that explores: reads its task from stdin, and writes how it goes to stdout, a line each.

Neither the command line nor the environment holds the address of the store, which may have a password.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from ordeal._base import interrupts
from ordeal._base.formatting import describe_error, one_line
from ordeal._base.limits import REPORT_SECONDS
from ordeal._engine.execution.class_path import load_class, trust
from ordeal._engine.execution.machine import make_driver
from ordeal._engine.parallel.fleet.agent import STORE_SECONDS
from ordeal._engine.parallel.fleet.board import when_back
from ordeal._engine.parallel.fleet.plan import MemberTask
from ordeal._engine.parallel.store_client import digest_of, namespace_of
from ordeal.errors import WRONG_USE, OrdealError
from ordeal.explore import Explorer
from ordeal.result import ExplorationResult, ProgressSnapshot, ShrinkSnapshot


class _Teller:
    """Writes lines for the agent, on the stream that was stdout."""

    def __init__(self) -> None:
        # What the program under test prints goes to the log.
        self._stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._due = 0.0

    def tell(self, **record: Any) -> None:
        """Write a line. When the agent is gone, this process has no reason to go on."""
        try:
            self._stream.write(f"{json.dumps(record)}\n")
            self._stream.flush()
        except BrokenPipeError:
            os._exit(3)

    def progress(self, snapshot: ProgressSnapshot) -> None:
        """Tell of the progress, now and then."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + REPORT_SECONDS
            self.tell(
                state="running",
                runs=snapshot.total_runs,
                steps=snapshot.total_steps,
                edges=snapshot.unique_edges,
                failures=snapshot.failures,
                rate=snapshot.runs_per_second,
                finding=one_line(snapshot.found[-1].error, limit=200) if snapshot.found else "",
            )

    def shrinking(self, snapshot: ShrinkSnapshot) -> None:
        """Tell how many candidates were tried, now and then."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + REPORT_SECONDS
            self.tell(candidates=snapshot.candidates)


def main() -> int:
    """Explore as stdin says."""
    # The agent sends SIGINT. A scheduler that ends a job signals all of its processes: this one reports what it found.
    interrupts.heed()
    given = json.load(sys.stdin)
    task, store = MemberTask.from_json(given["task"]), given["store"]
    teller = _Teller()
    try:
        deadline = time.monotonic() + task.seconds
        task.enter()
        trust(task.test_class)
        machine = load_class(task.test_class)
        explorer = Explorer.of(machine, task.options())
        # Members that explore the same code meet in one namespace of the store.
        cls = make_driver(machine, None).definition.cls
        namespace = namespace_of(cls, explorer.targets, instrumentation=explorer.options.coverage)
        teller.tell(state="starting", code=digest_of(namespace))

        def explored() -> ExplorationResult:
            left = max(1.0, deadline - time.monotonic())
            here = task.options(isolate=True, store=store, max_time=left)
            return Explorer.of(machine, here).explore(teller.progress, teller.shrinking)

        # It joins the store first, which may be away just then.
        result = when_back(explored, min(task.seconds, STORE_SECONDS))
    except OrdealError as error:
        teller.tell(state="failed", error=one_line(error.message), hint=one_line(error.hint or ""))
        return WRONG_USE
    except KeyboardInterrupt:
        teller.tell(state="ended", stopped="interrupted")
        return 0
    except Exception as error:
        teller.tell(state="failed", error=one_line(describe_error(error)), hint="see the log of the member")
        raise
    teller.tell(
        state="ended",
        stopped=result.stopped_reason,
        runs=result.total_runs,
        steps=result.total_steps,
        edges=result.unique_edges,
        failures=len(result.failures),
        note=one_line("; ".join(map(str, result.notes)), limit=500),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
