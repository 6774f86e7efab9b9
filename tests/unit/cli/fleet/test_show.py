"""``ordeal fleet``: status, logs and stop, from what is in the store."""

from __future__ import annotations

import json
from pathlib import Path

from ordeal._engine.parallel.fleet.board import LAUNCHER, Board, member_key, text_of

from ..conftest import Run


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


def test_of_several_fleets_that_run_a_name_says_which(run: Run, tmp_path: Path) -> None:
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


def test_what_is_not_there_is_an_error(run: Run, tmp_path: Path) -> None:
    code, _, err = run("fleet", "status", f"dir://{tmp_path}/none")
    assert (code, err.startswith("error: no fleet is in the store")) == (2, True)
    code, _, err = run("fleet", "status", fleet_in(tmp_path), "--name", "other")
    assert (code, err.startswith("error: no fleet `other`")) == (2, True)
    assert run("fleet", "status")[0] == 2
