"""Without Dask, the error says what to install."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType

import pytest

from ordeal._engine.parallel.fleet import on_dask
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal.config.fleet_options import FleetConfig
from ordeal.errors import ConfigError


def test_what_was_wrong_at_first_is_said() -> None:
    error = RuntimeError("Error during deserialization.\n\nSee https://...")
    assert on_dask.innermost(error) == "RuntimeError: Error during deserialization."
    error.__cause__ = ModuleNotFoundError("No module named 'ordeal'")
    assert on_dask.innermost(error) == "ModuleNotFoundError: No module named 'ordeal'"


class Scheduler:
    """Takes tasks, and keeps what a worker's log would show of one that fails: its arguments."""

    def __init__(self) -> None:
        self.logged = ""

    def scheduler_info(self, **_: object) -> dict[str, list[str]]:
        return {"workers": ["tcp://w:1"]}

    def submit(self, *arguments: object, **options: object) -> None:
        self.logged += repr(pickle.loads(pickle.dumps(arguments))) + repr(options)


def test_no_log_of_a_worker_shows_the_password_of_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", ModuleType("distributed"))
    task = Task(fleet="f", test_class="m:A", seconds=1.0, path=())
    store = "redis://:sesame@host:6379/0"
    launcher = on_dask.launcher(FleetPlan(task=task, on="dask://h:1", members=1, store=store, options=FleetConfig()))
    launcher._client = scheduler = Scheduler()
    launcher.start(task, 0, 1)
    assert "redis://host:6379/0" in scheduler.logged
    assert "sesame" not in scheduler.logged


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    task = Task(fleet="f", test_class="m:A", seconds=1.0, path=())
    plan = FleetPlan(task=task, on="dask://host:1", members=1, store="dir:///s", options=FleetConfig())
    with pytest.raises(ConfigError, match="distributed") as caught:
        on_dask.launcher(plan)
    assert "pip install 'distributed'" in str(caught.value.hint)
