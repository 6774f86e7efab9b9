"""The client of the examples: a response that is cut has it order twice, until its orders have names."""

import itertools
import json
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from ordeal.explore import Explorer

from .conftest import EXAMPLES, imported

PROJECT = EXAMPLES / "order_retry"
CUT = "partial_response(orders.exchange, 0.5)[p=0.5]"


@pytest.fixture
def chaos() -> Iterator[ModuleType]:
    with imported(PROJECT / "tests" / "test_orders_chaos.py", path=[PROJECT], modules={"orders"}) as module:
        yield module


@pytest.fixture
def repaired(chaos: ModuleType, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The machine over the client and the server with the repair of the README."""
    program = vars(chaos)["Client"].order.__globals__
    names, plain_order = itertools.count(), program["Client"].order

    def order(self: Any, item: str, count: int) -> int:
        return int(plain_order(self, f"{item} #{next(names)}", count))

    def answer(self: Any, request: str) -> str:
        asked = json.loads(request)
        if asked not in self.orders:
            self.orders.append(asked)
        return json.dumps({"number": self.orders.index(asked) + 1})

    monkeypatch.setattr(program["Client"], "order", order)
    monkeypatch.setattr(program["Server"], "answer", answer)
    return chaos


def test_explorer_finds_the_second_order_and_the_fault_that_it_needs(chaos: ModuleType) -> None:
    result = Explorer(chaos.OrdersChaos, target_modules=["orders"], seed=1).run(max_runs=300, max_time=600)
    (failure,) = result.failures
    assert failure.trace is not None
    assert [step.name for step in failure.trace.steps] == [f"+{CUT}", "order"]
    assert failure.necessary_faults == {CUT: True}


def test_explorer_finds_nothing_in_the_repaired_client(repaired: ModuleType) -> None:
    result = Explorer(repaired.OrdersChaos, target_modules=["orders"]).run(max_runs=500, max_time=600)
    assert result.failures == []


def test_hypothesis_finds_it_too(chaos: ModuleType) -> None:
    options = settings(database=None, derandomize=True, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        run_state_machine_as_test(chaos.OrdersChaos, settings=options)
