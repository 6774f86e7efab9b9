"""A step that does not end is ended, wherever it hangs, and the signal is left as it was."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from ordeal import simulate
from ordeal.simulate.runtime import surroundings


@pytest.fixture(autouse=True)
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surroundings, "STEP_S_MAX", 0.05)


async def loops() -> None:
    while True:
        pass


async def waits_for_a_lock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


async def catches_everything() -> None:
    with contextlib.suppress(Exception):
        await loops()


@pytest.mark.parametrize("main", [loops, waits_for_a_lock, catches_everything])
def test_it_is_ended(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    with pytest.raises(simulate.StalledStep, match=r"a step does not end: .*test_stalled_step\.py") as caught:
        simulate.explore(main)
    assert caught.value.__notes__ == ["\nFound with seed 0."]
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_to_ask_who_refers_to_what_is_no_step_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    async def waits_for_nobody() -> None:
        async def beat() -> None:
            while True:
                await asyncio.sleep(600)

        beating = asyncio.create_task(beat())
        await asyncio.Event().wait()
        beating.cancel()

    def slowly(*objects: object) -> list[object]:
        if waits:
            signal.sigtimedwait([signal.SIGUSR1], waits.pop())
        return referrers(*objects)

    referrers = gc.get_referrers
    monkeypatch.setattr(gc, "get_referrers", slowly)
    # Longer than all that comes before it, on a busy machine as well.
    monkeypatch.setattr(surroundings, "STEP_S_MAX", 1.0)
    waits = [2.2]
    with pytest.raises(simulate.OrphanedWait):
        simulate.run(waits_for_nobody)


def test_an_alarm_of_somebody_else_is_left_alone() -> None:
    async def main() -> None:
        pass

    before = signal.signal(signal.SIGALRM, lambda *_: None)
    try:
        mine = signal.getsignal(signal.SIGALRM)
        simulate.run(main)
        assert signal.getsignal(signal.SIGALRM) is mine
    finally:
        signal.signal(signal.SIGALRM, before)
