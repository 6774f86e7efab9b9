"""Without Ray, the error says what to install."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from tests.unit._engine.parallel.fleet.plans import plan_on

from ordeal._engine.parallel.fleet import on_ray
from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal._engine.parallel.fleet.plan import MemberTask
from ordeal.errors import ConfigError


@pytest.fixture
def ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What stands for the library, without anything in it, and an empty folder to start from."""
    for name in ("ray", "grpc"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    # The launcher sets both.
    monkeypatch.setenv("RAY_ENABLE_AUTO_CONNECT", "0")
    monkeypatch.setenv("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "4")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("ordeal._engine.parallel.fleet.launcher.must_greet", lambda *_: None)
    return sys.modules["ray"]


@pytest.mark.usefixtures("ray")
@pytest.mark.parametrize("missing", ["ray", "grpc"])
def test_a_missing_extra_is_named(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ConfigError, match="ray") as caught:
        on_ray.RayLauncher(plan_on("ray://host:1"))
    assert "pip install 'ray[client]'" in str(caught.value.hint)


@pytest.mark.usefixtures("ray")
def test_no_room_for_what_is_sent_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "pack", lambda *_: os.open("/dev/null/nowhere", os.O_RDONLY))
    launcher = on_ray.RayLauncher(plan_on("ray://host:1"))
    with pytest.raises(FleetError, match="cannot be packed: Not a directory"):
        launcher.open()
    launcher.close(leave=True)


def test_a_folder_that_was_unpacked_anew_is_entered_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nodes of one machine share where Ray unpacks projects, and each begins with deleting what is there.
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.setenv("PWD", str(place))
    place.rmdir()
    place.mkdir()
    (place / "test_cart.py").touch()
    task = MemberTask(fleet="f", test_class="test_cart:CartMachine", seconds=1.0, path=(), ordeal="0.0")
    assert on_ray.run_member(task.to_json(), 0, 1, f"dir://{tmp_path}/store") == 2
    assert Path.cwd() == place


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ray::run()\nTraceback (most recent call last):\n  File ...\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("Version mismatch: it has\n    Python: 3.12.1\nand this has\n    Python: 3.13.0\n", "Python: 3.12.1"),
        ("", "RuntimeError"),
    ],
)
def test_what_was_wrong_is_said_in_a_line(text: str, said: str) -> None:
    told = on_ray.what_was_wrong(RuntimeError(text))
    assert said in told
    assert "\n" not in told
    assert "Traceback" not in told


def test_a_member_is_started_again_where_a_node_answers(ray: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    # A node that was killed counts as alive until Ray's health check has missed several reports of it.
    places: list[object] = []

    def remote(**options: object) -> object:
        places.append(options["scheduling_strategy"])
        return lambda _: SimpleNamespace(remote=lambda *_: None)

    with socket.socket() as listening, socket.socket() as killed:
        for each in (listening, killed):
            each.bind(("127.0.0.1", 0))
        listening.listen()
        vars(ray)["nodes"] = lambda: [
            {
                "NodeID": name,
                "Alive": True,
                "Resources": {"CPU": 2.0},
                "NodeManagerAddress": "127.0.0.1",
                "NodeManagerPort": each.getsockname()[1],
            }
            for name, each in (("killed", killed), ("other", listening))
        ]
        vars(ray)["remote"] = remote
        monkeypatch.setattr(on_ray.RayLauncher, "_near", staticmethod(lambda node: f"near {node}"))
        launcher = on_ray.RayLauncher(plan_on("ray://host:1", members=2))
        for number, attempt in ((0, 0), (0, 1), (1, 1)):
            launcher.start(launcher.plan.task, number, attempt)
    assert places == ["SPREAD", "near other", "near other"]


def test_a_head_whose_process_for_the_client_died_is_asked_once_more(ray: ModuleType) -> None:
    answers: list[Exception | None] = [ConnectionAbortedError("its process is a zombie"), None]
    calls: list[str] = []

    def init(*_: object, **__: object) -> None:
        calls.append("init")
        if (answer := answers.pop(0)) is not None:
            raise answer

    vars(ray).update(init=init, shutdown=lambda: calls.append("shutdown"))
    launcher = on_ray.RayLauncher(plan_on("ray://host:1", project="none"))
    launcher.open()
    assert calls == ["init", "shutdown", "init"]
    answers += [ConnectionAbortedError("no worker starts"), ConnectionAbortedError("nor now")]
    with pytest.raises(FleetError, match="cannot be used: nor now"):
        launcher.open()
    answers += [RuntimeError("another version of Ray")]
    with pytest.raises(FleetError, match="another version of Ray"):
        launcher.open()
    assert answers == []
