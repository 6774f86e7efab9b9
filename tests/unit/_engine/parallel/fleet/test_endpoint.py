"""Whether something listens is known within seconds."""

from __future__ import annotations

import socket
import threading

import pytest

from ordeal._engine.parallel.fleet.endpoint import host_and_port, listens, must_greet
from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal.errors import ConfigError


def test_a_head_that_is_not_there_or_does_not_speak_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ordeal._engine.parallel.fleet.endpoint.GREET_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens("127.0.0.1", port) == ""
        with pytest.raises(FleetError, match="timed out"):
            must_greet("Ray", "127.0.0.1", port, "start one", bool)
    with pytest.raises(FleetError, match="no Ray cluster answers") as caught:
        must_greet("Ray", "127.0.0.1", port, "start one", bool)
    assert caught.value.hint == "start one"


def test_a_server_of_another_kind_is_no_cluster() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"SSH-2.0-OpenSSH_9.2")

        greeter = threading.Thread(target=greet)
        greeter.start()
        with pytest.raises(FleetError, match="something else listens there"):
            must_greet("Ray", "127.0.0.1", server.getsockname()[1], "start one", lambda data: data[3:4] == b"\x04")
        greeter.join()


def test_addresses_are_checked() -> None:
    assert host_and_port("ray://head", 10001) == ("head", 10001)
    for wrong in ("ray://:1", "ray://h:99999", "ray://h:0"):
        with pytest.raises(ConfigError, match="no valid host"):
            host_and_port(wrong, 10001)
