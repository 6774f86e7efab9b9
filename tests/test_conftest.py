"""The order in which tests run: every worker begins with slow ones, and has about as much to do as the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def conftest(pytestconfig: pytest.Config) -> Any:
    return pytestconfig.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_each_worker_begins_with_slow_tests_and_has_an_equal_part(conftest: Any, workers: int) -> None:
    costs = [[0.0]] * 50 + [[float(number)] for number in range(1, 31)] + [[20.0, 0.0, 0.0]] + [[0.0]] * 40
    parts = conftest.dealt(costs, workers)
    assert sorted(number for part in parts for number in part) == list(range(len(costs)))
    loads = [sum(sum(costs[number]) for number in part) for part in parts]
    assert max(loads) - min(loads) < 30
    sizes = [sum(len(costs[number]) for number in part) for part in parts]
    assert max(sizes) - min(sizes) <= 1
    for part in parts:
        slowest = [max(costs[number]) for number in part]
        assert slowest == sorted(slowest, reverse=True)
    assert min(max(costs[part[0]]) for part in parts) > 30 - workers


def test_tests_of_one_worker_that_take_alike_keep_their_order(conftest: Any) -> None:
    assert conftest.dealt([[0.0], [2.0], [0.0, 0.0], [2.0]], 1) == [[1, 3, 0, 2]]


def test_a_group_that_fits_nowhere_is_run_all_the_same(conftest: Any) -> None:
    parts = conftest.dealt([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], 2)
    assert sorted(number for part in parts for number in part) == [0, 1, 2]
