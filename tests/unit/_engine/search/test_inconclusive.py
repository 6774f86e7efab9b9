"""An exploration without failures is a claim only when it did its work."""

from __future__ import annotations

import pytest

from ordeal._engine.execution.settings import Tally
from ordeal._engine.search.inconclusive import why_inconclusive


def reason(tally: Tally, idle_workers: int = 0, unreached: tuple[str, ...] = ()) -> str | None:
    why = why_inconclusive(tally, max_time=3, idle_workers=idle_workers, unreached=unreached)
    return None if why is None else why.reason


@pytest.mark.parametrize(
    ("tally", "expected"),
    [
        (Tally(), "no run came to its end in 3 s"),
        (Tally(runs=5), "no step was made in 5 runs"),
        (Tally(runs=5, steps=9, rejected=5), "all 5 runs were rejected by assume() or a filter"),
        (Tally(runs=5, steps=9, rejected=5, overrun=5), "all 5 runs needed more data than Hypothesis allows"),
        (Tally(runs=5, steps=9, rejected=4), None),
    ],
)
def test_of_runs_and_steps(tally: Tally, expected: str | None) -> None:
    assert reason(tally) == expected


def test_of_workers_and_targets() -> None:
    good = Tally(runs=5, steps=9)
    assert reason(good, idle_workers=1) == "1 worker never came to the end of a run in 3 s"
    assert reason(good, unreached=("shop", "till")) == "no code of shop, till ran"
