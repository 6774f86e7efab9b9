"""A fleet of this machine whose member is killed, and whose store stops, also until after the search has ended."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.clusters import engines, project
from tests.clusters.watched import WAIT_SECONDS, Fleet, until
from tests.unit.samples.stores import RedisServer, running_server

pytestmark = pytest.mark.nightly
Note = Callable[[str, object], None]
STOP_SECONDS = 30.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as found:
        yield found


@contextlib.contextmanager
def stopped(server: RedisServer) -> Iterator[None]:
    """Stop a server as a machine does that is out of memory: it takes connections and says nothing."""
    process = int(server.client().info("server")["process_id"])
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


@contextlib.contextmanager
def away(folder: Path) -> Iterator[None]:
    """Take a folder away, as when a file system is not mounted."""
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    try:
        yield
    finally:
        # Nobody has made another one in its place.
        assert not folder.exists()
        elsewhere.rename(folder)


def test_a_killed_member_and_a_store_that_stops_cost_nothing(
    tmp_path: Path, server: RedisServer, record_property: Note
) -> None:
    fleet = Fleet(project.write(tmp_path / "project"), server.url, tmp_path / "state")
    with fleet.start("local:3", "--max-time", "30") as launcher:
        until(lambda: len(fleet.running()) == 3)
        killed = int(str(fleet.running()["member-000001"]["pid"]))
        for process in engines.descendants(killed):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        again = until(lambda: fleet.running().get("member-000001", {}).get("pid") not in (None, killed))
        record_property("taken_up_seconds", round(again, 1))
        with stopped(server):
            time.sleep(STOP_SECONDS)
        report, _ = launcher.communicate(timeout=WAIT_SECONDS)
    assert launcher.returncode == 1
    assert "1 FAILURE:" in report
    # It came out of the store, and was not only met again here.
    assert "    Seed " in report
    assert "Member 1 on " in report
    assert "was lost, and started again." in report
    assert "The store was away for a while" in report


@pytest.mark.parametrize("kind", ["redis", "dir"])
def test_a_store_that_stops_in_the_middle_loses_nothing(
    kind: str, tmp_path: Path, server: RedisServer, record_property: Note
) -> None:
    place = tmp_path / "store"
    store = server.url if kind == "redis" else f"dir://{place}"
    fleet = Fleet(project.write(tmp_path / "project"), store, tmp_path / "state")

    def runs() -> int:
        return sum(int(str(each.get("runs", 0))) for each in fleet.members().values())

    with fleet.start("local:3", "--max-time", "75") as launcher:
        until(lambda: len(fleet.running()) == 3 and bool(fleet.acknowledged()))
        before, acknowledged = runs(), fleet.acknowledged()
        with stopped(server) if kind == "redis" else away(place):
            time.sleep(STOP_SECONDS)
        back = time.time()
        again = until(lambda: len([each for each in fleet.running().values() if float(str(each["at"])) > back]) == 3)
        record_property("taken_up_seconds", round(again, 1))
        # They searched on meanwhile.
        assert runs() > before
        assert acknowledged <= fleet.acknowledged()
        report, _ = launcher.communicate(timeout=WAIT_SECONDS)
    assert launcher.returncode == 1, report
    assert "1 FAILURE:" in report
    assert "The store was away for a while" in report
    assert "was lost" not in report
    assert acknowledged <= fleet.acknowledged()
