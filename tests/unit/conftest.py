"""Fixtures that several test modules of the facade use."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.warm_python import ASKING, ask_forks

from ordeal._engine.execution import fork_server
from ordeal._engine.isolation.child import can_supervise
from ordeal._native import ALARM_SIGNAL, rings_in
from ordeal.assertions import tracker

from .samples.monitored import MakeModule
from .samples.stores import Place, RedisServer, running_server


@pytest.fixture(autouse=True, scope="session")
def _warm_interpreters() -> None:
    """Have explorations ask forks of an interpreter that has imported ordeal, rather than one that must do so first."""
    ask_forks()


@pytest.fixture
def cold_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have them start interpreters, as they do elsewhere."""
    for name in ASKING:
        monkeypatch.setattr(importlib.import_module(name), "subprocess", subprocess)


@pytest.fixture
def make_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeModule]:
    """Write modules below a directory of their own, import them, and forget them afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = set(sys.modules)

    def make(source: str, name: str = "sut", *, import_it: bool = True) -> ModuleType:
        path = tmp_path.joinpath(*name.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
        importlib.invalidate_caches()
        return importlib.import_module(name) if import_it else ModuleType("unused")

    yield make
    for name in set(sys.modules) - known:
        del sys.modules[name]


@pytest.fixture
def undeclared() -> Iterator[None]:
    """No property of another test is known."""
    before = tracker.snapshot()
    tracker.reset(declared=True)
    yield
    tracker.restore(before)


@pytest.fixture
def alarm_left_as_found() -> Iterator[None]:
    """No alarm of the test stays behind."""
    handler = signal.getsignal(ALARM_SIGNAL)
    yield
    assert signal.getsignal(ALARM_SIGNAL) is handler
    assert rings_in() == (0.0, 0.0)


@pytest.fixture
def own_threads_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count no thread that ran before the test: a worker of pytest-xdist has one that waits for orders."""
    if not can_supervise():
        return
    before, count = fork_server.running_threads(), fork_server.running_threads
    monkeypatch.setattr(fork_server, "running_threads", lambda: count() - before + 1)


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A server for all tests that do not end it."""
    with running_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(params=["dir", "redis"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An empty store of each kind."""
    url = f"dir://{tmp_path / 'shared'}"
    if request.param == "redis":
        server: RedisServer = request.getfixturevalue("redis_server")
        server.client().flushall()
        url = server.url
    found = Place(url)
    yield found
    found.close()
