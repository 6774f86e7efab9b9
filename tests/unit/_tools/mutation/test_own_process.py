"""A judge in a separate process answers who asked, and never outlives it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent
from time import sleep

import pytest

from ordeal._native import monotonic
from ordeal._tools.mutation.own_process import judging
from ordeal._tools.mutation.sandbox import COPIES, sandbox

JUDGE = """
    import os, time
    from ordeal._tools.mutation.forks import Job, run_jobs
    from ordeal._tools.mutation.own_process import begun

    def hang(say):
        answer({"fork": True})
        time.sleep(60)

    order, answer = begun()
    print("not an answer")
    answer({"order": order.decode()})
    list(run_jobs([Job(hang, 0, 60.0)], 1))
"""
ASKER = """
    import sys
    from pathlib import Path
    from ordeal._tools.mutation.own_process import judging
    from ordeal._tools.mutation.sandbox import sandbox

    with sandbox(Path.cwd()) as here:
        print(here.scratch, flush=True)
        with judging("slow_judge", b"all", here) as answers:
            for answer in answers:
                print(answer, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow_judge.py").write_text(dedent(JUDGE))
    return tmp_path


def ends(place: str) -> bool:
    """Return whether all processes that have a folder among their arguments end within ten seconds."""
    until = monotonic() + 10
    while monotonic() < until:
        lines = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):  # it has ended meanwhile
                lines.append(path.read_bytes())
        if not any(place.encode() in line for line in lines):
            return True
        sleep(0.01)
    return False


@pytest.fixture(params=["isolated", "copied"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "copied":
        monkeypatch.setenv(COPIES, "1")


@pytest.mark.usefixtures("way")
def test_an_interrupt_of_who_asks_ends_the_judge_and_its_forks(folder: Path) -> None:
    with sandbox(folder) as here:
        with suppress(KeyboardInterrupt), judging("slow_judge", b"all", here) as answers:
            assert next(answers) == {"order": "all"}
            assert next(answers) == {"fork": True}
            raise KeyboardInterrupt
        assert ends(here.scratch)


@pytest.mark.usefixtures("way")
def test_the_judge_and_its_forks_end_when_who_asked_is_killed(folder: Path) -> None:
    asker = subprocess.Popen([sys.executable, "-c", dedent(ASKER)], cwd=folder, stdout=subprocess.PIPE)
    assert asker.stdout is not None
    place = asker.stdout.readline().decode().strip()
    assert [asker.stdout.readline() for _ in range(2)] == [b"{'order': 'all'}\n", b"{'fork': True}\n"]
    os.kill(asker.pid, signal.SIGKILL)
    asker.wait()
    asker.stdout.close()
    assert ends(place)
    shutil.rmtree(place)


def test_whoever_leaves_early_waits_for_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess.Popen, "wait", _refusing_to_wait(subprocess.Popen.wait))
    with sandbox(folder) as here:
        with judging("slow_judge", b"all", here) as answers:
            next(answers)
        assert ends(here.scratch)


def _refusing_to_wait(wait: Callable[..., int]) -> Callable[..., int]:
    def refusing(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        assert timeout is None, "it is waited for until it ends by itself"
        return wait(process, timeout)

    return refusing
