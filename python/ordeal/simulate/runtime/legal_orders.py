"""Runs next to one that failed with callbacks in any order, in which they keep the order that asyncio promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import ordeal._native as _native
from ordeal.simulate.runtime.decisions import OVERTAKE, drawn_schedule
from ordeal.simulate.runtime.exploring import NEIGHBOURS as NEIGHBOURS  # of machines it is the same number
from ordeal.simulate.runtime.machine_loop import MachineLoop, TapeSchedule
from ordeal.simulate.runtime.running import RunSettings
from ordeal.simulate.runtime.scheduled_faults import with_stalls

#: A decision that is not 0: kind, actor, site, the how-manieth time there, and the value.
type Made = tuple[int, int, int, int, int]

_SEED = 1


@contextmanager
def noted() -> Iterator[list[Made]]:
    """Yield what the simulations of machines decide in the block, as far as it is not 0."""
    made: list[Made] = []

    def schedule(loop: MachineLoop, settings: RunSettings) -> tuple[RunSettings, TapeSchedule]:
        return settings, TapeSchedule(settings.faults, loop.tell, made=made)

    with MachineLoop.scheduled_by(schedule):
        yield made


def needs_overtaking(made: Sequence[Made]) -> bool:
    """Return whether a callback overtook others in a run that decided this."""
    return any(kind == OVERTAKE for kind, *_ in made)


@contextmanager
def neighbour(number: int, made: Sequence[Made]) -> Iterator[None]:
    """Let machines in the block decide what is legal of what was ``made``, and with a number above 0 more than that.

    Every other one of these may have steps that take long, whether or not the faults say so: that is legal, and brings
    about orders.
    """
    legal = [decision for decision in made if decision[0] != OVERTAKE]

    def schedule(loop: MachineLoop, settings: RunSettings) -> tuple[RunSettings, TapeSchedule]:
        core = drawn_schedule(_native.schedule_run_seed(_SEED, number) if number else 0)
        for decision in legal:
            core.set(*decision)
        faults = with_stalls(settings.faults) if number % 2 else settings.faults
        settings = replace(settings, faults=faults, is_in_any_order=False)
        return settings, _DrawnSchedule(core, settings, loop)

    with MachineLoop.scheduled_by(schedule):
        yield


class _DrawnSchedule(TapeSchedule):
    """Draws its decisions instead of taking them from the tape."""

    def __init__(self, core: _native.Schedule, settings: RunSettings, loop: MachineLoop) -> None:
        super().__init__(settings.faults, loop.tell)
        self._core = core

    def decide(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Draw a value below ``bound``."""
        return self._told(kind, actor, site, self._core.decide(kind, actor, site, bound))

    def decide_evenly(self, kind: int, actor: int, site: int, bound: int) -> int:
        """Draw a value below ``bound`` that is often not 0."""
        return self._told(kind, actor, site, self._core.decide_evenly(kind, actor, site, bound))
