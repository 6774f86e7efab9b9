"""A fleet as an indexed job of a real API server and its job controller; one of its pods is killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.clusters import guide, kubernetes, project
from tests.clusters.watched import ORDEAL, WAIT_SECONDS, Fleet, until
from tests.unit.samples.stores import RedisServer, running_server

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(kubernetes.missing()), reason="needs Go, and the Debian package etcd-server"),
]
OPTIONS = ("--image", "app:1", "--members", "3", "--fleet-name", "night")


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[kubernetes.Kubernetes]:
    with kubernetes.running(tmp_path / "cluster", project.write(tmp_path / "project")) as found:
        for name in ("PATH", "KUBECONFIG"):
            monkeypatch.setenv(name, found.environment[name])
        yield found


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as found:
        yield found


def test_a_killed_pod_is_started_again_and_goes_on(
    tmp_path: Path, cluster: kubernetes.Kubernetes, server: RedisServer
) -> None:
    server.client().config_set("requirepass", "sesame")
    store = server.url.replace("//", "//:sesame@")
    cluster.call("create", "secret", "generic", "ordeal-store", f"--from-literal=url={store}")
    fleet = Fleet(tmp_path / "project", store, tmp_path / "state")
    with fleet.start("kubernetes", *OPTIONS, "--max-time", "45") as launcher:
        until(lambda: len(fleet.running()) == 3)
        os.killpg(cluster.pid_of(1), signal.SIGKILL)
        until(lambda: fleet.members()["member-000001"].get("restarts") == 1)
        report, _ = launcher.communicate(timeout=WAIT_SECONDS)
    assert launcher.returncode == 1, report
    assert "1 FAILURE:" in report
    assert "Member 1 was started again by the scheduler, once." in report
    assert not cluster.call("get", "jobs", "--output=name")
    until(lambda: not cluster.call("get", "pods", "--output=name"))
    assert not any(b"sesame" in path.read_bytes() for path in fleet.folder.rglob("*") if path.is_file())
    assert "sesame" not in report


def test_pods_that_cannot_start_end_the_fleet_and_say_why(
    tmp_path: Path, cluster: kubernetes.Kubernetes, server: RedisServer
) -> None:
    fleet = Fleet(tmp_path / "project", server.url.replace("//", "//:sesame@"), tmp_path / "state")
    server.client().config_set("requirepass", "sesame")
    with fleet.start("kubernetes", *OPTIONS, "--max-time", "45") as launcher:
        report, _ = launcher.communicate(timeout=WAIT_SECONDS)
    assert launcher.returncode == 2, report
    assert "CreateContainerConfigError" in report
    assert "\nhint: " in report
    assert not cluster.call("get", "jobs", "--output=name")


def test_what_the_guide_has_people_apply_is_taken(
    tmp_path: Path, cluster: kubernetes.Kubernetes, server: RedisServer
) -> None:
    written = [each for each in guide.blocks("Kubernetes", "yaml") if "apiVersion" in each]
    written.append(
        subprocess.run(
            [*ORDEAL, "explore", "--on", "kubernetes", *OPTIONS, "--store", server.url, "--dry-run"],
            cwd=tmp_path / "project",
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    kinds = []
    for text in written:
        said = cluster.call("apply", "--dry-run=server", "--validate=strict", "--filename=-", text=text)
        kinds += re.findall(r"^(\S+)/\S+ created \(server dry run\)$", said, re.MULTILINE)
    assert kinds == ["service", "statefulset.apps", "job.batch", "job.batch"]
