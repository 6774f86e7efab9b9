"""Neither the password of a store nor a secret of the project is where others may read it, on a cluster or here."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.clusters import engines, project, slurm
from tests.clusters.watched import ORDEAL, Fleet
from tests.unit.samples.stores import RedisServer, running_server

pytestmark = pytest.mark.nightly
PASSWORD, SECRET = "open-sesame-7131", "hunter2-9974"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server:
        server.client().config_set("requirepass", PASSWORD)
        yield server


@pytest.fixture
def fleet(tmp_path: Path, store: RedisServer) -> Fleet:
    folder = project.write(tmp_path / "my project")
    for name in (".env", "deploy/id_rsa"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(SECRET)
    address = store.url.replace("//", f"//:{PASSWORD}@")
    (folder / "notes.txt").write_text(address)
    return Fleet(folder, address, tmp_path / "state")


@contextmanager
def watched_processes(log: Path) -> Iterator[None]:
    """Write down the command lines of all processes, again and again."""
    with log.open("wb") as spied:
        command = ["sh", "-c", "while sleep 0.2; do ps -eo args; done"]
        spying = subprocess.Popen(command, stdout=spied, start_new_session=True)
    try:
        yield
    finally:
        os.killpg(spying.pid, signal.SIGKILL)
        spying.wait()


def run(fleet: Fleet, on: str, environment: dict[str, str]) -> str:
    command = [*ORDEAL, "explore", "--on", on, "--members", "2", "--workers", "1", "-v"]
    # It ends after its runs: on a busy machine, Ray alone takes a quarter of a minute to start a member.
    command += ["--max-time", "90", "--max-runs", "3000"]
    # A name so short that Dask would write the arguments of a task that fails into the worker's log.
    command += ["--fleet-name", "n", "--json", "--report", "html"]
    done = subprocess.run(
        command, cwd=fleet.folder, env=fleet.environment | environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.returncode in (1, 2), done.stderr
    return done.stdout + done.stderr


def readable_with(words: tuple[str, ...], *folders: Path) -> set[str]:
    """Return the files below folders in which one of the words is, except those that their owner alone can read."""
    command = ["grep", "-rlaF", *(f"--regexp={word}" for word in words), *map(str, folders)]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    # Slurm's controller keeps the environment of a job in such a file.
    return {each for each in found if Path(each).stat().st_mode & 0o077}


@pytest.mark.parametrize("kind", ["dask", "ray", "slurm", "local"])
@pytest.mark.parametrize("way", ["works", "fails"])
def test_no_file_and_no_process_shows_a_credential(
    kind: str, way: str, fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if kind in ("dask", "ray") and not engines.has(kind):
        pytest.skip(f"needs ordeal[{kind}]: `make test-clusters` has it")
    if kind == "slurm" and slurm.missing():
        pytest.skip("needs the Debian packages slurm-wlm and munge")
    environment: dict[str, str] = {}
    if way == "fails":
        (tmp_path / "extra").mkdir()
        (tmp_path / "extra/only_here.py").touch()
        cart = fleet.folder / "cart.py"
        cart.write_text(f"import only_here\n{cart.read_text()}")
        environment["PYTHONPATH"] = str(tmp_path / "extra")
    own = {str(fleet.folder / name) for name in (".env", "deploy/id_rsa", "notes.txt")}
    with TemporaryDirectory(prefix="oc") as place, watched_processes(tmp_path / "spied"):
        folder = Path(place) / "c"
        if kind == "local":
            said = run(fleet, "local:2", environment)
        elif kind == "slurm":
            with slurm.running(folder) as cluster:
                said = run(fleet, "slurm", cluster.environment | environment)
        else:
            with engines.running(kind, folder) as cluster:
                said = run(fleet, cluster.address, environment)
        (tmp_path / "said").write_text(said)
        found = readable_with((PASSWORD, SECRET), tmp_path, Path(place)) - own
    # What the server keeps for itself, in its own configuration or memory, is its own affair.
    assert {each for each in found if not each.startswith(str(tmp_path / "redis"))} == set()
    if kind in ("ray", "dask"):
        left_out = (
            "deploy/id_rsa (by its name, it may hold secrets), notes.txt (the password of the store stands in it)"
        )
        assert (left_out in said) == (way == "works")
