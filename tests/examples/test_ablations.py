"""The simulated programs among the examples hold under faults, and what is left out of them is missed."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .conftest import EXAMPLES, imported

#: How many things can be left out, and in how many runs nothing is found where none is.
PROJECTS = {"raft": (6, 25), "leased_queue": (8, 60), "replicated_kv": (7, 25), "connection_pool": (7, 60)}
#: Those that are missed soonest.
SOON = {
    "raft": (0, 1),
    "leased_queue": (6,),
    "replicated_kv": (2,),
    "connection_pool": (1, 3, 4, 5, 6),
}

each_project = pytest.mark.parametrize("project", PROJECTS)


@pytest.fixture(scope="module")
def ablations_of() -> Iterator[Callable[[str], Any]]:
    programs = {"raft", "leased_queue", "replicated_kv", "connection_pool"}
    modules = {"ablations", *programs, "test_raft", "test_queue", "test_kv", "test_pool"}
    with imported(EXAMPLES / "ablations.py", path=[], modules=modules) as module:
        yield lambda project: module.Ablations(EXAMPLES / project)


@each_project
def test_nothing_is_found_in_the_whole(ablations_of: Callable[[str], Any], project: str) -> None:
    _, runs = PROJECTS[project]
    assert ablations_of(project).search(None, runs).failure is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("project", "number"),
    [
        pytest.param(project, number, marks=[] if number in SOON[project] else pytest.mark.nightly)
        for project, (count, _) in PROJECTS.items()
        for number in range(count)
    ],
)
def test_what_is_left_out_is_missed(ablations_of: Callable[[str], Any], project: str, number: int) -> None:
    ablations = ablations_of(project)
    assert len(ablations.left_out) == PROJECTS[project][0]
    failure = ablations.search(list(ablations.left_out)[number], 200).failure
    assert failure is not None
    assert not failure.is_flaky


@pytest.mark.nightly
@each_project
def test_nothing_is_found_in_the_whole_for_long(ablations_of: Callable[[str], Any], project: str) -> None:
    assert ablations_of(project).search(None, 100_000, seed=1_000).failure is None
