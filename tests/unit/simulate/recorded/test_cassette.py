"""Cassettes of vcrpy are served, and hostile ones are refused."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.unit.simulate.recorded.conftest import Server

from ordeal.simulate import RecordDrift, RecordError, record

vcr = pytest.importorskip("vcr", reason="has no wheels for Python 3.15 yet")


def test_a_cassette_of_vcrpy_is_served(server: Server) -> None:
    with vcr.use_cassette("a.yaml"):
        for path in ("/users/1", "/packed", "/bytes", "/missing"):
            httpx.get(f"{server.url}{path}")
        httpx.post(f"{server.url}/orders", json={"cents": 100})
    server.stop()
    before = Path("a.yaml").read_bytes()
    with record("http", file="a.yaml"):
        assert httpx.get(f"{server.url}/users/1").json()["name"] == "Ann"
        assert httpx.get(f"{server.url}/packed").json() == {"name": "Ann"}
        assert httpx.get(f"{server.url}/bytes").content == bytes(range(256))
        assert httpx.get(f"{server.url}/missing").status_code == 404
        assert httpx.post(f"{server.url}/orders", json={"cents": 200}).text == 'got {"cents":100}'
    with pytest.raises(RecordDrift, match=r"/users/2 instead of .*/users/1"), record("http", file="a.yaml"):
        httpx.get(f"{server.url}/users/2")
    assert Path("a.yaml").read_bytes() == before


HEAD = "version: 1\ninteractions:\n"
ENTRY = """\
- request: {method: GET, uri: "http://a/", body: null, headers: {}}
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: hi}}
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "version None"),
        (HEAD.replace("1", "2") + ENTRY, "version '2'; version 1 is read"),
        (ENTRY, "version None"),
        (HEAD + ENTRY[:30], "cannot be read"),
        (HEAD + ENTRY.replace("200", "many"), "cannot be read"),
        (HEAD + ENTRY.replace("status", "state"), "cannot be read"),
        ("version: 1\ninteractions: 5\n", "cannot be read"),
        (HEAD + ENTRY.replace("hi", "!!python/object/apply:os.system [touch gone]"), "cannot be read"),
        (HEAD + " " + "[" * 100 + "]" * 100, "too deeply"),
        (HEAD + "[" * 10_000, "nest"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nversion: 1\ninteractions: [*b, *b]\n", "cannot be read"),
        ("\x00", "cannot be read"),
    ],
)
def test_a_file_that_is_no_cassette_is_refused(text: str, said: str) -> None:
    Path("a.yaml").write_text(text)
    with pytest.raises(RecordError) as caught, record("http", file="a.yaml"):
        pass
    assert said in caught.value.message
    assert caught.value.hint
    assert not Path("gone").exists()


def test_a_large_cassette_is_refused() -> None:
    with open("a.yaml", "wb") as file:
        file.truncate(2**25)
    with pytest.raises(RecordError, match="larger than"), record("http", file="a.yaml"):
        pass
