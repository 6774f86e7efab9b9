"""Generated async programs do the same in two processes that differ."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "determinism.py"


def compare(programs: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(TOOL), "--programs", str(programs)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_some_programs() -> None:
    done = compare(200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "200 programs did the same in both processes\n"


@pytest.mark.nightly
def test_many_programs() -> None:
    done = compare(10_000)
    assert done.returncode == 0, done.stdout + done.stderr
