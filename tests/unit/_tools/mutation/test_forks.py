"""Jobs in forks: what they say, how they end, and that limits hold."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

import pytest

from ordeal._base.live_threads import has_gil
from ordeal._tools.mutation.forks import (
    MEMORY_MIB,
    Ended,
    Job,
    Say,
    limit_memory,
    memory_peak,
    original_takes,
    run_jobs,
)

pytestmark = pytest.mark.forks


def ended(run: object, cpu: float = 0.0, wall: float = 10.0) -> Ended:
    assert callable(run)
    (only,) = run_jobs([Job(run, cpu, wall)], 1)
    return only


def test_what_a_job_says_arrives() -> None:
    assert ended(lambda say: say({"a": "x" * 200_000})).said == [{"a": "x" * 200_000}]


@pytest.mark.skipif(not has_gil(), reason="without a GIL, the allocator has set 1 GiB aside")
def test_the_limit_of_memory_is_that_which_was_asked_for() -> None:
    def run(say: Say) -> None:
        say({"bytes": len(bytearray(64 << 20))})

    limit_memory(16)
    try:
        assert ended(run).said == [{"raised": "MemoryError: "}]
    finally:
        limit_memory(MEMORY_MIB)
    assert ended(run).said == [{"bytes": 64 << 20}]


def test_what_the_original_takes_is_not_limited_and_is_left_to_mutants() -> None:
    """Space that is set aside counts: each thread sets aside several MiB, and many tests start a hundred."""

    def run(say: Say) -> None:
        with mmap(-1, 2 * MEMORY_MIB << 20, flags=MAP_PRIVATE | MAP_ANONYMOUS):
            say({"peak": memory_peak()})

    raised = ended(run).said[0]["raised"]
    assert "Cannot allocate memory" in raised
    (original,) = run_jobs([Job(run, 0.0, 10.0, is_original=True)], 1)
    peak = original.said[0]["peak"]
    assert peak > 2 * MEMORY_MIB << 20
    original_takes(peak)
    try:
        assert ended(run).said == original.said
    finally:
        original_takes(0)


def test_an_exception_is_told() -> None:
    def run(_say: Say) -> None:
        raise ValueError("no")

    assert ended(run).said == [{"raised": "ValueError: no"}]


def test_a_loop_ends_by_its_cpu_time() -> None:
    def run(_say: Say) -> None:
        while True:
            pass

    assert ended(run, cpu=0.05).signal == signal.SIGPROF


def test_one_that_waits_ends_by_the_clock() -> None:
    assert ended(lambda _say: time.sleep(60), wall=0.05).is_late


def test_a_signal_is_told() -> None:
    assert ended(lambda _say: os.kill(os.getpid(), signal.SIGUSR1)).signal == signal.SIGUSR1


def test_each_job_is_done_once() -> None:
    jobs = [Job(lambda say, number=number: say({"number": number}), 0.0, 10.0) for number in range(7)]  # type: ignore[misc]
    assert sorted(each.said[0]["number"] for each in run_jobs(jobs, 3)) == list(range(7))


def spin(_say: object) -> None:
    while True:
        pass


def wait_for_a_busy_child(_say: object) -> None:
    if os.fork() == 0:
        spin(None)
    time.sleep(60)


def wait_beside_a_busy_thread(_say: object) -> None:
    threading.Thread(target=spin, args=(None,), daemon=True).start()
    threading.Event().wait()


@pytest.mark.parametrize("busy", [spin, wait_for_a_busy_child, wait_beside_a_busy_thread])
def test_what_is_late_and_does_something_is_not_blocked(busy: Callable[[object], None]) -> None:
    late = ended(busy, wall=1.0)
    assert (late.is_late, late.is_blocked) == (True, False)


def test_what_waits_with_all_its_threads_is_blocked() -> None:
    def wait(_say: object) -> None:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        threading.Event().wait()

    assert ended(wait, wall=1.0).is_blocked


def test_jobs_that_sleep_keep_no_other_from_running() -> None:
    told: list[int] = []
    read, write = os.pipe()

    def sleep(say: Say) -> None:
        os.read(read, 1)
        say({})

    def wake(_say: Say) -> None:
        os.write(write, b"x" * 3)

    jobs = [Job(sleep, 0, 60.0, 1), Job(sleep, 0, 60.0, 1), Job(sleep, 0, 60.0, 1), Job(wake, 0, 60.0, 2)]
    for each in run_jobs(jobs, 1):
        assert not each.is_late
        told.append(each.job.tag)
    assert sorted(told) == [1, 1, 1, 2]


def test_one_that_only_sleeps_need_not_be_waited_for_as_long() -> None:
    (only,) = run_jobs([Job(lambda _say: time.sleep(600), 0, 600.0, asleep=0.1)], 1)
    assert (only.is_late, only.is_blocked) == (True, True)
    (only,) = run_jobs([Job(lambda say: say({"sum": sum(range(10**7))}), 0, 600.0, asleep=0.1)], 1)
    assert not only.is_late


def test_one_that_waits_for_what_it_has_started_does_not_only_sleep() -> None:
    def run(say: Say) -> None:
        busy = "import time; end = time.process_time() + 1.0\nwhile time.process_time() < end: pass"
        subprocess.run([sys.executable, "-c", busy], start_new_session=True, check=True)
        say({})

    (only,) = run_jobs([Job(run, 0, 600.0, asleep=0.3)], 1)
    assert (only.is_late, only.said) == (False, [{}])


def test_a_child_that_a_job_has_forked_says_nothing() -> None:
    """A mutant may let the child of a program go on with the tests; its verdicts would be taken for the parent's."""

    def run(say: Say) -> None:
        pid = os.fork()
        if pid:
            os.waitpid(pid, 0)
        say({"parent": bool(pid)})

    assert ended(run).said == [{"parent": True}]
