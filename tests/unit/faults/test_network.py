"""What the faults of the network raise, and how responses are cut."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import pickle
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from ordeal.faults import network
from ordeal.faults.network import HTTPFaultError

CHARGE, LATER = "shop_app.api.charge", "shop_app.api.charge_later"


def test_http_error_has_what_clients_look_at(api: Any) -> None:
    with network.http_error(CHARGE, 418, "I'm a teapot"), pytest.raises(HTTPFaultError) as caught:
        api.charge()
    error, response = caught.value, caught.value.response
    assert (str(error), error.status_code, error.retry_after) == ("418 I'm a teapot", 418, None)
    assert (response.status_code, response.text, response.content) == (418, "I'm a teapot", b"I'm a teapot")
    assert (response.json(), dict(response.headers)) == ({"error": "I'm a teapot"}, {})


def test_a_text_of_json_is_read(api: Any) -> None:
    with network.http_error(CHARGE, 400, '{"field": "amount"}'), pytest.raises(HTTPFaultError) as caught:
        api.charge()
    assert caught.value.response.json() == {"field": "amount"}


@pytest.mark.parametrize(("seconds", "header"), [(30.0, "30"), (0, "0"), (1.2, "2")])
def test_rate_limited_says_when_to_come_again(api: Any, seconds: float, header: str) -> None:
    with network.rate_limited(LATER, seconds), pytest.raises(HTTPFaultError) as caught:
        asyncio.run(api.charge_later())
    error = caught.value
    assert (error.status_code, error.retry_after) == (429, seconds)
    headers = error.response.headers
    assert dict(headers) == {"Retry-After": header}
    assert headers["retry-after"] == headers.get("RETRY-AFTER") == header
    assert (len(headers), "other" in headers) == (1, False)


def test_the_error_can_be_copied_and_sent_between_processes() -> None:
    error = HTTPFaultError(429, "Too Many Requests", 2.0)
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (str(twin), twin.retry_after, twin.response) == (str(error), 2.0, error.response)


@pytest.mark.parametrize(("status", "message"), [(401, "Unauthorized"), (403, "Forbidden"), (407, "Forbidden")])
def test_auth_failure(api: Any, status: int, message: str) -> None:
    with network.auth_failure(CHARGE, status), pytest.raises(HTTPFaultError, match=f"^{status} {message}$"):
        api.charge()


def test_lost_connections_are_the_errors_of_sockets(api: Any) -> None:
    with network.connection_reset(CHARGE), pytest.raises(ConnectionError, match=f"Connection reset by peer: {CHARGE}"):
        api.charge()
    with network.dns_failure(CHARGE), pytest.raises(socket.gaierror) as caught:
        api.charge()
    assert isinstance(caught.value, OSError)
    assert caught.value.errno == -2


def test_intermittent_http_error_counts_calls_until_reset(api: Any) -> None:
    fault = network.intermittent_http_error(CHARGE, 2, 502, "Bad Gateway")
    with fault:
        assert api.charge() == 1
        with pytest.raises(HTTPFaultError, match=r"^502 Bad Gateway$"):
            api.charge()
        assert api.charge() == 1
    fault.reset()
    with fault:
        assert api.charge() == 1


# partial_response


class Computed:
    """As the responses of some clients: the text is computed, and cannot be set."""

    def __init__(self) -> None:
        self._text = "kettle"
        self.url = "/order"

    @property
    def text(self) -> str:
        return self._text


@dataclasses.dataclass(frozen=True)
class Frozen:
    text: str = "kettle"
    url: str = "/order"


@dataclasses.dataclass(frozen=True, slots=True)
class FrozenSlots:
    text: str = "kettle"
    url: str = "/order"


@pytest.mark.parametrize(
    "response",
    [SimpleNamespace(text="kettle", url="/order", content=b"kettle"), Computed(), Frozen(), FrozenSlots()],
    ids=lambda response: type(response).__name__,
)
def test_a_response_is_copied_and_its_text_cut(api: Any, response: Any) -> None:
    with network.partial_response(CHARGE):
        found = api.charge(response)
    assert (found.text, found.url, type(found).__name__) == ("ket", "/order", type(response).__name__)
    assert isinstance(found, type(response))
    assert response.text == "kettle"
    assert getattr(found, "content", b"kettle") == b"kettle"


@pytest.mark.parametrize(
    ("response", "attribute"),
    [
        (SimpleNamespace(output_text="kettle", text="kettle"), "output_text"),
        (SimpleNamespace(text=lambda: "kettle", content=b"kettle"), "content"),
    ],
)
def test_the_first_text_is_cut(api: Any, response: Any, attribute: str) -> None:
    with network.partial_response(CHARGE):
        assert getattr(api.charge(response), attribute) in ("ket", b"ket")


@pytest.mark.parametrize(("result", "cut"), [("kettle", "k"), (b"kettle", b"k"), ("", ""), (7, 7), (None, None)])
def test_partial_response_of_plain_results(api: Any, result: Any, cut: Any) -> None:
    with network.partial_response(CHARGE, 0.25):
        assert api.charge(result) == cut
