"""Without Ray, the error says what to install."""

from __future__ import annotations

import sys

import pytest

from ordeal._engine.parallel.fleet import on_ray
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal.config.fleet_options import FleetConfig
from ordeal.errors import ConfigError


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    task = Task(fleet="f", test_class="m:A", seconds=1.0, path=())
    plan = FleetPlan(task=task, on="ray://host:1", members=1, store="dir:///s", options=FleetConfig())
    with pytest.raises(ConfigError, match="ray") as caught:
        on_ray.launcher(plan)
    assert "pip install ray" in str(caught.value.hint)
