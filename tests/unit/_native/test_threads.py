"""What several threads share: nothing new is lost, counts are what the program did, and nothing crashes.

With a GIL the threads take turns; without one they run at once.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

import ordeal._native as _native
from ordeal.assertions import always, sometimes, tracker
from ordeal.buggify import activated, buggify

from ..samples.monitored import LEVELS, MakeModule, monitor_of, tracing

THREADS = 8
#: How long monitors begin and end next to threads that run; `make check-races` sets it.
SECONDS = float(os.environ.get("ORDEAL_RACE_SECONDS", "0"))

#: Each function has edges of its own, and all threads run all of them.
_WORK = "\n".join(
    f"def work_{i}(n):\n    total = 0\n    for x in range(n):\n        if x % {i + 2}:\n            total += 1\n"
    f"        elif x > 5:\n            total -= 1\n    return total\n"
    for i in range(40)
)
_SOURCE = (
    f"{_WORK}\nALL = [{', '.join(f'work_{i}' for i in range(40))}]\ndef run(n):\n    for f in ALL:\n        f(n)\n"
)


def in_threads(work: Callable[[], object]) -> None:
    """Run ``work`` in several threads at once, and raise what one of them raises."""
    gate = threading.Barrier(THREADS)

    def run() -> None:
        gate.wait()
        work()

    with ThreadPoolExecutor(THREADS) as pool:
        for each in [pool.submit(run) for _ in range(THREADS)]:
            each.result()


def edges_of(coverage: _native.CoverageMap) -> set[int]:
    return set(coverage.keys())


@pytest.mark.parametrize("level", LEVELS)
def test_threads_lose_no_new_edge(make_module: MakeModule, level: str) -> None:
    module = make_module(_SOURCE)
    alone, together = _native.CoverageMap(), _native.CoverageMap()
    with tracing(monitor_of(module, level=level, coverage=alone)):
        module.run(50)
    monitor = monitor_of(module, level=level, coverage=together)
    with tracing(monitor):
        in_threads(lambda: module.run(50))
    assert monitor.error is None
    assert edges_of(together) == edges_of(alone)
    assert together.take_new_coverage()[0] == len(edges_of(alone))


def test_events_of_few_threads_are_counted_exactly(make_module: MakeModule) -> None:
    module = make_module(_SOURCE)
    monitor = monitor_of(module, level="counts")
    with tracing(monitor):
        module.run(50)
        first = monitor.events
        module.run(50)
        again = monitor.events - first  # lines report once
        in_threads(lambda: module.run(50))
    assert monitor.events == first + (THREADS + 1) * again


def test_runs_and_monitors_begin_and_end_while_threads_send_events(make_module: MakeModule) -> None:
    module = make_module(_SOURCE)
    done = threading.Event()

    def keep_running() -> None:
        while not done.is_set():
            module.run(9)

    threads = [threading.Thread(target=keep_running) for _ in range(16 if SECONDS else 4)]
    ends = time.monotonic() + SECONDS
    for thread in threads:
        thread.start()
    try:
        for turn in itertools.count():
            if turn >= 30 and time.monotonic() >= ends:
                break
            coverage = _native.CoverageMap()
            monitor = monitor_of(module, level=LEVELS[turn % 2], coverage=coverage)
            monitor.start()
            for run in range(5):
                monitor.begin_run(full=run == 3, count_all=run % 2 == 0)
                module.run(9)
                monitor.take_files()
                monitor.save()
                coverage.take_new_coverage()
            assert monitor.error is None
            if turn % 3:
                monitor.stop()
            del monitor
    finally:
        done.set()
        for thread in threads:
            thread.join()


def test_properties_of_many_threads_are_counted_exactly() -> None:
    def check() -> None:
        for i in range(500):
            always(i >= 0, "threads: at least 0")
            sometimes(i == 499, "threads: the last")

    with tracker.recording():
        in_threads(check)
        seen = {result.name: (result.hits, result.passes) for result in tracker.results}
    assert seen["threads: at least 0"] == (500 * THREADS, 500 * THREADS)
    assert seen["threads: the last"] == (500 * THREADS, THREADS)


def test_calls_of_many_threads_meet_a_fault_once_each() -> None:
    switch = _native.FaultSwitch()
    in_threads(lambda: [switch.meet() for _ in range(500)])
    assert switch.hits == 500 * THREADS


def test_each_thread_has_the_decisions_of_its_seed() -> None:
    seen: list[list[bool]] = []

    def draw() -> None:
        with activated(0.5, seed=7):
            seen.append([buggify() for _ in range(50)])

    in_threads(draw)
    assert len(seen) == THREADS
    assert len({tuple(each) for each in seen}) == 1
