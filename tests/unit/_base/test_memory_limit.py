"""Memory is limited while code under test runs, and only then; what it takes too much of is one failure."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal._base import memory_limit
from ordeal._base.limits import MEBIBYTE
from ordeal._base.memory_limit import limited_memory, memory_is_limited
from ordeal.explore import Explorer
from ordeal.trace import ReplayStatus, Trace, rerun

TOO_MUCH = 4096 * MEBIBYTE


@contextmanager
def kept() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    yield
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


def test_beyond_it_python_raises_and_afterwards_no_more() -> None:
    with kept():
        with limited_memory(1024), pytest.raises(MemoryError):
            bytearray(TOO_MUCH)
        assert not memory_is_limited()


@pytest.mark.skipif(not memory_limit.data_bytes(), reason="the system does not say what the process has")
def test_what_the_process_has_it_keeps() -> None:
    with kept(), limited_memory(1):
        assert len(bytearray(memory_limit.RESERVE // 4)) > 0


class Hungry(RuleBasedStateMachine):
    """Takes too much, at one place and at another in turns."""

    taken = 0

    @rule()
    def take(self) -> None:
        Hungry.taken += 1
        if Hungry.taken % 2:
            bytearray(TOO_MUCH)
        bytes(TOO_MUCH)


def test_a_memory_error_under_a_limit_is_no_flake_and_replays_under_it(tmp_path: Path) -> None:
    (failure,) = Explorer(Hungry, max_memory=1024).run(max_runs=10).failures
    assert (failure.bucket, failure.flaky) == ("MemoryError", False)
    assert failure.trace is not None
    failure.trace.save(tmp_path / "trace.json")
    trace = Trace.load(tmp_path / "trace.json")
    assert trace.max_memory == 1024
    assert rerun(trace, Hungry).status is ReplayStatus.REPRODUCED
