"""Plans of fleets for tests of launchers."""

from __future__ import annotations

from typing import Any

from ordeal._engine.parallel.fleet.plan import FleetPlan, MemberTask
from ordeal.config.options import FleetConfig

PASSWORD = "sesame"
SECRET_STORE = f"redis://:{PASSWORD}@host:6379/0"


def plan_on(
    on: str, store: str = "dir:///s", *, members: int = 1, test_class: str = "m:A", path: str = "", **options: Any
) -> FleetPlan:
    """Return a plan for members somewhere. Its name is `f`."""
    task = MemberTask(fleet="f", test_class=test_class, seconds=60.0, path=(path,) if path else ())
    return FleetPlan(task=task, on=on, members=members, store=store, options=FleetConfig(**options))
