"""A fleet with scripted members: lost ones are started again, and what nobody could explore is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ordeal._engine.parallel.fleet.board import BoardError, member_key, open_board
from ordeal._engine.parallel.fleet.fleet import Fleet
from ordeal._engine.parallel.fleet.launcher import FleetError, Launcher
from ordeal._engine.parallel.fleet.plan import FleetPlan, Task
from ordeal.config.fleet_options import FleetConfig


class Scripted(Launcher):
    """Members that end at once, each attempt with the next record."""

    restarts = True

    def __init__(self, store: str, *records: dict[str, Any]) -> None:
        self.board = open_board(store, "f")
        self.records = list(records)
        self.closed = False

    def open(self) -> None:
        pass

    def start(self, task: Task, number: int, attempt: int) -> None:
        del task
        self.board.put(member_key(number), {"attempt": attempt, **self.records.pop(0)})

    def running(self) -> set[int]:
        return set()

    def close(self, *, leave: bool, seconds: float = 60.0) -> None:
        self.closed = not leave
        self.seconds = seconds


def plan_in(folder: Path) -> FleetPlan:
    task = Task(fleet="f", test_class="m:A", seconds=60.0, path=())
    return FleetPlan(task=task, on="local:1", members=1, store=f"dir://{folder}", options=FleetConfig())


def test_a_lost_member_is_started_again_and_its_runs_count(tmp_path: Path) -> None:
    lost, done = {"state": "lost", "runs": 5, "steps": 9}, {"state": "ended", "runs": 2, "steps": 3}
    launcher = Scripted(f"dir://{tmp_path}", lost, done)
    outcome = Fleet(plan_in(tmp_path), launcher=launcher).run()
    assert (outcome.runs, outcome.steps, outcome.lost) == (7, 12, 1)
    assert "started again" in outcome.notes[0]
    assert launcher.closed


@pytest.mark.parametrize(("said", "told"), [("max_runs", "max_runs"), ("time", "time"), ("what they like", "time")])
def test_why_the_members_ended_is_what_they_all_say(said: str, told: str, tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended", "stopped": said})
    assert Fleet(plan_in(tmp_path), launcher=launcher).run().stopped == told


def test_what_no_member_could_explore_is_an_error(tmp_path: Path) -> None:
    failed = {"state": "failed", "error": "no module named shop", "hint": "install it"}
    with pytest.raises(FleetError, match="no module named shop") as caught:
        Fleet(plan_in(tmp_path), launcher=Scripted(f"dir://{tmp_path}", failed)).run()
    assert caught.value.hint == "install it"


def test_what_is_missing_where_members_run_is_to_be_installed_there(tmp_path: Path) -> None:
    said = {
        "state": "failed",
        "error": "importing `shop` raised ModuleNotFoundError: x",
        "hint": "look",
        "host": "node7",
    }
    with pytest.raises(FleetError, match="ModuleNotFoundError: x") as caught:
        Fleet(plan_in(tmp_path), launcher=Scripted(f"dir://{tmp_path}", said)).run()
    assert caught.value.hint == "install what is missing where the members run, as on node7; there look"


def test_why_no_member_started_is_said(tmp_path: Path) -> None:
    class Silent(Scripted):
        def start(self, task: Task, number: int, attempt: int) -> None:
            self.trouble = "No module named 'ordeal'"

    with pytest.raises(FleetError, match=r"none of 1 member reached the store: No module named 'ordeal'"):
        Fleet(plan_in(tmp_path), launcher=Silent(f"dir://{tmp_path}")).run()


def test_files_that_were_not_sent_are_named(tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended"})
    launcher.left_out = (".env", "deploy/id_rsa")
    outcome = Fleet(plan_in(tmp_path), launcher=launcher).run()
    assert "Not sent to the members, as they may hold secrets: .env, deploy/id_rsa." in outcome.notes


def test_a_store_that_fills_up_ends_the_fleet_and_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Running(Scripted):
        def running(self) -> set[int]:
            return {0}

    monkeypatch.setattr("ordeal._engine.parallel.fleet.fleet.FULL_SECONDS", 0.0)
    monkeypatch.setattr("ordeal._engine.parallel.fleet.fleet.BEAT_SECONDS", 0.0)
    launcher = Running(f"dir://{tmp_path}", {"state": "running", "runs": 5})
    fleet = Fleet(plan_in(tmp_path), launcher=launcher)

    def fill(*_: object) -> None:
        if launcher.records == []:
            monkeypatch.setattr(fleet._board, "put", full)

    def full(*_: object) -> None:
        raise BoardError("no space left")

    fleet._progress = fill
    outcome = fleet.run()
    assert outcome.trouble == "the store cannot be written any more: no space left"
    assert outcome.runs == 5
    assert launcher.seconds < 10
    assert "launcher" not in launcher.board.all()


def test_a_name_is_taken_while_members_go_on_without_their_launcher(tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended"})
    launcher.board.put(member_key(1), {"state": "running"})
    path = tmp_path / "fleets/f/launcher.json"
    path.write_text(json.dumps({"state": "left", "host": "night", "at": 1.0}))
    with pytest.raises(FleetError, match="runs already, started on night"):
        Fleet(plan_in(tmp_path), launcher=launcher).run()
    launcher.board.put(member_key(1), {"state": "ended"})
    Fleet(plan_in(tmp_path), launcher=launcher).run()
    # What is left of the former fleet would pass for members of this one that were lost.
    assert launcher.board.all().keys() == {"launcher", member_key(0)}


def test_two_fleets_have_two_names(tmp_path: Path) -> None:
    open_board(f"dir://{tmp_path}", "f").put("launcher", {"state": "running", "host": "elsewhere"})
    with pytest.raises(FleetError, match="runs already, started on elsewhere"):
        Fleet(plan_in(tmp_path), launcher=Scripted(f"dir://{tmp_path}")).run()


def test_of_two_fleets_that_take_a_name_at_once_the_later_one_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = open_board(f"dir://{tmp_path}", "f")

    class Late(Scripted):
        def open(self) -> None:
            self.board = board

    launcher = Late(f"dir://{tmp_path}")
    fleet = Fleet(plan_in(tmp_path), launcher=launcher)
    written = {"state": "running", "host": "elsewhere"}
    monkeypatch.setattr(fleet, "_say", lambda _state, **_options: board.put("launcher", written))
    with pytest.raises(FleetError, match="at the same moment"):
        fleet.run()
    assert launcher.closed


def test_a_cluster_that_cannot_be_used_leaves_the_name_free(tmp_path: Path) -> None:
    class Broken(Scripted):
        def open(self) -> None:
            raise FleetError("no cluster answers")

    launcher = Broken(f"dir://{tmp_path}")
    with pytest.raises(FleetError, match="no cluster answers"):
        Fleet(plan_in(tmp_path), launcher=launcher).run()
    assert launcher.board.all() == {}
    assert launcher.closed
    assert Fleet(plan_in(tmp_path), launcher=Scripted(f"dir://{tmp_path}", {"state": "ended"})).run().members == 1


def test_a_second_interruption_waits_for_nothing(tmp_path: Path) -> None:
    class Interrupted(Scripted):
        def running(self) -> set[int]:
            raise KeyboardInterrupt

        def close(self, *, leave: bool, seconds: float = 60.0) -> None:
            raise KeyboardInterrupt

    class Waiting:
        waited: float | None = None

        def close(self, *, seconds: float) -> None:
            self.waited = seconds

    fleet = Fleet(plan_in(tmp_path), launcher=Interrupted(f"dir://{tmp_path}", {"state": "running"}))
    fleet._arrivals = arrivals = Waiting()  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        fleet.run()
    assert arrivals.waited == 0.0
