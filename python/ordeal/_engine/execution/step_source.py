"""Where the steps of a run come from: a session that invents them, or a replay that reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ordeal._engine.isolation.watchdog import OutOfTime
from ordeal._native import Replay, Session, monotonic

if TYPE_CHECKING:
    from ordeal._hypothesis import ChoiceSource


def unpacked(code: int) -> tuple[int, int]:
    """Return the kind of a packed step, and the number of its rule, its initialize rule or its fault."""
    return code & 7, code >> 3


class StepSource(Protocol):
    """Where steps come from: a session that invents them, or a replay that reads them. See ``_native.pyi``."""

    @property
    def source(self) -> ChoiceSource:
        """Return the source of the current step's arguments."""

    def next(self) -> int:
        """Return the next step, packed: kind in the low three bits, index above."""

    def reject(self) -> None:
        """Note that the rule of the last step cannot run now."""


class TimedReplay:
    """A replay that ends between steps when time is up; within a step, the watchdog ends it."""

    def __init__(self, replay: Replay, deadline: float) -> None:
        self.replay = replay
        self.deadline = deadline
        self.source = replay.source
        self.reject = replay.reject
        self._next = replay.next

    def next(self) -> int:
        """Return the next step of the replay; raises OutOfTime when the time is up."""
        if monotonic() >= self.deadline:
            raise OutOfTime
        return self._next()


#: The step sources that the step loop can follow.
NATIVE_STEP_SOURCES = (Session, Replay, TimedReplay)


def writer_of(step_source: StepSource) -> Session | Replay | None:
    """Return the object that writes the choices of ``step_source`` to a tape, and so to a journal."""
    followed = step_source.replay if type(step_source) is TimedReplay else step_source
    # These types have no subclasses, and isinstance() would take several times as long.
    return followed if type(followed) is Session or type(followed) is Replay else None
