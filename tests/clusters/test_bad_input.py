"""What is wrong with a fleet is said with a hint, and nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.clusters import engines, project
from tests.clusters.watched import ORDEAL, WAIT_SECONDS, Fleet, until
from tests.unit.samples.stores import running_server

pytestmark = pytest.mark.nightly
Refused = Callable[..., str]
BUILD = Path(__file__).parents[2] / "build"


@pytest.fixture
def refused(tmp_path: Path, record_property: Callable[[str, object], None]) -> Refused:
    """Start a fleet that cannot be, and return what is said of it."""
    folder = project.write(tmp_path / "project")

    def start(on: str, *options: str, is_alone: bool = True, **environment: str) -> str:
        command = [*ORDEAL, "explore", "--on", on, "--members", "2", "--workers", "1", "--max-time", "60", *options]
        surroundings = {**os.environ, "ORDEAL_STORE": f"dir://{tmp_path}/store", **environment}
        started = time.monotonic()
        done = subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, check=False)
        record_property("refused_seconds", round(time.monotonic() - started, 1))
        assert done.returncode == 2, done.stdout
        assert "\nhint: " in done.stderr
        assert "Traceback" not in done.stderr
        running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        assert not is_alone or str(tmp_path) not in running
        return done.stderr

    return start


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_member_without_what_the_program_needs(kind: str, tmp_path: Path, refused: Refused) -> None:
    if not engines.has(kind):
        pytest.skip(f"needs ordeal[{kind}]: `make test-clusters` has it")
    (tmp_path / "extra").mkdir()
    (tmp_path / "extra/only_here.py").write_text("")
    cart = tmp_path / "project/cart.py"
    cart.write_text(f"import only_here\n{cart.read_text()}")
    with TemporaryDirectory(prefix="oc") as place, engines.running(kind, Path(place) / "c", nodes=1) as cluster:
        said = refused(cluster.address, PYTHONPATH=str(tmp_path / "extra"))
    assert "ModuleNotFoundError: No module named 'only_here'" in said
    assert "install what is missing where the members run" in said


def test_another_version_of_ray(refused: Refused) -> None:
    others = sorted(BUILD.glob("ray-*/installed"))
    if not others or not engines.has("ray"):
        pytest.skip("needs another version of Ray: `make test-ray` installs some")
    with (
        TemporaryDirectory(prefix="oc") as place,
        engines.running("ray", Path(place) / "c", nodes=1, path=str(others[0].parent)) as cluster,
    ):
        said = refused(cluster.address)
    assert "the same versions of Python and Ray" in said


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_another_version_of_python(kind: str, refused: Refused) -> None:
    other = BUILD / "clusters-venv-3.12/bin/python"
    if not other.exists() or not engines.has(kind):
        pytest.skip("needs Python 3.12, in the environment that `make test-clusters` makes")
    with (
        TemporaryDirectory(prefix="oc") as place,
        engines.running(kind, Path(place) / "c", nodes=1, python=str(other)) as cluster,
    ):
        said = refused(cluster.address)
    # Ray compares the versions by itself. On Dask, that Python has no ordeal.
    assert ("Python: 3.12" if kind == "ray" else "No module named 'ordeal'") in said


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_cluster_that_nobody_reaches(kind: str, refused: Refused) -> None:
    if not engines.has(kind):
        pytest.skip(f"needs ordeal[{kind}]: `make test-clusters` has it")
    assert "cluster answers at 127.0.0.1:1: " in refused(f"{kind}://127.0.0.1:1")


def test_a_store_with_another_password(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server:
        server.client().config_set("requirepass", "sesame")
        said = refused("local:2", ORDEAL_STORE=server.url.replace("//", "//:wrong@"))
        assert "refuses the password" in said
        assert "wrong" not in said
        assert "asks for a password" in refused("local:2", ORDEAL_STORE=server.url)


def test_a_store_without_room(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server:
        server.client().config_set("maxmemory", "900k")
        assert "the store cannot be written" in refused("local:2", ORDEAL_STORE=server.url)


def test_two_fleets_with_one_name(tmp_path: Path, refused: Refused) -> None:
    fleet = Fleet(tmp_path / "project", f"dir://{tmp_path}/store", tmp_path / "state")
    with fleet.start("local:2", "--fleet-name", "night", "--max-time", "60") as first:
        until(lambda: len(fleet.running()) == 2)
        # The first one goes on, so its processes are there.
        said = refused("local:2", "--fleet-name", "night", is_alone=False)
        assert len(fleet.running()) == 2
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=WAIT_SECONDS)
    assert "the fleet `night` runs already" in said
