"""What the process at home says is read, whatever it says."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ordeal._engine.parallel.fleet import arrivals
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal.config.fleet_options import FleetConfig

SCRIPT = """
import json, sys
given = json.loads(sys.stdin.readline())
said = {"id": given["store"], "bucket": "b", "error": "KeyError", "steps": 3}
print("no JSON", "[1]", "{}", json.dumps(said), sep="\\n", flush=True)
sys.stdin.read()
"""


def test_lines_that_describe_a_failure_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "said_at_home.py").write_text(SCRIPT)
    monkeypatch.setattr(arrivals, "HOME_MODULE", "said_at_home")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    task = Task(fleet="f", test_class="m:A", seconds=60.0, path=())
    plan = FleetPlan(task=task, on="local:1", members=1, store="dir://here", options=FleetConfig())
    found = arrivals.Arrivals(plan, tmp_path / "seeds")
    while not found.found:
        found.look()
        time.sleep(0.01)
    found.close()
    (failure,) = found.found
    assert (failure.id, failure.error, failure.steps) == ("dir://here", "KeyError", 3)
