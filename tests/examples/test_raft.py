"""The Raft of the examples holds under faults, and each thing that is left out of it is missed."""

from collections.abc import Iterator
from types import ModuleType

import pytest

from .conftest import EXAMPLES, imported

PROJECT = EXAMPLES / "raft"


@pytest.fixture(scope="module")
def ablations() -> Iterator[ModuleType]:
    with imported(PROJECT / "ablations.py", path=[PROJECT], modules={"raft", "test_raft"}) as module:
        yield module


def test_nothing_is_found_in_the_whole(ablations: ModuleType) -> None:
    assert ablations.search(None, 25).failure is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [0, 1, 5, *(pytest.param(number, marks=pytest.mark.nightly) for number in (2, 3, 4))]
)
def test_what_is_left_out_is_missed(ablations: ModuleType, number: int) -> None:
    assert len(ablations.ABLATIONS) == 6
    failure = ablations.search(list(ablations.ABLATIONS)[number], 200).failure
    assert failure is not None
    assert not failure.is_flaky


@pytest.mark.nightly
def test_nothing_is_found_in_the_whole_for_long(ablations: ModuleType) -> None:
    assert ablations.search(None, 100_000, seed=1_000).failure is None
