"""The same seed does the same in every process, whatever the hash seed, the folder, the zone and the garbage are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ...samples import async_programs

PROGRAMS, SCHEDULES = 30, 5


def odd_process(folder: Path) -> list[str]:
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "4321",
        "TZ": "Asia/Kathmandu",
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[4]), *filter(None, sys.path)]),
        "PYTHONDONTWRITEBYTECODE": "1",
        **({} if "t" in sys.abiflags else {"PYTHONMALLOC": "malloc"}),
    }
    command = [sys.executable, "-W", "ignore", "-m", "tests.unit.samples.async_programs", str(PROGRAMS), str(SCHEDULES)]
    done = subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def test_another_process_does_the_same(tmp_path: Path) -> None:
    here = async_programs.lines(PROGRAMS, SCHEDULES)
    assert odd_process(tmp_path) == here
    assert len({line.split()[2] for line in here}) > PROGRAMS * SCHEDULES // 2


def test_again_in_this_process_it_does_the_same() -> None:
    assert async_programs.lines(10, 3) == async_programs.lines(10, 3)
