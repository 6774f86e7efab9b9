"""Where the steps of a run come from."""

from __future__ import annotations

import time

import pytest

import ordeal._native as _native
from ordeal._engine.execution.driver import END, RULE
from ordeal._engine.execution.step_source import TimedReplay, writer_of
from ordeal._engine.isolation.watchdog import OutOfTime


def test_a_replay_ends_between_steps_when_its_time_is_up() -> None:
    tape = _native.Tape.from_steps([(RULE, 0, 0, [])])
    now = time.monotonic()
    late = TimedReplay(_native.Replay(tape), now)
    with pytest.raises(OutOfTime):
        late.next()
    early = TimedReplay(_native.Replay(tape), now + 600)
    assert [early.next() & 7, early.next() & 7] == [RULE, END]


def test_a_replay_writes_the_journal_whether_it_is_timed_or_not() -> None:
    replay = _native.Replay(_native.Tape.from_steps([]))
    assert writer_of(replay) is writer_of(TimedReplay(replay, 0.0)) is replay
