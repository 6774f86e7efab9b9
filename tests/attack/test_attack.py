"""Nothing that is tested ends or bends the search: beside each program the ordinary bug is found."""

from __future__ import annotations

import pytest

from . import copies, interpreters, objects
from .base import PROGRAMS, Program
from .runs import commanded, explored

pytestmark = [pytest.mark.slow, pytest.mark.supervised]

#: One of each kind, which together take no more than some seconds.
SHORT = {
    each.__name__
    for each in (
        objects.TextInterrupts,
        objects.RaisesMachineError,
        copies.CopyComplains,
        copies.CopyEndsProcess,
        copies.CopyExits,
        interpreters.NoStreams,
        interpreters.OtherClocks,
    )
}


def each(programs: list[Program]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", programs, ids=lambda program: program.name)


@each([program for program in PROGRAMS if program.name in SHORT])
def test_the_search_goes_on(program: Program) -> None:
    assert explored(program.machine).broken == []


@pytest.mark.nightly
@each(PROGRAMS)
def test_the_search_goes_on_with_all_programs(program: Program) -> None:
    assert explored(program.machine).broken == []


@pytest.mark.nightly
@each(PROGRAMS)
def test_the_command_writes_all_that_it_was_asked_for(program: Program) -> None:
    assert commanded(program.machine).broken == []
