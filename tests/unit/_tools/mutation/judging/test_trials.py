"""The count of the turns of loops."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from ordeal._native import LoopCounter


@pytest.fixture
def tool() -> Iterator[int]:
    tool = next(each for each in (4, 3, 2) if sys.monitoring.get_tool(each) is None)
    sys.monitoring.use_tool_id(tool, "turns")
    yield tool
    sys.monitoring.free_tool_id(tool)


def test_the_limit_ends_a_loop_at_the_same_turn_each_time(tool: int) -> None:
    class Enough(BaseException):
        pass

    def stop() -> None:
        raise Enough

    def endless(done: list[int]) -> None:
        while True:
            done.append(1)

    counter = LoopCounter(stop)
    sys.monitoring.register_callback(tool, sys.monitoring.events.JUMP, counter.callback)
    sys.monitoring.set_local_events(tool, endless.__code__, sys.monitoring.events.JUMP)
    for _ in range(2):
        done: list[int] = []
        counter.start(1000)
        with pytest.raises(Enough):
            endless(done)
        assert (len(done), counter.count) == (1000, 1000)
    sys.monitoring.set_local_events(tool, endless.__code__, 0)
