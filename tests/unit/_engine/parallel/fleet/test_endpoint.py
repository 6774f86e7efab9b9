"""Whether something listens is known within seconds."""

from __future__ import annotations

import socket

import pytest

from ordeal._engine.parallel.fleet.endpoint import host_and_port, listens, must_listen
from ordeal._engine.parallel.fleet.launcher import FleetError
from ordeal.errors import ConfigError


def test_a_head_that_is_not_there_is_an_error_with_a_hint() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens("127.0.0.1", port) == ""
    with pytest.raises(FleetError, match="no Ray cluster answers") as caught:
        must_listen("Ray", "127.0.0.1", port, "start one")
    assert caught.value.hint == "start one"


def test_addresses_are_checked() -> None:
    assert host_and_port("ray://head", 10001) == ("head", 10001)
    for wrong in ("ray://:1", "ray://h:99999", "ray://h:0"):
        with pytest.raises(ConfigError, match="no valid host"):
            host_and_port(wrong, 10001)
