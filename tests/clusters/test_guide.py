"""The commands of the guide of many machines, run as they stand there, on clusters of this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import redis
import yaml
from tests.clusters import engines, guide, kubernetes, project, slurm
from tests.clusters.watched import ORDEAL, WAIT_SECONDS, Fleet, until
from tests.unit.samples.stores import SERVER_PLACES, free_port, running_server

pytestmark = pytest.mark.nightly
SECONDS = "8"


def of_place(place: str) -> list[list[str]]:
    return [words for words in guide.commands() if "--on" in words and words[words.index("--on") + 1].startswith(place)]


def shortened(words: list[str], address: str, members: str) -> list[str]:
    """Return a command with what is here for what is there: another address, and a fleet that ends soon.

    It ends after its runs: on a busy machine, Ray alone takes a quarter of a minute to start a member.
    """
    given = [*words, "--max-runs", "3000"]
    for option, value in (("--on", address), ("--members", members), ("--max-time", "90")):
        if option in given:
            given[given.index(option) + 1] = value
        elif option == "--max-time":
            given += [option, value]
    if "--store" in given:
        del given[given.index("--store") : given.index("--store") + 2]
    return given


@pytest.mark.parametrize("place", ["local", "dask", "ray"])
def test_a_fleet_as_in_the_guide_finds_the_bug_and_tells_of_it(place: str, tmp_path: Path) -> None:
    if place != "local" and not engines.has(place):
        pytest.skip(f"needs ordeal[{place}]: `make test-clusters` has it")
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server, TemporaryDirectory(prefix="oc") as folder:
        fleet = Fleet(project.write(tmp_path / "project"), server.url, tmp_path / "state")

        def call(words: list[str]) -> tuple[int, str]:
            done = subprocess.run(
                [*ORDEAL, *words], cwd=fleet.folder, env=fleet.environment, capture_output=True, text=True, check=False
            )
            return done.returncode, done.stdout + done.stderr

        def explore(address: str) -> None:
            for words in of_place(place):
                code, said = call(shortened(words, address, "2"))
                assert code == 1, said
                assert "fleet of 2 members" in said
                assert "AssertionError (4 steps)" in said

        if place == "local":
            explore("local:2")
        else:
            with engines.running(place, Path(folder) / "c") as cluster:
                explore(cluster.address)
        assert "ended" in call(["fleet", "status"])[1]
        code, said = call(["seeds", "pull"])
        assert code == 1
        assert "1 known" in said


def test_what_tells_of_a_fleet_and_stops_it(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    with running_server(tmp_path / "redis") as server:
        fleet = Fleet(project.write(tmp_path / "project"), server.url, tmp_path / "state")

        def start(*words: str) -> subprocess.Popen[str]:
            return subprocess.Popen(
                [*ORDEAL, *words], cwd=fleet.folder, env=fleet.environment, stdout=subprocess.PIPE, text=True
            )

        with fleet.start("local:2", "--max-time", "600") as launcher:
            until(lambda: len(fleet.running()) == 2)
            for word, said in (("status", "2 members running of 2"), ("logs", "No member of"), ("stop", "")):
                told, _ = start("fleet", word, server.url).communicate(timeout=WAIT_SECONDS)
                assert said in told
            report, _ = launcher.communicate(timeout=WAIT_SECONDS)
        assert launcher.returncode == 1, report
        assert "fleet of 2 members" in report


def test_machines_that_share_a_server(tmp_path: Path, shell: Path) -> None:
    folder = project.write(tmp_path / "project")
    (tmp_path / "redis").mkdir()
    (job,) = guide.blocks("GitHub Actions", "yaml")
    steps = yaml.safe_load(job)["jobs"]["explore"]["steps"]
    (explore,) = (step["run"] for step in steps if step.get("name") == "Explore")
    first = " ".join(["ordeal", *guide.commands()[0]])
    with running_server(tmp_path / "redis") as server:
        for text in (re.sub(r"redis://\S+", server.url, first), explore):
            limited = re.sub(r" --max-time \d+|$", f" --max-time {SECONDS}", text, count=1)
            said = run(f"export ORDEAL_STORE={server.url}; {limited}", folder)
            assert "1 FAILURE:" in said


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that come first: `ordeal`, and an `ssh` whose hosts are this one."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (
        ("ordeal", f'exec "{sys.executable}" -m ordeal "$@"'),
        ("ssh", 'cd "$HOME" && exec sh -c "$2"'),
    ):
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}:/usr/sbin:/sbin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return programs


def run(text: str, folder: Path) -> str:
    done = subprocess.run(["bash", "-c", text], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    return done.stdout + done.stderr


def test_four_shells_share_a_folder(shell: Path, tmp_path: Path) -> None:
    folder = project.write(tmp_path / "myapp")
    said = run(re.sub("explore -v", f"explore -v --max-time {SECONDS}", guide.blocks("A few shells")[0]), folder)
    assert said.count("1 FAILURE:") == 4, said
    assert (folder / ".ordeal/store").is_dir()


def test_shells_of_other_machines_share_a_server(shell: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write(tmp_path / "myapp")
    port = free_port()
    monkeypatch.setenv("PASSWORD", "sesame")
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{SERVER_PLACES}")
    text = guide.blocks("A few shells")[1].replace("0.0.0.0", f"127.0.0.1 --port {port} --dir {tmp_path}")
    text = re.sub(r"\$\(hostname\):\d+", f"127.0.0.1:{port}", text).replace("--max-time 3600", f"--max-time {SECONDS}")
    with (tmp_path / "spied").open("wb") as spied:
        command = ["sh", "-c", "while sleep 0.2; do ps -eo args; done"]
        spying = subprocess.Popen(command, stdout=spied, start_new_session=True)
    try:
        said = run(text, tmp_path)
    finally:
        os.killpg(spying.pid, signal.SIGKILL)
        spying.wait()
        redis.Redis(port=port, password="sesame").shutdown(nosave=True)
    assert said.count("1 FAILURE:") == 3, said
    assert "sesame" not in said
    seen = (tmp_path / "spied").read_text(errors="replace")
    assert "ordeal explore" in seen
    assert "sesame" not in seen


@pytest.mark.skipif(bool(slurm.missing()), reason="needs the Debian packages slurm-wlm and munge")
def test_the_jobs_of_slurm(shell: Path, tmp_path: Path) -> None:
    folder = project.write(tmp_path / "project")
    with TemporaryDirectory(prefix="oc") as place, slurm.running(Path(place) / "c") as cluster:
        environment = cluster.environment | {"ORDEAL_STORE": f"dir://{tmp_path}/store"}
        (words,) = of_place("slurm")
        done = subprocess.run(
            [*ORDEAL, *shortened(words, "slurm", "2")],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        assert "fleet of 2 members" in done.stdout
        script = folder / "job.sh"
        (text,) = guide.blocks("Slurm")
        text = text.replace("0-31", "0-1").replace("per-task=4", "per-task=1").replace("6600", SECONDS)
        script.write_text(text.replace("srun ", "srun --mpi=none "))
        wait = subprocess.run(["sbatch", "--wait", str(script)], cwd=folder, env=environment, check=False, timeout=240)
        # Each task ends with 1, for what it found, and so does the command.
        assert wait.returncode == 1
        logs = [path.read_text() for path in folder.glob("slurm-*.out")]
        assert [log.count("1 FAILURE:") for log in logs] == [1, 1], logs


@pytest.mark.skipif(bool(kubernetes.missing()), reason="needs Go, and the Debian package etcd-server")
def test_the_job_of_kubernetes(tmp_path: Path) -> None:
    (tmp_path / "redis").mkdir()
    folder = project.write(tmp_path / "project")
    with running_server(tmp_path / "redis") as server, kubernetes.running(tmp_path / "cluster", folder) as cluster:
        fleet = Fleet(folder, server.url, tmp_path / "state")
        (words,) = of_place("kubernetes")
        done = subprocess.run(
            [*ORDEAL, *shortened(words, "kubernetes", "2")],
            cwd=folder,
            env=fleet.environment | cluster.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        assert "fleet of 2 members" in done.stdout
