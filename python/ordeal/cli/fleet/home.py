"""The process that takes what a fleet finds home while the fleet goes on: confirms each failure here and shrinks it.

It reads its orders from stdin, writes a line for each failure to stdout, and ends when stdin does. A launcher has
threads of other libraries, which would not live on in the processes that replay.
"""

from __future__ import annotations

import json
import os
import select
import sys
from tempfile import TemporaryDirectory
from typing import IO

from ordeal._base.formatting import describe_error
from ordeal._engine.execution.machine import MachineFactory
from ordeal._engine.parallel.fleet.home import saved
from ordeal._engine.parallel.fleet.plan import MemberTask
from ordeal._engine.seed_corpus.corpus import SeedCorpus
from ordeal.cli.fleet.member import prepared, shared_namespace
from ordeal.errors import OrdealError
from ordeal.explore import Explorer
from ordeal.result import Failure
from ordeal.store import FailureReport, Outgoing, Store, open_store

LOOK_SECONDS = 0.5


class _Home:
    """What this process knows: the failures that it has looked at, by bucket."""

    def __init__(self, task: MemberTask, store: Store, machine: MachineFactory, corpus: SeedCorpus) -> None:
        self._task = task
        self._store = store
        self._machine = machine
        self._corpus = corpus
        self._looked_at: set[str] = set()
        self._told: set[str] = set()

    def take(self, stream: IO[str]) -> None:
        """Confirm, shrink, save and publish what is new, and tell of it."""
        reports = [each for each in self._store.failures() if each.trace and each.bucket not in self._looked_at]
        for report in reports:
            self._looked_at.add(report.bucket)
            for failure in self._confirmed(report):
                self._keep(failure)
                if failure.bucket not in self._told:
                    self._told.add(failure.bucket)
                    stream.write(f"{json.dumps(_described(failure))}\n")
                    stream.flush()

    def _confirmed(self, report: FailureReport) -> list[Failure]:
        with TemporaryDirectory(prefix="ordeal-home-") as folder:
            if not saved([report], {self._task.test_class}, SeedCorpus(folder))[0]:
                return []
            # The seed is what counts; a search runs at least once.
            here = self._task.options(workers=1, isolate=True, corpus_dir=folder, max_runs=1, max_time=1.0)
            result = Explorer.of(self._machine, here).explore()
        return [each for each in result.failures if each.trace is not None and not each.flaky]

    def _keep(self, failure: Failure) -> None:
        assert failure.trace is not None
        self._corpus.save(failure.trace)
        # Members have counted it.
        report = FailureReport(failure.bucket, failure.trace.to_json(), _steps(failure), 0, failure.shrunk)
        self._store.sync(Outgoing(failures=(report,)), max_entries=0)


def _described(failure: Failure) -> dict[str, object]:
    error = describe_error(failure.error)
    return {"id": failure.id, "bucket": failure.bucket, "error": error, "steps": _steps(failure)}


def _steps(failure: Failure) -> int:
    return 0 if failure.trace is None else len(failure.trace.taken_steps())


def main() -> int:
    """Take failures home until stdin ends."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What the program under test prints is nothing that the launcher reads.
    os.dup2(2, 1)
    given = json.loads(sys.stdin.readline())
    task = MemberTask.from_json(given["task"])
    try:
        machine, explorer = prepared(task)
        with open_store(given["store"], shared_namespace(machine, explorer)) as store:
            home = _Home(task, store, machine, SeedCorpus(given["corpus"]))
            while not select.select([sys.stdin], [], [], LOOK_SECONDS)[0]:
                home.take(stream)
    except OrdealError:
        # The launcher takes everything home at the end, and says then what is wrong.
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
