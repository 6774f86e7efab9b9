"""The text of a fleet: silent members are told from those that work."""

from __future__ import annotations

import pytest

from ordeal._engine.parallel.fleet.board import LAUNCHER, Record
from ordeal._report.fleet import fleet_text, log_text


def fleet(members: dict[str, Record], state: str = "running") -> dict[str, Record]:
    launcher: Record = {"state": state, "on": "ray", "members": 1, "class": "a:B", "at": 130.0}
    return {LAUNCHER: launcher, **members}


def test_a_member_that_says_nothing_is_called_silent() -> None:
    members: dict[str, Record] = {"member-000003": {"state": "running", "at": 100.0}}
    assert "silent" not in fleet_text("x", fleet(members), 101.0)
    assert "   3  running" in fleet_text("x", fleet(members), 101.0)
    assert "silent for 30 s" in fleet_text("x", fleet(members), 130.0)
    ended = fleet_text("x", fleet(members, "ended"), 130.0)
    assert "0 members running of 1" in ended
    assert "   3  lost" in ended


def test_what_is_left_to_find_is_the_sum_of_what_members_say() -> None:
    one: Record = {"state": "running", "at": 100.0, "rate": 50.0, "next_run_max": 0.001}
    ended: Record = {"state": "ended", "at": 100.0, "rate": 50.0}
    members = {"member-000000": one, "member-000001": one, "member-000002": ended}
    assert "left to find: at most 360 new edges an hour" in fleet_text("x", fleet(members), 101.0)
    for bound in (None, -1.0, float("nan"), 2.0):
        hostile = {**members, "member-000001": {**one, "next_run_max": bound}}
        assert "left to find" not in fleet_text("x", fleet(hostile), 101.0)


def test_a_fleet_without_losses_has_no_logs() -> None:
    assert log_text("x", fleet({"member-000000": {"state": "ended"}}), 0.0) == "No member of x failed or was lost.\n"


@pytest.mark.parametrize(
    ("state", "member", "now", "said"),
    [
        ("running", "running", 131.0, "running"),
        ("running", "running", 150.0, "its launcher is gone"),
        ("stopping", "running", 131.0, "stopping"),
        ("stopping", "ended", 131.0, "ended"),
        ("left", "running", 999.0, "goes on without its launcher"),
        ("left", "failed", 999.0, "ended"),
        ("ended", "running", 999.0, "ended"),
    ],
)
def test_how_a_fleet_is_does_not_hang_on_its_launcher_alone(state: str, member: str, now: float, said: str) -> None:
    records = fleet({"member-000000": {"state": member, "at": 130.0}}, state)
    assert fleet_text("x", records, now).startswith(f"Fleet x: {said}, a:B on ray\n")
