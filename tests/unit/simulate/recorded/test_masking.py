"""No secret reaches a file."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from tests.unit.simulate.recorded.conftest import Server

from ordeal.simulate import record
from ordeal.simulate.recorded.masking import MASKED, Masks, fits

SECRETS = {name: f"s3cr3t-{name}-9f81" for name in (
    "bearer", "cookie", "set_cookie", "key", "query", "json", "form", "basic", "environment", "argument", "reply",
    "option", "shell", "nested", "multipart", "xml", "proxy", "echo", "file", "header_of_mine", "path",
)}  # fmt: skip


def test_no_secret_is_written(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    s = SECRETS
    monkeypatch.setenv("SERVICE_TOKEN", s["environment"])
    Path("settings.ini").write_text(f"[db]\npassword = {s['file']}\nuser = ann\n")
    options = {"file": "a.jsonl", "mask": ["^x-tenant$", "s3cr3t-echo-[0-9a-f]+"]}
    with record("http", "process", "files", **options):  # type: ignore[arg-type]
        httpx.get(
            f"{server.url}/users?access_token={s['query']}&page=2",
            headers={
                "Authorization": f"Bearer {s['bearer']}",
                "X-Api-Key": s["key"],
                "Proxy-Authorization": s["proxy"],
                "X-Tenant": s["header_of_mine"],
                "Cookie": f"sid={s['cookie']}; theme=dark-blue",
            },
        )
        httpx.post(
            f"{server.url}/a", json={"password": s["json"], "deep": [{"clientSecret": s["nested"], "name": "Ann"}]}
        )
        httpx.post(f"{server.url}/a", data={"passwd": s["form"], "name": "Ann"})
        httpx.post(f"{server.url}/a", data={"password": s["multipart"]}, files={"file": b"content"})
        httpx.post(f"{server.url}/a", content=f"<a><password>{s['xml']}</password><name>Ann</name></a>")
        httpx.post(f"{server.url}/a", content=f'{{"access_token": "{s["reply"]}", "token_type": "bearer"}}')
        httpx.get(f"{server.url}/session/{s['reply']}/a")
        httpx.get(f"{server.url}/session/{s['path']}/a", headers={"X-Auth-Token": s["path"]})
        httpx.get(f"{server.url}/a".replace("//", f"//ann:{s['basic']}@"))
        httpx.post(f"{server.url}/a", content=f"Set-Cookie: sid={s['set_cookie']}; and {s['echo']}")
        subprocess.run(["echo", "--password", s["option"], f"--api-key={s['argument']}"], capture_output=True)
        subprocess.run(f"echo --api-token {s['shell']}", shell=True, capture_output=True)
        subprocess.run(["env"], env={"PATH": "/usr/bin:/bin", "DB_PASSWORD": s["environment"]}, capture_output=True)
        subprocess.run(["sh", "-c", 'echo "$SERVICE_TOKEN"'], capture_output=True)
        Path("settings.ini").read_text()
    text = Path("a.jsonl").read_text()
    encoded = [base64.b64encode(f"ann:{s['basic']}".encode()).decode(), *s.values()]
    assert [each for each in encoded if each in text] == []
    assert [each for each in ("page=2", "Ann", "token_type", "bearer", "user = ann") if each not in text] == []


def test_a_secret_that_was_masked_fits_any_other() -> None:
    assert fits(f"/session/{MASKED}/a", "/session/s3cr3t/a")
    assert fits(f"{MASKED}-{MASKED}", "one-two")
    assert not fits(f"/session/{MASKED}/a", "/session/s3cr3t/b")
    assert not fits(f"aa{MASKED}aa", "aaa")
    assert not fits("a", "b")


@pytest.mark.parametrize(
    "text",
    [
        '{"total_tokens": 150, "name": "Ann", "author": "Bob"}',
        "The password is wrong, and the token has expired.",
        "a key: value; keyboard=qwerty",
        "https://api.example/users/1?page=2#top",
        "Mon, 30 Nov 2026 00:00:00 GMT",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert Masks().text(text) == text


@pytest.mark.parametrize(
    "part", ["QUJD+/", "token", "a-b.c", 'name="', "--token", "<a:", " token ", "a://", "-----BEGIN "]
)
def test_a_long_text_does_not_take_long(part: str) -> None:
    began = time.process_time()
    Masks().text(part * (100_000 // len(part)))
    assert time.process_time() - began < 2  # a pattern that goes back and forth takes hours


def test_json_stays_as_it_is_written_where_nothing_is_masked() -> None:
    text = '{ "b":1,\n "a": [1.50, null, "é"] }'
    assert Masks().text(text) == text
    assert json.loads(Masks().text('{"pin_password": 1234}')) == {"pin_password": MASKED}
