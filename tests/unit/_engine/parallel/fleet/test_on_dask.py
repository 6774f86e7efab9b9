"""Without Dask, the error says what to install."""

from __future__ import annotations

import sys

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


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    task = Task(fleet="f", test_class="m:A", seconds=1.0, path=())
    plan = FleetPlan(task=task, on="dask://host:1", members=1, store="dir:///s", options=FleetConfig())
    with pytest.raises(ConfigError, match="distributed") as caught:
        on_dask.launcher(plan)
    assert "pip install 'distributed'" in str(caught.value.hint)
