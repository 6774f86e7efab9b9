"""Processes are served without a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ordeal.simulate import RecordDrift, RecordError, record

PRINT = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(int(sys.argv[1]))"


def noted(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except subprocess.TimeoutExpired as error:
        return error.cmd  # how long it waited differs by a little
    except Exception as error:
        return type(error), str(error), vars(error)


def talk() -> list[Any]:
    done = subprocess.run(["sh", "-c", "cat; echo err >&2; exit 3"], input="hé\n", capture_output=True, text=True)
    with open("printed.txt", "wb") as file:
        subprocess.run([sys.executable, "-c", PRINT, "0"], stdout=file, stderr=subprocess.STDOUT, check=True)
    return [
        (done.args, done.returncode, done.stdout, done.stderr),
        Path("printed.txt").read_text(),
        subprocess.check_output("echo shell", shell=True),
        subprocess.getoutput("echo got"),
        subprocess.call(["false"]),
        os.system("exit 4"),
        noted(lambda: subprocess.run(["false"], check=True)),
        noted(lambda: subprocess.check_call(["no-such-program"])),
        noted(lambda: subprocess.run(["sleep", "5"], timeout=0.1)),
    ]


def test_what_was_recorded_is_served_without_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = talk()
    with record("process", file="a.jsonl"):
        recorded = talk()
    monkeypatch.setattr(subprocess.Popen, "_execute_child", None)
    monkeypatch.setenv("PATH", "")
    with record("process", file="a.jsonl"):
        served = talk()
    assert served == recorded == plain


def test_a_process_that_talks_is_refused() -> None:
    with (
        pytest.raises(RecordError, match=r"sleep 1. is started with Popen") as caught,
        record("process", file="a.jsonl"),
    ):
        subprocess.Popen(["sleep", "1"])
    assert "subprocess.run" in str(caught.value.hint)


def test_outside_the_block_processes_are_real() -> None:
    with record("process", file="a.jsonl"):
        run = subprocess.run
    assert run(["echo", "real"], capture_output=True).stdout == b"real\n"
    assert run is not subprocess.run


def test_another_input_is_another_request() -> None:
    with record("process", file="a.jsonl"):
        subprocess.run(["cat"], input=b"one", capture_output=True)
    with pytest.raises(RecordDrift, match="stdin: two instead of one"), record("process", file="a.jsonl"):
        subprocess.run(["cat"], input=b"two", capture_output=True)
