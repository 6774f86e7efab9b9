"""What is done at a pace is done as often as that says, however long each time takes."""

from __future__ import annotations

import pytest

from ordeal._engine.parallel.fleet.pace import Pace


@pytest.mark.parametrize(("takes", "times"), [(0.0, 10), (0.2, 10), (0.9, 10), (1.5, 7)])
def test_the_time_that_something_takes_is_no_part_of_its_pace(
    takes: float, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    beat, done = Pace(1.0), 0
    while now < 110.0 - 1e-6:
        if beat.has_come():
            done += 1
            now += takes
        now += beat.wait_seconds()
    assert done == times
