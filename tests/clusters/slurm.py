"""A Slurm of one node on this machine, for a test, with its own keys, ports and folders."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
START_SECONDS = 30.0
#: The node says that it has so many processors, so that a small array runs at once anywhere.
PROCESSORS = 8


def missing() -> list[str]:
    """Return the programs of Slurm that are not here."""
    return [name for name in NEEDED if shutil.which(name, path=_path()) is None]


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


@dataclass(frozen=True)
class Slurm:
    """A running cluster; ``environment`` lets its commands find it."""

    environment: dict[str, str]

    def call(self, *command: str) -> str:
        """Run a command of the cluster and return what it prints."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=20, check=True)
        return done.stdout


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Slurm]:
    """Start the daemons in ``folder``, whose path must be short, and end them by their ids."""
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    for name in ("state", "spool", "munge"):
        (folder / name).mkdir(mode=0o755)
    key = folder / "munge/key"
    key.write_bytes(secrets.token_bytes(128))
    key.chmod(0o600)
    config = folder / "slurm.conf"
    config.write_text(_config(folder), encoding="utf-8")
    (folder / "cgroup.conf").write_text("CgroupPlugin=autodetect\n", encoding="utf-8")
    environment = {**os.environ, "PATH": _path(), "SLURM_CONF": str(config)}
    daemons: list[subprocess.Popen[bytes]] = []
    with (folder / "daemons.log").open("wb") as log, contextlib.ExitStack() as ends:
        ends.callback(_end, daemons)
        for command in (_munged(folder), ("slurmctld", "-D", "-i"), ("slurmd", "-D", "-N", "node0")):
            daemons.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
            if command[0] == "munged":
                _wait_for((folder / "munge/socket").exists)
        slurm = Slurm(environment)
        _wait_for(lambda: "idle" in slurm.call("sinfo", "--noheader", "--format=%t"))
        try:
            yield slurm
        finally:
            with contextlib.suppress(subprocess.SubprocessError):
                slurm.call("scancel", "--user", getpass.getuser())
                _wait_for(lambda: not slurm.call("squeue", "--noheader"))


def _munged(folder: Path) -> tuple[str, ...]:
    files = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed", "log-file": "log"}
    return "munged", "--foreground", "--force", *(f"--{name}={folder}/munge/{file}" for name, file in files.items())


def _config(folder: Path) -> str:
    controller, node = _free_ports()
    host = socket.gethostname().partition(".")[0]
    return f"""\
ClusterName=ordeal
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={getpass.getuser()}
SlurmdUser={getpass.getuser()}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
JobRequeue=1
KillWait=20
MinJobAge=2
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
NodeName=node0 NodeHostname={host} NodeAddr=127.0.0.1 CPUs={PROCESSORS} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def _free_ports() -> tuple[int, int]:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        return one.getsockname()[1], other.getsockname()[1]


def _wait_for(condition: object) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(subprocess.SubprocessError):
            if condition():  # type: ignore[operator]
                return
        if time.monotonic() > deadline:
            raise TimeoutError("the cluster did not start")
        time.sleep(0.2)


def _end(daemons: list[subprocess.Popen[bytes]]) -> None:
    for daemon in reversed(daemons):
        daemon.terminate()
        try:
            daemon.wait(timeout=10)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
