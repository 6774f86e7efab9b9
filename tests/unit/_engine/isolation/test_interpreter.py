"""A fresh interpreter is ended when its time or its size is over, with all that it started."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ordeal._engine.isolation.interpreter import answer_of, finish


def finished(program: str, given: bytes = b"", seconds: float = 60.0, bytes_max: int = 1_000, keeps: int = 1) -> bytes:
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        pass_fds=[keeps],
    )
    answer = finish(process, given, seconds=seconds, bytes_max=bytes_max)
    assert process.returncode is not None
    return answer


def test_all_that_is_written_is_the_answer() -> None:
    assert finished("import sys; print(sys.stdin.read()[::-1], end='')", b"abc") == b"cba"


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


def test_a_process_that_reads_nothing_has_no_answer() -> None:
    assert finished("import os; os.close(0)", b"x" * 10_000_000) == b""


def test_a_module_that_is_not_there_gives_no_answer() -> None:
    with pytest.raises(ValueError, match="without an answer"):
        answer_of("no_such_module", {}, seconds=60.0, bytes_max=1_000)
