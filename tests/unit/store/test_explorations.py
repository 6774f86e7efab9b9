"""Several ``ordeal explore`` on one store: what is killed, a process or the server, costs nobody what was found."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import ordeal._native as _native
from ordeal._engine.coverage.targets import resolve_targets
from ordeal._engine.parallel.store_client import namespace_of
from ordeal._engine.storage.state_file import read_state
from ordeal.store import Store, open_store

from .._engine.parallel.test_supervisor import TOWER
from ..samples.stores import PACKAGE_FOLDER, PATIENCE_SECONDS, RedisServer, running_server

PROCESSES = 3
SECONDS = 4.0
MACHINE = """
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule
from tower import climb

class Climber(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.stage = 0

    @rule(key=st.integers(0, 9))
    def up(self, key):
        self.stage = climb(self.stage, key)
"""
SETTINGS = """
[explorer]
target_modules = ["tower"]
steps_per_run = 5
[[tests]]
class = "climbing:Climber"
"""


@pytest.fixture(autouse=True)
def _project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE_FOLDER))
    for name, text in {"tower.py": TOWER, "climbing.py": MACHINE, "ordeal.toml": SETTINGS}.items():
        Path(name).write_text(text)


@pytest.fixture(params=["dir", pytest.param("redis", marks=pytest.mark.nightly)])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RedisServer | None]:
    if request.param == "dir":
        yield None
        return
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as running:
        yield running


@contextmanager
def explorations(url: str) -> Iterator[list[subprocess.Popen[str]]]:
    command = (sys.executable, "-m", "ordeal", "explore", "-w", "1", "--json", "--no-seeds", "--max-time", str(SECONDS))
    running = [
        subprocess.Popen(
            [*command, "--store", url, "--save-state", f"state-{number}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        for number in range(PROCESSES)
    ]
    try:
        yield running
    finally:
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@contextmanager
def looking(url: str) -> Iterator[Store]:
    machine = importlib.import_module("climbing")
    with open_store(url, namespace_of(machine.Climber, resolve_targets(["tower"]), instrumentation="auto")) as store:
        yield store


def edges_of_state(path: Path) -> set[int]:
    coverage = _native.CoverageMap()
    names: _native.MachineNames = (["up"], [], [], ["key"])
    for _, engine in read_state(path):
        _native.decode_state(engine, names).merge_coverage(coverage)
    return set(coverage.keys())


def wait_until_found(url: str, edges: int) -> set[int]:
    """What the store has confirmed, once that are so many edges."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with looking(url) as store:
            found = set(store.edges())
        if len(found) >= edges:
            return found
        time.sleep(0.1)
    raise AssertionError(f"only {len(found)} edges were published")


@pytest.mark.slow
def test_what_is_killed_costs_nothing_that_was_acknowledged(tmp_path: Path, server: RedisServer | None) -> None:
    url = f"dir://{tmp_path / 'store'}" if server is None else server.url
    with explorations(url) as running:
        acknowledged = wait_until_found(url, 10)
        os.killpg(running[0].pid, signal.SIGKILL)
        if server is not None:
            server.kill()
            time.sleep(2)
            server.start()
        reports = [json.loads(process.communicate(timeout=PATIENCE_SECONDS)[0]) for process in running[1:]]
        assert [process.returncode for process in running[1:]] == [1] * (PROCESSES - 1)
    with looking(url) as store:
        merged, failures = store.edges(), store.failures()
    states = [edges_of_state(tmp_path / f"state-{number}") for number in range(1, PROCESSES)]
    assert acknowledged <= merged
    assert merged == set.union(*states)  # which heard of all that the killed one had published
    (failure,) = failures
    assert failure.bucket.startswith("ValueError")
    counts = [entry["count"] for report in reports for entry in report["results"][0]["failures"]]
    assert failure.count >= sum(counts) > 0
    assert json.loads(failure.trace)["failure"]["bucket"] == failure.bucket
