"""A rule that takes too long is ended, and whatever alarm was set before is put back."""

from __future__ import annotations

import asyncio
import copy
import gc
import signal
import time
from typing import Any

import pytest

from ordeal._base.rule_timeout import RuleLoop, RuleTimeoutError, call_with_timeout
from ordeal._native import rings_in

SHORT_S, LONG_S = 0.05, 30.0


pytestmark = pytest.mark.usefixtures("alarm_left_as_found")


def test_a_call_that_takes_too_long_is_ended() -> None:
    with pytest.raises(RuleTimeoutError) as caught:
        call_with_timeout("pay", SHORT_S, lambda: time.sleep(LONG_S))
    text = str(caught.value)
    assert text.startswith("ChaosTest rule 'pay' timed out after 0.05s. ")
    assert text.endswith("Set rule_timeout = 0 to disable.")


def swallow() -> str:
    try:
        time.sleep(LONG_S)
    except Exception:  # noqa: BLE001
        return "all is well"
    return "slept"


def replace() -> None:
    try:
        time.sleep(LONG_S)
    except RuleTimeoutError:
        raise KeyError from None


@pytest.mark.parametrize("call", [swallow, replace])
def test_catching_the_exception_does_not_help(call: Any) -> None:
    with pytest.raises(RuleTimeoutError):
        call_with_timeout("pay", SHORT_S, call)


def test_a_collection_of_garbage_is_not_interrupted() -> None:
    def collect_slowly(phase: str, info: dict[str, int]) -> None:
        due = time.monotonic() + 2 * SHORT_S
        while phase == "start" and time.monotonic() < due:
            pass

    slept: list[bool] = []

    def collect_and_sleep() -> None:
        gc.collect()
        time.sleep(LONG_S)
        slept.append(True)

    gc.collect()  # what other tests have left would call back as well
    gc.callbacks.append(collect_slowly)
    try:
        # An exception in the callback would be printed and lost, which fails this test by a warning.
        with pytest.raises(RuleTimeoutError):
            call_with_timeout("pay", SHORT_S, collect_and_sleep)
        assert not slept
    finally:
        gc.callbacks.remove(collect_slowly)


def test_the_alarm_rings_again() -> None:
    slept: list[bool] = []

    def swallow_once() -> None:
        swallow()
        time.sleep(LONG_S)
        slept.append(True)

    with pytest.raises(RuleTimeoutError):
        call_with_timeout("pay", SHORT_S, swallow_once)
    assert not slept


@pytest.mark.parametrize("timeout_s", [0, -1.0])
def test_no_limit(timeout_s: float) -> None:
    assert call_with_timeout("pay", timeout_s, rings_in) == (0.0, 0.0)


def test_an_alarm_of_somebody_else_rings_meanwhile() -> None:
    rung: list[int] = []
    previous = signal.signal(signal.SIGALRM, lambda signum, _frame: rung.append(signum))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        call_with_timeout("pay", LONG_S, lambda: time.sleep(0.1))
        assert rung == [signal.SIGALRM]
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_an_earlier_alarm_is_left_to_ring() -> None:
    def ring(_signum: int, _frame: object) -> None:
        raise KeyError

    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, SHORT_S)
        with pytest.raises(KeyError):
            call_with_timeout("pay", LONG_S, lambda: time.sleep(LONG_S))
    finally:
        signal.signal(signal.SIGALRM, previous)


def test_limits_nest() -> None:
    with pytest.raises(RuleTimeoutError, match="'outer'"):
        call_with_timeout("outer", SHORT_S, lambda: call_with_timeout("inner", LONG_S, lambda: time.sleep(LONG_S)))
    with pytest.raises(RuleTimeoutError, match="'inner'"):
        call_with_timeout("outer", LONG_S, lambda: call_with_timeout("inner", SHORT_S, lambda: time.sleep(LONG_S)))


@pytest.mark.parametrize("reaction", [signal.SIG_IGN, signal.SIG_DFL])
def test_a_call_that_gives_alarms_another_reaction_keeps_it_and_its_limit(reaction: signal.Handlers) -> None:
    def hang() -> None:
        signal.signal(signal.SIGALRM, reaction)
        time.sleep(LONG_S)

    previous = signal.getsignal(signal.SIGALRM)
    try:
        with pytest.raises(RuleTimeoutError):
            call_with_timeout("pay", SHORT_S, hang)
        assert signal.getsignal(signal.SIGALRM) is reaction
    finally:
        signal.signal(signal.SIGALRM, previous)


# RuleLoop


async def current_loop() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


def test_one_loop_serves_all_coroutines_until_it_is_closed() -> None:
    rules = RuleLoop()
    first = rules.run(current_loop())
    assert rules.run(current_loop()) is first
    rules.close()
    rules.close()
    assert first.is_closed()


def test_tasks_left_behind_are_cancelled() -> None:
    cancelled: list[bool] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(LONG_S)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def leave_behind() -> asyncio.Task[None]:
        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        return task

    rules = RuleLoop()
    rules.run(leave_behind())
    rules.close()
    assert cancelled == [True]


def test_a_coroutine_that_takes_too_long_is_ended_and_its_loop_given_up() -> None:
    rules = RuleLoop()
    loop = rules.run(current_loop())
    with pytest.raises(RuleTimeoutError):
        call_with_timeout("pay", SHORT_S, lambda: rules.run(asyncio.sleep(LONG_S)))
    assert loop.is_closed()
    assert rules.run(current_loop()) is not loop
    rules.close()


def test_a_copy_has_a_loop_of_its_own() -> None:
    rules = RuleLoop()
    loop = rules.run(current_loop())
    for copied in (copy.copy(rules), copy.deepcopy(rules)):
        assert copied.run(current_loop()) is not loop
        copied.close()
    rules.close()
