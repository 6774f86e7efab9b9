"""A judge in a process of its own answers who asked, and never outlives it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest

from ordeal._tools.mutation.own_process import judging

JUDGE = """
    import os, time
    from ordeal._tools.mutation.forks import Job, run_jobs
    from ordeal._tools.mutation.own_process import begun

    def hang(say):
        answer({"fork": os.getpid()})
        time.sleep(60)

    order, answer = begun()
    print("not an answer")
    answer({"order": order.decode(), "judge": os.getpid()})
    list(run_jobs([Job(hang, 0, 60.0)], 1))
"""
ASKER = """
    import sys
    from pathlib import Path
    from ordeal._tools.mutation.own_process import judging

    with judging("slow_judge", Path("order"), Path.cwd()) as answers:
        for answer in answers:
            print(answer.get("judge") or answer["fork"], flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow_judge.py").write_text(dedent(JUDGE))
    (tmp_path / "order").write_text("all")
    return tmp_path


def ends(pid: int) -> bool:
    """Return whether a process that is no child of ours ends within ten seconds."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], 10)[0])
    finally:
        os.close(watched)


def test_an_interrupt_of_who_asks_ends_the_judge_and_its_forks(folder: Path) -> None:
    found = {}
    with suppress(KeyboardInterrupt), judging("slow_judge", folder / "order", folder) as answers:
        found = next(answers) | next(answers)
        raise KeyboardInterrupt
    assert found["order"] == "all"
    assert ends(found["judge"])
    assert ends(found["fork"])


def test_the_judge_and_its_forks_end_when_who_asked_is_killed(folder: Path) -> None:
    asker = subprocess.Popen([sys.executable, "-c", dedent(ASKER)], cwd=folder, stdout=subprocess.PIPE)
    assert asker.stdout is not None
    pids = [int(asker.stdout.readline()) for _ in range(2)]
    os.kill(asker.pid, signal.SIGKILL)
    asker.wait()
    asker.stdout.close()
    assert all(map(ends, pids))


def test_whoever_leaves_early_waits_for_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(subprocess.Popen, "wait", _refusing_to_wait(subprocess.Popen.wait))
    with judging("slow_judge", folder / "order", folder) as answers:
        judge = next(answers)["judge"]
    assert ends(judge)


def _refusing_to_wait(wait: Callable[..., int]) -> Callable[..., int]:
    def refusing(process: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        assert timeout is None, "it is waited for until it ends by itself"
        return wait(process, timeout)

    return refusing
