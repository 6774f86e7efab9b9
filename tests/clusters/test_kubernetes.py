"""A fleet as the indexed job of Kubernetes: its pods are processes here, one of which is killed."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from tests.clusters import kubernetes, project
from tests.clusters.watched import WAIT_SECONDS, Fleet, until
from tests.unit.samples.stores import running_server

pytestmark = pytest.mark.nightly


def test_a_killed_pod_is_started_again_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "cluster"
    kubernetes.install(tmp_path, state)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server:
        server.client().config_set("requirepass", "sesame")
        store = server.url.replace("//", "//:sesame@")
        (state / "secret-ordeal-store-url").write_text(store)
        fleet = Fleet(project.write(tmp_path / "project"), store, tmp_path / "state")
        options = ("--image", "app:1", "--members", "3", "--max-time", "30", "--fleet-name", "night")
        with fleet.start("kubernetes", *options) as launcher:
            until(lambda: len(fleet.running()) == 3)
            pid = json.loads((state / "night.json").read_text())["status"]["pids"]["1"]
            os.killpg(pid, signal.SIGKILL)
            until(lambda: fleet.members()["member-000001"].get("restarts") == 1)
            report, _ = launcher.communicate(timeout=WAIT_SECONDS)
        assert launcher.returncode == 1, report
        assert "1 FAILURE:" in report
        assert "Member 1 was started again by the scheduler, once." in report
        assert (state / "night.deleted").exists()
        assert not any(b"sesame" in path.read_bytes() for path in fleet.folder.rglob("*") if path.is_file())
        assert "sesame" not in report
