"""The bounded queue of the examples: weights find its bug, equal rules do not, and nothing is left once repaired.

In fixed shares of runs: the adaptive policy leaves rules out by itself when that brings something.
"""

from pathlib import Path

import pytest

from ordeal.explore import Explorer, Tuning

from .conftest import EXAMPLES, changed, imported

PROJECT = EXAMPLES / "bounded_queue"
REPAIR = (
    "        if len(self) >= self._capacity:\n            raise QueueFullError\n        self._jobs.appendleft(job)\n"
)


@pytest.mark.parametrize(("swarm", "repaired"), [("sizes", False), ("sizes", True), (False, False)])
def test_only_weights_fill_the_queue(swarm: str | bool, repaired: bool, tmp_path: Path) -> None:
    forgets = "        self._jobs.appendleft(job)\n"
    changed(PROJECT / "work_queue.py", [(forgets, REPAIR if repaired else forgets)], tmp_path)
    with imported(PROJECT / "test_work_queue_chaos.py", path=[tmp_path], modules={"work_queue"}) as module:
        machine = type("Machine", (module.WorkQueueChaos,), {"swarm": swarm})
        failures = (
            Explorer(machine, target_modules=["work_queue"], tuning=Tuning(swarm_policy="classic"))
            .run(max_runs=400, max_time=600.0)
            .failures
        )
    assert bool(failures) == (swarm == "sizes" and not repaired)
