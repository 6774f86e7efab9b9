"""The pages of fleets: how each member is, with those that need a look first, from records of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ordeal._engine.parallel.fleet.board import LAUNCHER, Board, Record, member_key
from ordeal._report.dashboard.fleets import MEMBERS_MAX, Fleets, fleet_values

from .test_app import HOSTILE, ask

NOW = 1_000_000.0


def fleet(*members: Record) -> dict[str, Record]:
    launcher: Record = {"state": "running", "class": "a:Shop", "on": "local", "members": 3, "elapsed": 12.0}
    return {LAUNCHER: launcher, **{member_key(at): {"at": NOW, **each} for at, each in enumerate(members)}}


def test_members_that_need_a_look_come_first() -> None:
    values = fleet_values("night", fleet(
        {"state": "running", "runs": 10, "rate": 5.0, "edges": 7},
        {"state": "running", "runs": 20, "rate": 8.0, "edges": 9, "at": NOW - 60},
        {"state": "ended", "runs": 1000, "edges": 8, "failures": 1, "finding": "ValueError: x\nmore"},
        {"state": "lost", "error": "killed"},
    ), "dir:///shared", NOW)  # fmt: skip
    shown = [(each["number"], each["state"], each["kind"], each["said"]) for each in values["members"]]
    assert shown == [
        (1, "silent for 60 s", "warn", ""),
        (3, "lost", "bad", "killed"),
        (2, "ended", "", "ValueError: x"),
        (0, "running", "", ""),
    ]
    figures = {each["what"]: each["value"] for each in values["figures"]}
    assert figures == {"members run": "1 of 3", "runs": "1,030", "runs/s": "5", "edges at most": "9", "seconds": "12"}


def test_a_page_of_many_members_is_cut() -> None:
    values = fleet_values("night", fleet(*[{"state": "running"}] * (MEMBERS_MAX + 4)), "", NOW)
    assert (len(values["members"]), values["more"]) == (MEMBERS_MAX, 4)


@pytest.fixture
def store(tmp_path: Path) -> str:
    """A store in a folder with a fleet, of which a member writes what it likes."""
    url = f"dir://{tmp_path}/store"
    board = Board(url, "night")
    board.begin()
    for key, record in fleet({"state": HOSTILE, "runs": "many", "finding": HOSTILE}).items():
        board.put(key, record)
    return url


def test_the_fleets_of_a_store_have_pages(store: str, tmp_path: Path) -> None:
    assert Fleets(store).names() == ["night"]
    listed = ask(tmp_path, "/", store=store).text
    assert '<a href="fleets/night">' in listed
    page = ask(tmp_path, "/fleets/night", store=store).text
    assert "<h1>night, running</h1>" in page
    assert HOSTILE not in page
    assert "&lt;script&gt;" in page
    records = json.loads(ask(tmp_path, "/fleets/night/records.json", store=store).text)
    assert records[LAUNCHER]["class"] == "a:Shop"


@pytest.mark.parametrize("name", ["other", "..", "%2e%2e%2fx", "A B"])
def test_only_fleets_have_pages(store: str, tmp_path: Path, name: str) -> None:
    assert ask(tmp_path, f"/fleets/{name}", store=store).code == 404
    assert ask(tmp_path, "/fleets/night").code == 404


def test_a_store_that_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    pytest.importorskip("redis")
    away = "redis://127.0.0.1:1/0"
    answer = ask(tmp_path, "/", store=away)
    assert answer.code == 200
    assert "The store cannot be read" in answer.text
    assert ask(tmp_path, "/fleets/night", store=away).code == 503
