"""The leased queue of the examples holds under faults, and each thing that is left out of it is missed."""

from collections.abc import Iterator
from types import ModuleType

import pytest

from .conftest import EXAMPLES, imported

PROJECT = EXAMPLES / "leased_queue"


@pytest.fixture(scope="module")
def ablations() -> Iterator[ModuleType]:
    with imported(PROJECT / "ablations.py", path=[PROJECT], modules={"leased_queue", "test_queue"}) as module:
        yield module


def test_nothing_is_found_in_the_whole(ablations: ModuleType) -> None:
    assert ablations.search(None, 60).failure is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [0, 2, 6, 7, *(pytest.param(number, marks=pytest.mark.nightly) for number in (1, 3, 4, 5))]
)
def test_what_is_left_out_is_missed(ablations: ModuleType, number: int) -> None:
    assert len(ablations.ABLATIONS) == 8
    failure = ablations.search(list(ablations.ABLATIONS)[number], 200).failure
    assert failure is not None
    assert not failure.is_flaky


@pytest.mark.nightly
def test_nothing_is_found_in_the_whole_for_long(ablations: ModuleType) -> None:
    assert ablations.search(None, 100_000, seed=1_000).failure is None
