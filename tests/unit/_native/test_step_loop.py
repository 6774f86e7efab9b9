"""What the step loop does where a driver in Python has no trouble: signals, long argument lists, odd results."""

from __future__ import annotations

import gc
from typing import Any, ClassVar

import pytest
from hypothesis import currently_in_test_context, event
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import Bundle, invariant, multiple, rule

import ordeal._native as _native
from ordeal.chaos import ChaosTest
from ordeal.explore import Explorer

NUMBERS = st.integers(0, 9)


class Watched(ChaosTest):
    """Looks at what Hypothesis shows of it."""

    boxes = Bundle("boxes")
    contexts: ClassVar[list[bool]] = []

    @rule(target=boxes, number=NUMBERS)
    def put(self, number: int) -> Any:
        before = len(self.bundle("boxes"))
        assert len(self.names_list) == len(self.names_to_values)
        assert before == self.names_counters["boxes"]
        return multiple(number, number)

    @rule(box=boxes)
    def look(self, box: int) -> None:
        assert box in [self.names_to_values[reference.name] for reference in self.bundles["boxes"]]

    @rule()
    def tell(self) -> None:
        event("told")
        data = current_build_context().data
        assert data.hypothesis_runner is self
        assert list(data.events) == ["told"]

    @invariant()
    def is_in_a_test(self) -> None:
        self.contexts.append(currently_in_test_context())


def test_a_machine_looks_as_it_does_under_hypothesis() -> None:
    Watched.contexts.clear()
    assert Explorer(Watched).run(max_time=600, max_runs=40).failures == []
    assert all(Watched.contexts)
    assert not currently_in_test_context()


@pytest.mark.parametrize("value", ["text", None])
def test_a_state_hash_that_is_no_number_is_refused(value: object) -> None:
    class Hashed(ChaosTest):
        @rule()
        def step(self) -> None: ...

        def state_hash(self) -> Any:
            return value

    with pytest.raises(Exception, match="which is not an int"):
        Explorer(Hashed).run(max_time=600, max_runs=5)


def loops() -> int:
    gc.collect()
    return sum(isinstance(each, _native.StepLoop) for each in gc.get_objects())


def test_nothing_of_an_exploration_is_left() -> None:
    class Passing(ChaosTest):
        @rule(x=st.integers())
        def use(self, x: int) -> None:
            pass

    before = loops()
    Explorer(Passing).run(max_runs=20)
    assert loops() == before
