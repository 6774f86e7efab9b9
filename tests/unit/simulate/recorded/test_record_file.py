"""What is not a record is refused."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ordeal.simulate import RecordError, record
from ordeal.simulate.recorded.record_file import HEAD, Entry, Reply, http_reply, to_bytes, to_text

LINE = '{"kind": "process", "request": {"arguments": "true"}, "reply": {}}\n'


def write(text: str | bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(text if isinstance(text, bytes) else text.encode())


def huge(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(2**20)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (write(""), "line 1"),
        (write(HEAD.replace("1", "2") + LINE), "of version 2; this ordeal reads 'ordeal-record' of version 1"),
        (write('{"format": "ordeal-trace", "version": 1}\n'), "'ordeal-trace'"),
        (write("[" * 100_000), "too deeply"),
        (write(HEAD + "{" + LINE), "line 2"),
        (write(HEAD + LINE[:20]), "not JSON"),
        (write(HEAD + LINE.replace("process", "socket")), "socket"),
        (write(HEAD + LINE.replace('"reply"', '"replies"')), "replies"),
        (write(HEAD + LINE.replace('"true"', "1")), "Expected `str`"),
        (write(b"\xff\xfe"), "UTF-8"),
        (huge, "larger than"),
        (os.mkfifo, "not a regular file"),
        (Path.mkdir, "directory"),
    ],
)
def test_a_file_that_is_no_record_is_refused(
    make: Callable[[Path], object], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ordeal.simulate.recorded.record_file.INPUT_BYTES_MAX", 2**19)
    make(Path("a.jsonl"))
    for ordered in (True, False):
        with pytest.raises(RecordError) as caught, record("process", file="a.jsonl", ordered=ordered):
            pass
        assert said in caught.value.message
        assert "a.jsonl" in caught.value.message
        assert caught.value.hint


def test_an_error_whose_class_is_not_an_error_is_refused() -> None:
    error = {"kind": "process", "request": {"arguments": "true"}, "error": {"type": "os.system"}}
    Path("a.jsonl").write_text(HEAD + json.dumps(error) + "\n")
    with pytest.raises(RecordError, match=r"class 'os.system'"), record("process", file="a.jsonl"):
        subprocess.run(["true"])


@pytest.mark.parametrize("data", [b"", b"text", bytes(range(256)), b"base64:", "é\u2028".encode()])
def test_bytes_survive(data: bytes) -> None:
    entry = Entry(kind="files", request={"call": "open"}, reply=Reply(body=to_text(data)))
    assert to_bytes(json.loads(entry.line)["reply"].get("body", "")) == data


def test_damaged_base64_is_named() -> None:
    with pytest.raises(RecordError, match="base64"):
        to_bytes("base64:a")


def test_a_body_in_which_nothing_can_be_masked_is_refused() -> None:
    with pytest.raises(RecordError, match="encoding 'br'") as caught:
        http_reply(200, "OK", {"Content-Encoding": ["br"]}, b"\xff\xfe\xfd")
    assert "gzip" in str(caught.value.hint)
