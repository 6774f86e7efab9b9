"""Without Dask, the error says what to install."""

from __future__ import annotations

import pickle
import sys
from types import ModuleType

import pytest
from tests.unit._engine.parallel.fleet.plans import SECRET_STORE, plan_on

from ordeal._engine.parallel.fleet import on_dask
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
    launcher = on_dask.DaskLauncher(plan_on("dask://h:1", SECRET_STORE))
    launcher._client = scheduler = Scheduler()
    launcher.start(launcher.plan.task, 0, 1)
    assert "redis://host:6379/0" in scheduler.logged
    assert "sesame" not in scheduler.logged


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match="distributed") as caught:
        on_dask.DaskLauncher(plan_on("dask://host:1"))
    assert "pip install 'distributed'" in str(caught.value.hint)
