"""Plans of fleets: who is told what, and which options contradict each other."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

import pytest

from ordeal._engine.parallel.fleet.plan import FleetPlan, MemberTask, make_plan, named_store
from ordeal.config.options import ExplorationOptions
from ordeal.errors import ConfigError

RUN: dict[str, Any] = {
    "max_time": 9.0,
    "max_runs": 10,
    "steps_per_run": 50,
    "shrink": True,
    "max_shrink_time": 30.0,
    "patience": 0,
}


def plan_of(environment: dict[str, str] | None = None, run: dict[str, Any] | None = None, **options: Any) -> FleetPlan:
    given = ExplorationOptions(**options | RUN | (run or {}))
    return make_plan("m:A", given, environment=environment or {})


def test_a_task_is_the_same_after_the_way_as_text() -> None:
    task = plan_of(on="local:4", workers=2).task
    assert MemberTask.from_json(task.to_json()).init["workers"] == 2
    assert MemberTask.from_json(task.to_json()).run["max_runs"] == 3  # ten runs among four


def test_the_store_comes_from_the_environment_and_is_never_shown() -> None:
    plan = plan_of({"ORDEAL_STORE": "redis://:sesame@host/0"}, on="slurm", members=3)
    assert plan.store == "redis://:sesame@host/0"
    assert "sesame" not in repr(plan) + plan.task.to_json()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"on": "ray://h:1"}, "needs a store"),
        ({"on": "local:0"}, "no members"),
        ({"on": "local:2", "members": 3}, "contradict"),
        ({"on": "kubernetes", "store": "redis://h/0"}, "needs an image"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        plan_of(**options)
    assert caught.value.hint


def test_a_fleet_saves_no_state() -> None:
    with pytest.raises(ConfigError, match="--resume"):
        plan_of(run={"resume_from": "x"}, on="local:2")


def test_the_store_of_this_folder_is_meant_when_no_other_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert named_store(None, environment={}) is None
    (tmp_path / ".ordeal/store").mkdir(parents=True)
    assert named_store(None, environment={}) == "dir://.ordeal/store"
    assert named_store(None, "dir://set", environment={}) == "dir://set"
    assert named_store(None, "dir://set", environment={"ORDEAL_STORE": "dir://own"}) == "dir://own"
    assert named_store("dir://given", "dir://set", environment={"ORDEAL_STORE": "dir://own"}) == "dir://given"


def test_members_import_from_the_folders_of_the_project_that_are_searched_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for each in (here / "src", there / "src"):
        each.mkdir(parents=True)
    monkeypatch.chdir(here)
    searched = [str(here), str(here / "src"), str(here / "env/lib/site-packages"), "src", str(tmp_path)]
    monkeypatch.setattr("sys.path", searched)
    task = plan_of(on="ray://head:1", store="dir://s").task
    assert task.search == ("src",)
    monkeypatch.chdir(there)
    monkeypatch.setattr("sys.path", ["/usr/lib"])
    dataclasses.replace(MemberTask.from_json(task.to_json()), path=(str(tmp_path / "none"),)).enter()
    assert sys.path == [str(there), str(there / "src"), "/usr/lib"]
    MemberTask.from_json(task.to_json()).enter()
    assert Path.cwd() == here
