"""What a thread knows of buggify: points cost nothing while nobody is active, and runs leave things as they were."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ordeal._base import buggify_state
from ordeal._base.buggify_state import enabled, enter_run, leave_run, many_runs, thread_state


class Always:
    """Decides that everything acts."""

    def decide(self, probability: float, *, is_point: bool = True) -> bool:
        return True


def known() -> tuple[object, object, bool]:
    """What this thread knows, and whether any is active."""
    return thread_state().probability, thread_state().decisions, enabled.on


@pytest.fixture(autouse=True)
def inactive(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No thread is active before the test: one that ended in another test without deactivating stays counted."""
    assert thread_state().probability is None
    others = enabled.on
    monkeypatch.setattr(buggify_state, "_active_threads", 0)
    enabled.on = False
    yield
    enabled.on = others


def test_a_run_turns_points_on_and_leaves_what_it_found() -> None:
    decisions = Always()
    before = enter_run(decisions, 0.25)
    assert known() == (0.25, decisions, True)
    other = Always()
    inner = enter_run(other, None)
    assert known() == (None, other, False)
    leave_run(inner)
    assert known() == (0.25, decisions, True)
    leave_run(before)
    assert known() == (None, None, False)


def test_many_runs_stay_counted_between_them() -> None:
    with many_runs():
        assert enabled.on
        leave_run(enter_run(Always(), 0.5))
        assert enabled.on
        with many_runs():
            assert thread_state().is_counted
        assert thread_state().is_counted, "the outer block is not over"
    assert not enabled.on
