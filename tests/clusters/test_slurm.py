"""A fleet on a real Slurm: an array of four, of which one task is cancelled and one is requeued."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.clusters import project, slurm

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(bool(slurm.missing()), reason="needs the Debian packages slurm-wlm and munge"),
]
ORDEAL = [sys.executable, "-m", "ordeal"]
#: Slurm waits two minutes before it starts a requeued task again.
WAIT_SECONDS = 240.0


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.3)


def test_one_task_is_cancelled_and_one_requeued(tmp_path: Path) -> None:
    folder = project.write(tmp_path / "project")
    # The daemons' sockets need a short path.
    with TemporaryDirectory(prefix="ordeal-slurm-") as place, slurm.running(Path(place) / "cluster") as cluster:
        store = f"dir://{place}/store"
        command = [*ORDEAL, "explore", "--on", "slurm", "--members", "4", "--max-time", "25", "--store", store]
        with subprocess.Popen(command, cwd=folder, env=cluster.environment, stdout=subprocess.PIPE, text=True) as fleet:
            status = [*ORDEAL, "fleet", "status", store]
            _until(
                lambda: (
                    "4 members running" in subprocess.run(status, capture_output=True, text=True, check=False).stdout
                )
            )
            job = cluster.call("squeue", "--noheader", "--format=%F").split()[0]
            cluster.call("scancel", f"{job}_2")
            cluster.call("scontrol", "requeue", f"{job}_1")
            report, _ = fleet.communicate(timeout=WAIT_SECONDS)
        assert fleet.returncode == 1
        assert "1 FAILURE:" in report
        assert "Member 1 was started again by the scheduler, once." in report
        assert "Member 2" in report
        assert not cluster.call("squeue", "--noheader", f"--user={os.getuid()}")
