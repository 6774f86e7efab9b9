"""Known failures that take long, such as hangs, take a share of a search's time."""

from __future__ import annotations

import os
import signal
import sys
import threading

import pytest
from hypothesis.stateful import rule

from ordeal import ChaosTest
from ordeal.explore import Explorer

pytestmark = pytest.mark.usefixtures("own_threads_alone")


class Dear(ChaosTest):
    """Fails, in a way that costs as much as a thousand runs, in each run that reaches it."""

    rule_timeout = 0.2

    @rule()
    def act(self) -> None: ...


class Waits(Dear):
    @rule()
    def fail(self) -> None:
        threading.Event().wait(20)


class Ends(Dear):
    @rule()
    def fail(self) -> None:
        os._exit(3)


class WaitsUninterruptibly(Dear):
    @rule()
    def fail(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
        threading.Event().wait(20)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="workers are forked on Linux only")
@pytest.mark.parametrize(
    ("machine", "max_time"), [(Waits, 1.5), (Ends, 1.5), pytest.param(WaitsUninterruptibly, 6, marks=pytest.mark.slow)]
)
def test_known_failures_that_are_dear_take_a_share_of_the_time_and_no_more(
    machine: type[Dear], max_time: float
) -> None:
    result = Explorer(machine, workers=1, seed=3, isolate=machine is not Waits).run(max_time=max_time, shrink=False)
    (failure,) = result.failures
    assert failure.count < result.total_runs / 4
