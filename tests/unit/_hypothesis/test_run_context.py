"""What Hypothesis wants to be there during a run: entered, left and used again, with a record made on demand."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from hypothesis import currently_in_test_context, event, note, target
from hypothesis import strategies as st
from hypothesis.control import cleanup, current_build_context
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule

import ordeal._native as _native
from ordeal._base.buggify_state import thread_state
from ordeal._hypothesis.machines import define_machine
from ordeal._hypothesis.run_context import RunContext


class Shop(RuleBasedStateMachine):
    """Fills a bundle."""

    jars: Bundle[int] = Bundle("jars")

    @initialize()
    def begin(self) -> None: ...

    @rule(target=jars, size=st.integers(0, 9), name=st.text())
    def fill(self, size: int, name: str) -> int:
        return size


DEFINITION = define_machine(Shop)
(FILL,) = DEFINITION.rules


class Live:
    """A run whose choices are invented."""

    def __init__(self, buggify_prob: float | None = None) -> None:
        self.live = _native.Redraw(1)
        self.run = RunContext(self.live.source, len(DEFINITION.argument_names) - 1, buggify_prob)


def test_inside_of_a_run_it_is_as_in_a_test_and_outside_it_is_not() -> None:
    run = Live(0.5).run
    assert not currently_in_test_context()
    with run:
        assert currently_in_test_context()
        assert (thread_state().probability, thread_state().decisions) == (0.5, run.buggify)
        note("heard by nobody")
    assert not currently_in_test_context()
    assert (thread_state().probability, thread_state().decisions) == (None, None)


def test_an_error_leaves_nothing_behind() -> None:
    with pytest.raises(LookupError), Live(0.5).run:
        raise LookupError
    assert not currently_in_test_context()
    assert thread_state().probability is None


def test_what_the_program_tells_is_kept_in_order_until_the_next_run() -> None:
    live = Live()
    run = live.run
    assert (dict(run.events), dict(run.targets)) == ({}, {})
    with run:
        event("b", payload=2)
        event("a")
        target(3.0, label="height")
    assert list(run.events.items()) == [("b", 2), ("a", "")]
    assert dict(run.targets) == {"height": 3.0}
    run.renew(live.live.source, None)
    assert (dict(run.events), dict(run.targets), run.length, run.machine) == ({}, {}, 0, None)


def test_what_was_to_be_cleaned_up_is_at_the_end_of_its_run_and_not_of_the_next() -> None:
    done: list[str] = []
    live = Live()
    with live.run:
        cleanup(lambda: done.append("cleaned"))
        assert done == []
    assert done == ["cleaned"]
    live.run.renew(live.live.source, None)
    with live.run:
        pass
    assert done == ["cleaned"]


def test_the_length_goes_on_from_what_a_copy_had_used() -> None:
    run = Live().run
    with run:
        run.length = 100
        assert run.length == 100
        run.data.draw(st.text(min_size=20))
        assert run.length > 120
        assert run.choices != ()


def replayed(*choices: Any, producer: int = -1) -> RunContext:
    replay = _native.Replay(_native.Tape.from_steps([(0, 0, 0, [(1, list(choices))])]))
    replay.next()
    run = RunContext(replay.source)
    run.source.begin_argument(1)
    if producer >= 0:
        run.source.set_producer(producer)
    return run


def test_names_are_remembered_with_the_step_that_made_them_in_a_replay_only() -> None:
    run = replayed(0)
    run.made([["a_0", "a_1"], ["b_0"]])
    assert len(set(run.producers.values())) == 3
    run.follows = False
    run.producers.clear()
    run.made([["a_0"]])
    assert run.producers == {}


def test_a_run_that_is_over_waits_for_no_collector() -> None:
    """What it held may be large: a tape, a machine."""

    class Machine:
        """Can be looked for. One of Hypothesis refers to itself, until ordeal makes it."""

    live = Live()
    machine = Machine()
    gone = weakref.ref(machine)
    gc.disable()
    try:
        with live.run:
            live.run.machine = machine
            assert current_build_context().data is live.run.data
        del machine, live
        assert gone() is None
    finally:
        gc.enable()
