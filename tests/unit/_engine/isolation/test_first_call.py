"""A call in a process of its own: whether it returned, raised, hung, exited or crashed is reported."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from ordeal._engine.isolation.child import Limits
from ordeal._engine.isolation.first_call import first_call
from ordeal._engine.parallel.supervisor import can_supervise

pytestmark = [
    pytest.mark.forks,
    pytest.mark.skipif(not can_supervise(), reason="processes are watched on Linux only"),
]

SECONDS = 300.0


def hang() -> None:
    while True:
        with suppress(BaseException):
            time.sleep(1000)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (list, ""),
        (lambda: int("x"), "raised ValueError: invalid literal for int() with base 10: 'x'"),
        (lambda: sys.exit(0), "raised SystemExit: 0"),
        (interrupt, "raised KeyboardInterrupt"),
        (lambda: os._exit(5), "ended its process with exit code 5"),
        (lambda: os._exit(0), "ended its process with exit code 0"),
        (lambda: ctypes.string_at(0), "ended its process by SIGSEGV"),
    ],
)
def test_what_it_did_is_told(function: Callable[[], object], problem: str) -> None:
    assert first_call(function, SECONDS, Limits()) == problem


def test_one_that_does_not_come_back_is_ended() -> None:
    assert first_call(hang, 0.1, Limits()) == "did not return within 0.1 s"


def test_it_may_take_no_more_memory_than_is_allowed() -> None:
    problem = first_call(lambda: bytearray(2**40), SECONDS, Limits(memory=2**30))
    assert problem.startswith("raised MemoryError")
