"""Fleets on Ray and Dask of this machine: a node is killed with all that runs on it, and the head is started again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.clusters import engines, project
from tests.clusters.watched import WAIT_SECONDS, Fleet, until
from tests.unit.samples.stores import running_server

pytestmark = pytest.mark.nightly
Note = Callable[[str, object], None]


@pytest.fixture(params=["dask", "ray"])
def cluster(request: pytest.FixtureRequest) -> Iterator[engines.Cluster]:
    if not engines.has(request.param):
        pytest.skip(f"needs ordeal[{request.param}]: `make test-clusters` has it")
    # Sockets need a short path.
    with TemporaryDirectory(prefix="oc") as place, engines.running(request.param, Path(place) / "c") as found:
        yield found


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Fleet]:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server:
        yield Fleet(project.write(tmp_path / "project"), server.url, tmp_path / "state")


def test_the_member_of_a_killed_node_goes_on_elsewhere(
    cluster: engines.Cluster, fleet: Fleet, record_property: Note
) -> None:
    with fleet.start(cluster.address, "--members", "2", "--workers", "1", "--max-time", "600") as launcher:
        until(lambda: len(fleet.running()) == 2)
        before, acknowledged = fleet.running(), fleet.acknowledged()
        lost = engines.descendants(cluster.nodes[0].pid)
        engines.kill(cluster.nodes[0])
        (name,) = (name for name, each in before.items() if each["pid"] in lost)
        old = before[name]

        def has_begun() -> bool:
            now = fleet.running().get(name, old)
            return (now["attempt"], now.get("restarts")) != (old["attempt"], old.get("restarts"))

        record_property("taken_up_seconds", round(until(has_begun), 1))
        fleet.stop()
        report, _ = launcher.communicate(timeout=WAIT_SECONDS)
    assert launcher.returncode == 1, report
    assert "1 FAILURE:" in report
    assert "started again" in report
    assert "Traceback" not in report
    assert acknowledged <= fleet.acknowledged()


def test_members_go_on_when_the_head_is_back(cluster: engines.Cluster, fleet: Fleet, record_property: Note) -> None:
    with fleet.start(cluster.address, "--members", "2", "--workers", "1", "--max-time", "600") as launcher:
        until(lambda: len(fleet.running()) == 2)
        acknowledged = fleet.acknowledged()
        assert cluster.head is not None
        # Neither lets its nodes outlive it for long, and those who run clusters start them again with it.
        for process in (cluster.head, *cluster.nodes):
            engines.kill(process)
        cluster.nodes.clear()
        cluster.start_head()
        for _ in range(2):
            cluster.start_node()
        again = until(lambda: sum(int(str(each["attempt"])) > 1 for each in fleet.running().values()) == 2)
        record_property("taken_up_seconds", round(again, 1))
        fleet.stop()
        report, _ = launcher.communicate(timeout=WAIT_SECONDS)
    assert launcher.returncode == 1, report
    assert "1 FAILURE:" in report
    assert "was lost, and started again." in report
    assert "The cluster was away once." in report
    assert "Traceback" not in report
    assert acknowledged <= fleet.acknowledged()
