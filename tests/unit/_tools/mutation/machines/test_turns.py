"""The limit of the turns of loops: it holds also for code that catches what ends it."""

from __future__ import annotations

import pytest
from tests.unit._tools.mutation.machines import till

from ordeal._base.rule_timeout import RuleTimeoutError
from ordeal._tools.mutation.interpreters.sitecustomize import real_path
from ordeal._tools.mutation.line_coverage import LineCoverage
from ordeal._tools.mutation.machines.turns import TurnLimit
from ordeal._tools.mutation.swap import LiveFunctions


def turn() -> None:
    while True:
        pass


def turn_for_ever() -> None:
    while True:
        try:
            turn()
        except RuleTimeoutError:
            caught.append(1)
            if len(caught) > 2:
                raise


caught: list[int] = []


def called() -> None: ...


def test_calls_count_of_which_the_last_holder_of_the_tool_had_enough() -> None:
    coverage = LineCoverage({real_path(__file__)})
    coverage.start()
    called()
    coverage.stop()
    limit = TurnLimit(LiveFunctions({real_path(till.__file__)}))
    try:
        limit.watch([called.__code__])
        limit.begin(None)
        called()
        assert limit.count == 1
    finally:
        limit.end()


def test_a_loop_that_catches_its_end_gets_it_again() -> None:
    limit = TurnLimit(LiveFunctions({real_path(till.__file__)}))
    try:
        limit.watch([turn.__code__, turn_for_ever.__code__])
        limit.begin(1)
        with pytest.raises(RuleTimeoutError):
            turn_for_ever()
        assert limit.is_over
        assert len(caught) == 3
        limit.begin(None)
        assert not limit.is_over
    finally:
        limit.end()
