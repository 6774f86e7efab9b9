"""A process that was asked has the request and the path of its sender, and nothing that it prints is in the answer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ordeal._base.interpreter import answer_of

PROGRAM = """
import atexit, os, sys, threading
from ordeal._engine.isolation.answering import send_and_exit, take_request

def main():
    request, answers = take_request()
    print("noise")
    os.write(1, b"noise")
    os.write(2, b"noise")
    threading.Thread(target=threading.Event().wait).start()
    atexit.register(answers.write, b"late")
    seen = [request["say"], sys.path, sys.argv[1:], sys.stdin.read()]
    answers.write(repr(seen).encode())
    send_and_exit(answers)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "answering_program.py").write_text(PROGRAM, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return "answering_program"


def answer(program: str, request: dict[str, Any]) -> str:
    return answer_of(program, request, seconds=60.0, bytes_max=10_000).decode()


def test_the_answer_holds_what_was_written_for_it_alone(program: str) -> None:
    request = {"say": "hello", "path": sys.path, "arguments": ["test", "-v"]}
    assert answer(program, request) == repr(["hello", json.loads(json.dumps(sys.path)), ["-v"], ""])


def test_arguments_stay_where_the_request_has_none(program: str) -> None:
    assert answer(program, {"say": "hello", "path": ["/a", "/b"]}).startswith("['hello', ['/a', '/b'], ['")
