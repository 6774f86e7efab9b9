"""A fleet with scripted members: lost ones are started again, and what nobody could explore is an error."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit._engine.parallel.fleet.plans import plan_on

from ordeal._engine.parallel.fleet import fleet
from ordeal._engine.parallel.fleet.board import Board, member_key
from ordeal._engine.parallel.fleet.fleet import FleetOutcome, RunningFleet, fleet_result
from ordeal._engine.parallel.fleet.launcher import FleetError, Launcher
from ordeal._engine.parallel.fleet.plan import FleetPlan
from ordeal.result import FaultUse, SeedOutcome, SeedStatus

from ....samples.results import make_result


class Scripted(Launcher):
    """Members that end at once, each attempt with the next record; None never reaches the store."""

    def __init__(self, store: str, *records: dict[str, Any] | None) -> None:
        super().__init__(plan_in(Path(store.partition("://")[2])))
        self.board = Board(store, "f")
        self.board.begin()
        self.records = list(records)
        self.closed = False

    def start(self, number: int, attempt: int) -> None:
        if (record := self.records.pop(0)) is not None:
            self.board.put(member_key(number), {"attempt": attempt, **record})

    def running(self) -> set[int]:
        return set()

    def close(self) -> None:
        self.closed = True


def plan_in(folder: Path) -> FleetPlan:
    return plan_on("local:1", f"dir://{folder}")


def test_a_lost_member_is_started_again_and_its_runs_count(tmp_path: Path) -> None:
    # The second attempt takes up what the first one left in the record.
    lost, done = (
        {"state": "lost", "runs": 5, "steps": 9},
        {"state": "ended", "runs": 2, "past_runs": 5, "past_steps": 9},
    )
    launcher = Scripted(f"dir://{tmp_path}", lost, done)
    outcome = RunningFleet(plan_in(tmp_path), launcher=launcher).run()
    assert (outcome.runs, outcome.steps, outcome.lost) == (7, 9, 1)
    assert "started again" in outcome.notes[0]
    assert launcher.closed


def test_a_member_that_is_lost_at_each_start_is_given_up_after_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(fleet, "PAUSES", (0.0, 0.01, 0.02))
    launcher = Scripted(f"dir://{tmp_path}", *[{"state": "lost", "runs": 1, "host": "a"}] * 9)
    began = time.monotonic()
    outcome = RunningFleet(plan_in(tmp_path), launcher=launcher).run()
    assert time.monotonic() - began >= 0.03
    assert (outcome.lost, len(launcher.records)) == (4, 5)
    assert "Member 0 on a was lost." in outcome.notes
    assert launcher.board.get(member_key(0))["state"] == "lost"


def test_attempts_do_not_count_while_the_store_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "POLL_SECONDS", 0.001)
    monkeypatch.setattr(fleet, "PAUSES", (0.0, 0.001))
    store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"

    class Away(Scripted):
        away = 0

        def start(self, number: int, attempt: int) -> None:
            super().start(number, attempt)
            if attempt <= 10:
                store.rename(elsewhere)

        def running(self) -> set[int]:
            self.away += 1
            if elsewhere.exists() and self.away % 5 == 0:
                assert not store.exists(), "nobody makes another one in its place"
                elsewhere.rename(store)
            return set()

    lost, done = {"state": "running", "host": "a"}, {"state": "ended", "host": "a", "runs": 3}
    launcher = Away(f"dir://{store}", *[lost] * 10, done)
    outcome = RunningFleet(plan_in(store), launcher=launcher).run()
    assert (outcome.runs, outcome.lost) == (3, 10)
    assert not launcher.records


def test_members_with_other_code_are_named(tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended", "host": "old", "code": "1", "runs": 1})
    outcome = RunningFleet(plan_in(tmp_path), launcher=launcher, code="2").run()
    (note,) = outcome.notes
    assert note.startswith("Explored other code than is here, and shared nothing: Member 0 on old.")


def test_no_run_at_all_is_an_error(tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended", "host": "a", "stopped": "time"})
    with pytest.raises(FleetError, match="no member made a run"):
        RunningFleet(plan_in(tmp_path), launcher=launcher).run()


@pytest.mark.parametrize(("said", "told"), [("max_runs", "max_runs"), ("time", "time"), ("what they like", "time")])
def test_why_the_members_ended_is_what_they_all_say(said: str, told: str, tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended", "stopped": said, "runs": 1})
    assert RunningFleet(plan_in(tmp_path), launcher=launcher).run().stopped == told


def test_what_no_member_could_explore_is_an_error(tmp_path: Path) -> None:
    failed = {"state": "failed", "error": "no module named shop", "hint": "install it"}
    with pytest.raises(FleetError, match="no module named shop") as caught:
        RunningFleet(plan_in(tmp_path), launcher=Scripted(f"dir://{tmp_path}", failed)).run()
    assert caught.value.hint == "install it"


def test_what_is_missing_where_members_run_is_to_be_installed_there(tmp_path: Path) -> None:
    said = {
        "state": "failed",
        "error": "importing `shop` raised ModuleNotFoundError: x",
        "hint": "look",
        "host": "node7",
    }
    with pytest.raises(FleetError, match="ModuleNotFoundError: x") as caught:
        RunningFleet(plan_in(tmp_path), launcher=Scripted(f"dir://{tmp_path}", said)).run()
    assert caught.value.hint == "install what is missing where the members run, as on node7; there look"


def test_why_no_member_started_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "PAUSES", ())
    launcher = Scripted(f"dir://{tmp_path}", None)
    launcher.trouble = "No module named 'ordeal'"
    with pytest.raises(FleetError, match=r"none of 1 member reached the store: No module named 'ordeal'"):
        RunningFleet(plan_in(tmp_path), launcher=launcher).run()


def test_files_that_were_not_sent_are_named(tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended", "runs": 1})
    launcher.left_out = {".env": "its name", "deploy/id_rsa": "its name"}
    outcome = RunningFleet(plan_in(tmp_path), launcher=launcher).run()
    assert "Not sent to the members: .env (its name), deploy/id_rsa (its name)." in outcome.notes


def test_a_name_is_taken_while_members_go_on_without_their_launcher(tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}", {"state": "ended", "runs": 1})
    launcher.board.put(member_key(1), {"state": "running"})
    path = tmp_path / "fleets/f/launcher.json"
    path.write_text(json.dumps({"state": "left", "host": "night", "at": 1.0}))
    with pytest.raises(FleetError, match="runs already, started on night"):
        RunningFleet(plan_in(tmp_path), launcher=launcher).run()
    launcher.board.put(member_key(1), {"state": "ended", "runs": 1})
    RunningFleet(plan_in(tmp_path), launcher=launcher).run()
    # What is left of the former fleet would pass for members of this one that were lost.
    assert launcher.board.all().keys() == {"launcher", member_key(0)}


def test_two_fleets_have_two_names(tmp_path: Path) -> None:
    launcher = Scripted(f"dir://{tmp_path}")
    launcher.board.put("launcher", {"state": "running", "host": "elsewhere"})
    with pytest.raises(FleetError, match="runs already, started on elsewhere"):
        RunningFleet(plan_in(tmp_path), launcher=launcher).run()


def test_a_cluster_that_cannot_be_used_leaves_the_name_free(tmp_path: Path) -> None:
    class Broken(Scripted):
        def open(self) -> None:
            raise FleetError("no cluster answers")

    launcher = Broken(f"dir://{tmp_path}")
    with pytest.raises(FleetError, match="no cluster answers"):
        RunningFleet(plan_in(tmp_path), launcher=launcher).run()
    assert launcher.board.all() == {}
    assert launcher.closed
    assert (
        RunningFleet(plan_in(tmp_path), launcher=Scripted(f"dir://{tmp_path}", {"state": "ended", "runs": 1}))
        .run()
        .members
        == 1
    )


def test_a_second_interruption_waits_for_nothing(tmp_path: Path) -> None:
    class Interrupted(Scripted):
        def running(self) -> set[int]:
            raise KeyboardInterrupt

        def close(self) -> None:
            raise KeyboardInterrupt

    running = RunningFleet(plan_in(tmp_path), launcher=Interrupted(f"dir://{tmp_path}", {"state": "running"}))
    with pytest.raises(KeyboardInterrupt):
        running.run()


def test_figures_are_those_of_the_members() -> None:
    idle = FaultUse("timeout(pay)", runs=1, calls=0, hits=0)
    here = make_result(
        missed_lines={"m.py": [1]},
        stopped_reason="max_runs",
        faults=[idle],
        notes=(idle.remark(), "The working folder was deleted."),
        seed_replays=[SeedOutcome(name, name, SeedStatus.REPRODUCED, "") for name in ("known", "found now")],
    )
    outcome = FleetOutcome(members=3, seconds=9.0, runs=70, steps=80, lost=1, notes=["Member 1 was lost."])
    result = fleet_result(here, outcome, 55, ["a trace"], kept=True, seeds={"known"})
    assert (result.total_runs, result.total_steps, result.unique_edges) == (70, 80, 55)
    assert result.missed_lines == {}
    # The run that confirmed here is told to be the only one.
    assert result.stopped_reason == "time"
    assert [each.path for each in result.seed_replays] == ["known"]
    assert result.faults == []
    # That a fault met no call is only so in the one run here.
    assert list(result.notes) == [
        "The working folder was deleted.",
        "Explored by a fleet of 3 members; 1 was lost.",
        "Member 1 was lost.",
        "Not brought home: a trace.",
    ]
