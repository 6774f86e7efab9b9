"""A fresh interpreter has the request and the path of its sender, and ends at its limits with all that it started."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ordeal._base.interpreter import answer_of, finish, start, start_code, usable_cpus


def finished(program: str, given: bytes = b"", seconds: float = 60.0, bytes_max: int = 1_000, keeps: int = 1) -> bytes:
    process = start([sys.executable, "-I", "-S", "-c", program], pipes=["stdin", "stdout"], pass_fds=[keeps])
    answer, _ = finish(process, given, seconds=seconds, bytes_max=bytes_max)
    assert process.returncode is not None
    return answer


def test_what_is_too_long_is_cut_off_and_its_process_ended() -> None:
    answer = finished("while True: print('x' * 1_000, flush=True)")
    assert len(answer) > 1_000
    assert set(answer) <= {ord("x"), ord("\n")}


def test_a_process_that_hangs_is_ended_and_so_is_what_it_started() -> None:
    reading, writing = os.pipe()
    finished("import os, time; os.fork(); print('begun', flush=True); time.sleep(600)", seconds=0.3, keeps=writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        assert stream.read() == b"", "the pipe is closed when the last of them has ended"


def test_a_module_is_found_where_arguments_say_and_the_collector_waits_until_it_is_imported(tmp_path: Path) -> None:
    (tmp_path / "asked.py").write_text(
        "import gc\nbefore = gc.isenabled()\n"
        "def told(number): print(before, gc.isenabled(), gc.get_freeze_count() > 0, number)\n"
    )
    program = [sys.executable, "-I", "-c", start_code("asked", "told(3)"), str(tmp_path)]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout == "False True True 3\n"


PROGRAM = """
import atexit, os, sys, threading
from ordeal._base.interpreter import send_and_exit, take_request

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
    return answer_of(program, request, seconds=60.0).decode()


def test_the_answer_holds_what_was_written_for_it_alone(program: str) -> None:
    request = {"say": "hello", "path": sys.path, "arguments": ["test", "-v"]}
    assert answer(program, request) == repr(["hello", json.loads(json.dumps(sys.path)), ["-v"], ""])


def test_only_cpus_that_the_process_may_use_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0: {0, 3}}[process], raising=False)
    assert usable_cpus() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert usable_cpus() == 1
