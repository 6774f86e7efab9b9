"""Comparisons: made as often as the class says, and once more at the end of a run that has not failed yet."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from hypothesis.stateful import rule

from ordeal.explore import Explorer
from ordeal.model import DivergenceError, Incremental, Pair, RoundTrip, TwoImplementations, op
from ordeal.model.definition import ComparingMachine


class Counted(ComparingMachine):
    """Notes after how many operations it was asked to compare."""

    def __init__(self) -> None:
        super().__init__()
        self.compared: list[int] = []

    @op()
    def work(self) -> None: ...

    def _compare_views(self) -> None:
        self.compared.append(self._ops)


def after(machine: Counted, operations: int) -> list[int]:
    machine._views_agree()
    for _ in range(operations):
        machine.work()
        machine._views_agree()
    machine.teardown()
    return machine.compared


@pytest.mark.parametrize(("every", "compared"), [(1, [0, 1, 2, 3]), (2, [0, 2, 3]), (3, [0, 3]), (1000, [0, 3])])
def test_it_compares_after_every_so_many_operations_and_at_the_end(every: int, compared: list[int]) -> None:
    assert after(type("Made", (Counted,), {"every": every})(), 3) == compared


def test_a_run_that_has_failed_is_not_compared_at_its_end() -> None:
    machine: Any = type("Made", (Counted,), {"every": 1000})()
    machine.work()
    try:
        raise ValueError("the finding")
    except ValueError:
        machine.teardown()
    assert machine.compared == []


@pytest.mark.parametrize("base", [Pair, RoundTrip, Incremental, TwoImplementations])
def test_what_only_the_end_of_a_run_shows_is_found(base: type[ComparingMachine]) -> None:
    result = Explorer(DIFFERING[base]).run(max_runs=20)
    assert [type(failure.error) for failure in result.failures] == [DivergenceError]


class _Steps:
    every: ClassVar[int] = 1000
    impl = list

    @op()
    def add(self: Any) -> None:
        self.impl.append(1)

    @rule()
    def rest(self) -> None: ...


class DifferingPair(_Steps, Pair):
    model = tuple

    def view(self) -> tuple[Any, Any]:
        return self.impl, []


class DifferingRoundTrip(_Steps, RoundTrip):
    dump = str

    def load(self, dumped: str) -> list[int]:
        return []


class DifferingIncremental(_Steps, Incremental):
    scratch = list


class DifferingImplementations(_Steps, TwoImplementations):
    other = type("Deaf", (list,), {"append": lambda self, item: None})


DIFFERING: dict[type, type] = {
    Pair: DifferingPair,
    RoundTrip: DifferingRoundTrip,
    Incremental: DifferingIncremental,
    TwoImplementations: DifferingImplementations,
}
