"""The text of a fleet: silent members are told from those that work."""

from __future__ import annotations

import pytest

from ordeal._engine.parallel.fleet.board import LAUNCHER, Record
from ordeal._report.fleet import fleet_text, log_text


def fleet(members: dict[str, Record], state: str = "running") -> dict[str, Record]:
    launcher: Record = {"state": state, "on": "ray", "members": 1, "class": "a:B", "at": 130.0}
    return {LAUNCHER: launcher, **members}


def test_a_line_says_how_each_member_is() -> None:
    members: dict[str, Record] = {
        "member-000000": {"state": "running", "at": 130.0, "rate": 5.0, "runs": 7, "past_runs": 3, "code": "1"},
        "member-000001": {"state": "running", "at": 100.0, "rate": 50.0, "runs": 20},
        "member-000002": {"state": "waiting", "at": 100.0},
        "member-000003": {"state": "lost", "at": 130.0, "rate": 50.0, "error": "killed\nmore"},
        "member-000004": {"state": "running", "at": 129.0, "rate": 1.0, "code": "2", "host": "old"},
    }
    records = fleet(members)
    records["launcher"]["code"] = "1"
    lines = fleet_text("x", records, 131.0).splitlines()
    # Neither the silent nor the lost one counts.
    assert lines[1] == "  2 members running of 1; 30 runs, 6 runs/s, 0 edges at most"
    assert [line.split(maxsplit=1)[1].partition("  ")[0] for line in lines[2:]] == [
        "running",
        "silent for 31 s",
        "waiting for a free CPU",
        "lost",
        "running",
    ]
    assert len({line.index(" runs ") for line in lines[2:]}) == 1, "the columns stand below each other"
    assert lines[5].endswith("0/s  killed")
    assert lines[6].endswith("old  explores other code than its launcher (2), and shares nothing")
    ended = fleet_text("x", fleet(members, "ended"), 130.0).splitlines()
    assert ended[1].startswith("  0 members running of 1; 30 runs, 0 runs/s")
    assert {line.split()[1] for line in ended[2:]} == {"lost"}


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
