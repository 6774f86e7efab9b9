"""``ordeal fleet``: status, logs and stop from what is in the store, and ``--follow`` until the fleet has ended."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ordeal._engine.parallel.fleet.board import LAUNCHER, Board, BoardError, Record, member_key, text_of
from ordeal.cli import terminal
from ordeal.cli.fleet import show

Run = Callable[..., tuple[int, str, str]]


def fleet_in(folder: Path, name: str = "night") -> str:
    url = f"dir://{folder}"
    board = Board(url, name)
    board.begin()
    board.put(LAUNCHER, {"state": "running", "on": "local", "members": 2, "class": "shop:Shop"})
    board.put(member_key(0), {"state": "running", "runs": 40, "rate": 9.6, "edges": 7, "host": "a", "failures": 1})
    board.put(member_key(1), {"state": "lost", "runs": 2, "error": "the process ended with -9", "log": "bad\x1b[31m"})
    return url


def test_a_line_tells_of_each_member(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("fleet", "status", fleet_in(tmp_path))
    assert code == 0
    assert "Fleet night: running, shop:Shop on local" in out
    assert "1 member running of 2; 42 runs, 10 runs/s, 7 edges at most" in out
    assert "the process ended with -9" in out
    code, out, _ = run("fleet", "status", fleet_in(tmp_path), "--json")
    assert json.loads(out)["members"][member_key(0)]["runs"] == 40


def test_logs_are_those_of_members_that_failed(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("fleet", "logs", fleet_in(tmp_path), "--name", "night")
    assert (code, out.splitlines()[0]) == (0, "Member 1 of night:")
    assert "\x1b" not in out


def test_members_and_launcher_are_told_to_stop(run: Run, tmp_path: Path) -> None:
    url = fleet_in(tmp_path)
    assert run("fleet", "stop", url)[0] == 0
    assert text_of(Board(url, "night").get(LAUNCHER), "state") == "stopping"


def test_of_several_fleets_that_run_a_name_says_which(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = fleet_in(tmp_path, "alpha")
    ended = Board(url, "gamma")
    fleet_in(tmp_path, "gamma")
    ended.put(LAUNCHER, {"state": "ended", "class": "shop:Shop", "began": 3.0})
    # Only one of them runs.
    assert "Fleet alpha: running" in run("fleet", "status", url)[1]
    fleet_in(tmp_path, "beta")
    for action in ("status", "logs", "stop"):
        code, out, err = run("fleet", action, url)
        assert (code, out) == (2, "")
        assert "2 fleets run" in err
        assert "alpha, beta" in err
        assert "hint: add `--name`" in err
    assert {text_of(Board(url, name).get(LAUNCHER), "state") for name in ("alpha", "beta")} == {"running"}
    assert "Fleet gamma: ended" in run("fleet", "status", url, "--name", "gamma")[1]
    monkeypatch.setattr(terminal, "can_ask", lambda: True)
    monkeypatch.setattr(terminal, "ask_number", lambda *_, default: default - 1)
    assert run("fleet", "stop", url)[0] == 0
    states = [text_of(Board(url, name).get(LAUNCHER), "state") for name in ("alpha", "beta")]
    assert states == ["stopping", "running"]


def test_what_is_not_there_is_an_error(run: Run, tmp_path: Path) -> None:
    code, _, err = run("fleet", "status", f"dir://{tmp_path}/none")
    assert (code, err.startswith("error: no fleet is in the store")) == (2, True)
    code, _, err = run("fleet", "status", fleet_in(tmp_path), "--name", "other")
    assert (code, err.startswith("error: no fleet `other`")) == (2, True)
    assert run("fleet", "status")[0] == 2


NOW = 1000.0


def records(state: str, *members: Record) -> dict[str, Record]:
    launcher: Record = {"state": state, "at": NOW, "on": "local", "members": 2, "class": "shop:Shop"}
    return {LAUNCHER: launcher, **{member_key(number): {"at": NOW, **each} for number, each in enumerate(members)}}


RUNNING: Record = {"state": "running", "runs": 40, "rate": 9.6, "edges": 7, "since": 900.0, "growth": "1.0:3 9.0:7"}
ENDED: Record = {**RUNNING, "state": "ended", "failures": 1, "finding": "ValueError: no\nmore"}


@pytest.mark.parametrize(
    ("found", "ended"),
    [
        ({}, False),
        (records("running", ENDED, ENDED), False),  # the launcher still takes home what they found
        (records("ended", RUNNING), True),
        (records("left", ENDED), False),
        (records("left", ENDED, RUNNING), False),
        (records("left", ENDED, {"state": "lost"}), True),
    ],
)
def test_a_fleet_has_ended_when_nothing_more_is_to_come(found: dict[str, Record], *, ended: bool) -> None:
    assert show.has_ended(found, NOW + 1) is ended
    assert show.has_ended(found, NOW + 61) is bool(found)


class Scripted:
    """A board that says one thing after the other."""

    def __init__(self, *said: dict[str, Record] | BoardError) -> None:
        self.said = list(said)

    def all(self) -> dict[str, Record]:
        said = self.said.pop(0)
        if isinstance(said, BoardError):
            raise said
        return said


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr("time.time", lambda: NOW)


@pytest.mark.usefixtures("at_once")
def test_a_log_gets_findings_and_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    board = Scripted(
        records("running", RUNNING),
        BoardError("redis://host/0: no route"),
        records("running", ENDED, RUNNING),
        records("running", ENDED, RUNNING),
        records("ended", ENDED, ENDED),
    )
    show.follow(board, "night", as_json=False)  # type: ignore[arg-type]
    out, err = capsys.readouterr()
    assert err.splitlines() == [
        "1 member running of 2; 40 runs, 10 runs/s, 7 edges at most",
        "the store is away: redis://host/0: no route",
        "found: ValueError: no",
    ]
    assert out.startswith("Fleet night: ended, shop:Shop on local\n")
    assert "  edges over time: 3 after 1 s, 7 after 9 s\n" in out


@pytest.mark.usefixtures("at_once")
def test_a_terminal_is_drawn_anew_and_kept_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(terminal, "error_stream", lambda: screen)
    monkeypatch.setattr(terminal, "can_redraw", lambda: True)
    monkeypatch.setenv("LINES", "8")
    many = {member_key(number): {"at": NOW, **RUNNING} for number in range(50)}
    board = Scripted({**records("running"), **many}, records("ended", ENDED))
    show.follow(board, "night", as_json=False)  # type: ignore[arg-type]
    shown = screen.getvalue()
    assert "more lines" in shown
    assert "ValueError: no" in shown
    assert shown.count("Ctrl-C leaves; the fleet goes on") == 2
    assert shown.rstrip().endswith("\x1b[?25h")


def test_the_command_follows_until_the_end(run: Run, tmp_path: Path) -> None:
    url = f"dir://{tmp_path}"
    board = Board(url, "night")
    board.begin()
    board.put(LAUNCHER, records("running")[LAUNCHER])
    timer = threading.Timer(0.3, board.put, (LAUNCHER, records("ended")[LAUNCHER]))
    timer.start()
    code, out, _ = run("fleet", "status", url, "--follow")
    timer.join()
    assert code == 0
    assert "Fleet night: ended" in out
    assert run("fleet", "logs", url, "--follow")[0] == 2
