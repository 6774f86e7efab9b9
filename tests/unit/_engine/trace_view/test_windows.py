"""When a fault must be on: it is switched at other places, and the trace runs again."""

from __future__ import annotations

from ordeal._engine.trace_view.trials import Trials
from ordeal._engine.trace_view.view import Switch
from ordeal._engine.trace_view.windows import POSITIONS_MAX, _spread, fault_windows

from ...samples.explained import explained, loaded


def test_the_window_reaches_from_any_step_before_to_the_step_that_the_fault_acts_on() -> None:
    (window,) = explained().windows
    assert window.fault.startswith("timeout(unit.samples.explained.Store.confirm")
    assert window.step == 4
    # The write is step 5: on before it, and off again right after it.
    assert window.on == [*[Switch(step, True) for step in (1, 2, 3, 5)], Switch(6, False)]
    assert window.off == [Switch(6, True)]


def test_without_time_there_is_none() -> None:
    failing = loaded()
    with failing.running():
        assert fault_windows(failing.driver, Trials(failing.replayer, "", 0.0), failing.tape) == []


def test_of_many_positions_some_are_tried_with_the_ends() -> None:
    tried = _spread(range(500))
    assert len(set(tried)) == POSITIONS_MAX
    assert (tried[0], tried[-1]) == (0, 499)
    assert _spread([3, 4]) == [3, 4]
