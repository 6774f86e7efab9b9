"""A member that is killed while its store is away is back soon after the store is."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.samples.stores import running_server

from ordeal._engine.parallel.fleet.board import Board, Record, launchers, member_key, text_of
from ordeal.errors import StoreError

pytestmark = pytest.mark.slow
#: A thousand times what the two take on a quiet machine.
PATIENCE_SECONDS = 120.0
IDLE = """
from hypothesis.stateful import RuleBasedStateMachine, rule

class Idle(RuleBasedStateMachine):
    @rule()
    def wait(self):
        pass
"""


@contextlib.contextmanager
def fleet(url: str, folder: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    (folder / "idle.py").write_text(IDLE)
    command = [sys.executable, "-m", "ordeal", "explore", "idle:Idle", "--on", "local:1", "--workers", "1", *options]
    environment = {**os.environ, "ORDEAL_STORE": url, "XDG_STATE_HOME": str(folder / "state")}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as launcher:
        try:
            yield launcher
        finally:
            launcher.kill()


def member_of(url: str, condition: Callable[[Record], bool]) -> Record:
    """Return the record of the member when it fulfils a condition."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with contextlib.suppress(StoreError):
            for name in launchers(url):
                record = Board(url, name).get(member_key(0))
                if condition(record):
                    return record
        time.sleep(0.1)
    raise AssertionError("the member is not back")


def is_running(record: Record) -> bool:
    return text_of(record, "state") == "running"


@pytest.mark.parametrize(
    ("kind", "seconds"),
    [
        ("redis", 1.0),
        ("dir", 4.0),
        *(pytest.param("redis", seconds, marks=pytest.mark.nightly) for seconds in (30.0, 300.0)),
    ],
)
def test_a_member_is_back_when_the_store_is(
    kind: str, seconds: float, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    with running_server(tmp_path) as server:
        store, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
        url = server.url if kind == "redis" else f"dir://{store}"
        with fleet(url, folder, "--max-time", str(seconds + PATIENCE_SECONDS)) as launcher:
            before = member_of(url, is_running)
            server.kill() if kind == "redis" else store.rename(elsewhere)
            os.killpg(int(before["pid"]), signal.SIGKILL)
            time.sleep(seconds)
            if kind == "redis":
                server.start()
            else:
                assert not store.exists(), "nobody makes another one in its place"
                elsewhere.rename(store)
            back = time.monotonic()
            after = member_of(url, lambda record: is_running(record) and record["pid"] != before["pid"])
            record_property("back_seconds", round(time.monotonic() - back, 1))
            assert after["attempt"] > before["attempt"]
            launcher.send_signal(signal.SIGINT)
            report, _ = launcher.communicate(timeout=PATIENCE_SECONDS)
    assert "was lost, and started again." in report
    assert "The store was away for a while" in report
