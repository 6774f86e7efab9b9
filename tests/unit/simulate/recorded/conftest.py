"""A server, which a test can stop."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _vcrpy() -> None:
    pytest.importorskip("vcr", reason="has no wheels for Python 3.15 yet")


class Answering(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        with suppress(BrokenPipeError):  # it did not wait for the answer
            self.wfile.write(body)

    def do_GET(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        if self.path == "/slow":
            time.sleep(0.5)
        if self.path == "/moved":
            self.send(302, b"", Location="/users/1")
        elif self.path == "/packed":
            self.send(200, gzip.compress(b'{"name": "Ann"}'), Content_Encoding="gzip", Content_Type="application/json")
        elif self.path == "/bytes":
            self.send(200, bytes(range(256)))
        elif self.path == "/missing":
            self.send(404, b"no")
        else:
            self.send(200, json.dumps({"path": self.path, "name": "Ann"}).encode(), Content_Type="application/json")

    def do_POST(self) -> None:
        self.server.asked.append(self.path)  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send(201, b"got " + body, Set_Cookie="sid=cookie-4711; Path=/")

    do_PUT = do_POST


class Server:
    def __init__(self) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self._server.asked = []  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    @property
    def asked(self) -> list[str]:
        asked: list[str] = self._server.asked  # type: ignore[attr-defined]
        return asked

    def stop(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
