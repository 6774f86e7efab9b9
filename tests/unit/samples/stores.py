"""Stores for tests: a Redis server of the test's own, and members that are processes of their own."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import redis

import ordeal
from ordeal.store import Store, open_store
from ordeal.store.backend import Backend
from ordeal.store.directory_backend import DirectoryBackend
from ordeal.store.redis_backend import RedisBackend

PACKAGE_FOLDER = Path(ordeal.__file__).absolute().parents[1]
#: Far more than anything here takes, on a machine that does much else.
PATIENCE_SECONDS = 60.0
NAMESPACE = "shop:Till counts"
#: Debian keeps its servers where not every user looks.
SERVER_PLACES = os.pathsep.join([os.environ.get("PATH", ""), "/usr/bin", "/usr/sbin", "/usr/local/bin"])


class RedisServer:
    """A real server on the loopback, which writes down each command before it answers."""

    def __init__(self, folder: Path) -> None:
        found = shutil.which("redis-server", path=SERVER_PLACES) or shutil.which("valkey-server", path=SERVER_PLACES)
        assert found, "these tests need a Redis server: run `tools/system-packages test`, or install redis-server"
        self._program = found
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.port = 0
        #: Closes what is connected. Freed without a GIL, a client may come after its socket, which warns then.
        self.connected = contextlib.ExitStack()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        client = redis.Redis(port=self.port, socket_timeout=PATIENCE_SECONDS)
        self.connected.callback(client.close)
        return client

    def start(self) -> None:
        """Start it, at the same port as before, and wait until it answers."""
        while not self._is_up():
            if not self.port or self._process is None:
                self.port = free_port()
            self._process = subprocess.Popen(
                [
                    *(self._program, "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self._folder)),
                    *("--appendonly", "yes", "--save", "", "--daemonize", "no"),
                ],
                stdout=subprocess.DEVNULL,
            )

    def _is_up(self) -> bool:
        """Whether the process answers; False when it ended, as somebody else had the port."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._process is not None and self._process.poll() is None:
            assert time.monotonic() < deadline, "the Redis server does not answer"
            with contextlib.suppress(redis.ConnectionError):
                self.client().ping()
                return True
            time.sleep(0.01)
        return False

    def kill(self) -> None:
        """End it as a power failure would."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        self.connected.close()
        if self._process is not None and self._process.poll() is None:
            self.kill()


@contextlib.contextmanager
def running_server(folder: Path) -> Iterator[RedisServer]:
    server = RedisServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Place:
    """Somewhere a store can be: opens members, and damages what others wrote."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.opened: list[Store] = []

    def open(self, namespace: str = NAMESPACE) -> Store:
        store = open_store(self.url, namespace)
        self.opened.append(store)
        return store

    def close(self) -> None:
        for store in self.opened:
            store.close()


def backend_of(store: Store) -> Backend:
    return store._backend


def write_shard(store: Store, data: bytes, *, token: str = "0123456789abcdef") -> None:
    """Put bytes where the shard of another member would be."""
    backend_of(store).write(token, 0, data)


def folder_of(store: Store) -> Path:
    """The folder of the namespace, where the store is a folder."""
    backend = backend_of(store)
    assert isinstance(backend, DirectoryBackend)
    return backend._shards.parent


def prefix_of(store: Store) -> str:
    """How the keys of the namespace begin, where the store is a server."""
    backend = backend_of(store)
    assert isinstance(backend, RedisBackend)
    return backend._prefix


def python_process(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Run ``script`` in a separate process. Its output can be read."""
    path = os.pathsep.join([str(PACKAGE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
