"""A fleet of this machine whose member is killed, and whose store stops until after the search has ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.clusters import project
from tests.unit.samples.stores import RedisServer, running_server

pytestmark = pytest.mark.nightly
ORDEAL = [sys.executable, "-m", "ordeal"]
WAIT_SECONDS = 240.0


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def _processes_of(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = [tuple(map(int, line.split())) for line in listed.splitlines()]
    return [pid, *(each for own, parent in parents if parent == pid for each in _processes_of(own))]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as found:
        yield found


def test_a_killed_member_and_a_store_that_stops_cost_nothing(
    tmp_path: Path, server: RedisServer, record_property: Callable[[str, object], None]
) -> None:
    folder = project.write(tmp_path / "project")
    environment = {**os.environ, "ORDEAL_STORE": server.url, "XDG_STATE_HOME": str(tmp_path / "state")}
    server_id = int(server.client().info("server")["process_id"])

    def members() -> dict[str, dict[str, object]]:
        command = [*ORDEAL, "fleet", "status", "--json"]
        told = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout
        found = json.loads(told)["members"] if told else {}
        return {name: each for name, each in found.items() if each["state"] == "running"}

    command = [*ORDEAL, "explore", "--on", "local:3", "--max-time", "30"]
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as fleet:
        _until(lambda: len(members()) == 3)
        killed = int(str(members()["member-000001"]["pid"]))
        for process in _processes_of(killed):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        started = time.monotonic()
        _until(lambda: members().get("member-000001", {}).get("pid") not in (None, killed))
        record_property("taken_up_seconds", round(time.monotonic() - started, 1))
        os.kill(server_id, signal.SIGSTOP)
        time.sleep(30)
        os.kill(server_id, signal.SIGCONT)
        report, _ = fleet.communicate(timeout=WAIT_SECONDS)
    assert fleet.returncode == 1
    assert "1 FAILURE:" in report
    # It came out of the store, and was not only met again here.
    assert "    Seed " in report
    assert "Member 1 on " in report
    assert "was lost, and started again." in report
    assert "The store was away for a while" in report
