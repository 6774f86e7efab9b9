"""Launchers of Ray and Dask, without either: addresses, what is installed, what is sent and what went wrong."""

from __future__ import annotations

import pickle
import socket
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest
from tests.unit._engine.parallel.fleet.plans import PASSWORD, SECRET_STORE, plan_on

from ordeal._engine.parallel.fleet import cluster, on_dask, on_ray
from ordeal._engine.parallel.fleet.board import Board
from ordeal._engine.parallel.fleet.cluster import ClusterLauncher, run_member, what_was_wrong
from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal._engine.parallel.fleet.plan import MemberTask
from ordeal._engine.parallel.fleet.project_files import pack
from ordeal.errors import ConfigError, OrdealError


@pytest.fixture
def libraries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """What stands for the libraries, without anything in them, and a folder to start from."""
    found = {name: ModuleType(name) for name in ("ray", "grpc", "distributed")}
    for name, module in found.items():
        monkeypatch.setitem(sys.modules, name, module)
    # The launcher sets both.
    monkeypatch.setenv("RAY_ENABLE_AUTO_CONNECT", "0")
    monkeypatch.setenv("RAY_CLIENT_RECONNECT_GRACE_PERIOD", "4")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return found


@pytest.fixture
def ray(libraries: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Ray with a head that answers."""
    monkeypatch.setattr(cluster, "listens", lambda *_, **__: "")
    return libraries["ray"]


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("kind", "missing", "package"),
    [("ray", "ray", "ray[client]"), ("ray", "grpc", "ray[client]"), ("dask", "distributed", "distributed")],
)
def test_a_missing_extra_is_named(kind: str, missing: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    launcher = {"ray": on_ray.RayLauncher, "dask": on_dask.DaskLauncher}[kind]
    with pytest.raises(ConfigError, match=missing) as caught:
        launcher(plan_on(f"{kind}://host:1"))
    assert f"pip install '{package}'" in str(caught.value.hint)


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize("address", ["ray://:1", "ray://h:99999", "ray://h:0"])
def test_addresses_are_checked(address: str) -> None:
    with pytest.raises(ConfigError, match="no valid host"):
        on_ray.RayLauncher(plan_on(address))
    assert on_ray.RayLauncher(plan_on("ray://head")).place == ("head", 10001)


@pytest.mark.usefixtures("libraries")
@pytest.mark.parametrize(
    ("said", "why"), [(b"SSH-2.0-OpenSSH_9.2", "something else listens"), (b"", "timed out"), (None, "refused")]
)
def test_what_is_not_a_cluster_is_an_error_with_a_hint(
    said: bytes | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = threading.Event()

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(said or b"")
                done.wait(timeout=60)

        greeter = threading.Thread(target=greet)
        if said is None:
            server.close()
        else:
            greeter.start()
        with pytest.raises(FleetError, match=why) as caught:
            on_ray.RayLauncher(plan_on(f"ray://127.0.0.1:{port}")).open()
        done.set()
        if said is not None:
            greeter.join()
    assert "ray start" in str(caught.value.hint)


@pytest.mark.usefixtures("ray")
def test_a_project_that_cannot_be_packed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(20, "Not a directory")

    monkeypatch.setattr(cluster, "pack", broken)
    with pytest.raises(FleetError, match="cannot be packed: Not a directory"):
        on_ray.RayLauncher(plan_on("ray://host:1")).open()
    with pytest.raises(OrdealError, match="is not a folder"):
        on_ray.RayLauncher(plan_on("ray://host:1", project="nowhere"))


def test_a_member_runs_in_what_it_was_sent(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "deep").mkdir(parents=True)
    (project / "test_sent.py").write_text("from pathlib import Path\nraise ValueError(f'sent {Path.cwd()}')\n")
    store = f"dir://{tmp_path}/store"
    board = Board(store, "f")
    board.begin()
    task = MemberTask(fleet="f", test_class="test_sent:Cart", seconds=9.0, path=())
    assert run_member(task.to_json(), 0, 1, store, pack(project, store).data) == 2
    record = board.get("member-000000")
    assert "sent /" in str(record["error"])
    assert str(project) not in str(record["error"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ray::run()\nTraceback (most recent call last):\n  File ...\nKeyError: 'a'\n", "KeyError: 'a'"),
        ("Version mismatch: it has\n    Python: 3.12.1\nand this has\n    Python: 3.13.0\n", "Python: 3.12.1"),
        ("", "RuntimeError"),
    ],
)
def test_what_was_wrong_is_said_in_a_line(text: str, said: str) -> None:
    error = RuntimeError(text)
    outer = RuntimeError("Error during deserialization.\n\nSee https://...")
    outer.__cause__ = error
    for each in (error, outer):
        told = what_was_wrong(each)
        assert said in told
        assert "\n" not in told
        assert "Traceback" not in told


class Scheduler:
    """Takes tasks, and keeps what a worker's log would show of one that fails: its arguments."""

    def __init__(self) -> None:
        self.logged = ""

    def scheduler_info(self, **_: object) -> dict[str, list[str]]:
        return {"workers": ["tcp://w:1"]}

    def submit(self, *arguments: object, **options: object) -> None:
        self.logged += repr(pickle.loads(pickle.dumps(arguments))) + repr(options)

    remote = submit


def test_no_log_of_a_node_shows_the_password_of_the_store(libraries: dict[str, ModuleType]) -> None:
    log = Scheduler()
    vars(libraries["ray"])["remote"] = lambda **_: lambda _: log
    dask, ray = (
        on_dask.DaskLauncher(plan_on("dask://h:1", SECRET_STORE)),
        on_ray.RayLauncher(plan_on("ray://h:1", SECRET_STORE)),
    )
    dask._client = log
    launchers: list[ClusterLauncher] = [dask, ray]
    for launcher in launchers:
        launcher.start(0, 1)
    assert log.logged.count("redis://host:6379/0") == 2
    assert PASSWORD not in log.logged


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
    with pytest.raises(FleetError, match="nor now"):
        launcher.open()
    answers += [RuntimeError("another version of Ray")]
    with pytest.raises(FleetError, match="another version of Ray"):
        launcher.open()
    assert answers == []
