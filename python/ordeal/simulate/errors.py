"""The errors of simulations: wrong use of a simulated part, and what a simulated run can end with."""

from __future__ import annotations

import math
from types import TracebackType
from typing import Any

from ordeal.errors import OrdealError


class SimulationError(OrdealError, ValueError):
    """A simulation got an invalid value, or cannot do in its present state what is asked.

    It is a ``ValueError`` too, because most of its causes are arguments.
    """


class EscapedSimulation(OrdealError):  # noqa: N818 - it says what the program did
    """A simulated program did something that no simulation controls: a real socket, a child process, a thread."""


class RecordError(OrdealError):
    """A record of the outside cannot be made, read or used."""


class RecordDrift(RecordError):  # noqa: N818 - it says what happened
    """A program asks the outside something else than what was recorded. As a text it has lines of details."""

    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        first = self.message.removesuffix("".join(f"; {each}" for each in self.details))
        return "\n".join([first, *(f"  {each}" for each in self.details), f"hint: {self.hint}"])


class SimulationFailure(Exception):  # noqa: N818 - these are findings, each named after what was found
    """A simulated run ended in a way that is a bug of the program, though nothing in it raised an error.

    ``site`` is the place in the program that distinguishes such failures.
    """

    def __init__(self, message: str, *, site: str = "") -> None:
        super().__init__(message)
        self.site = site
        self.waiting_at: TracebackType | None = None
        """Ends where the first task waits that does not go on, for people."""


class Deadlock(SimulationFailure):
    """Nothing can go on: no task is ready, no timer is set, and the test has not ended."""


class Livelock(SimulationFailure):
    """The program keeps running without time passing, or without the test coming to its end."""


class OrphanedWait(SimulationFailure):
    """A task waits for something that no other code can reach: only tasks that wait as well refer to it."""


class LongWait(SimulationFailure):
    """Only its time-out ended a wait in the calm phase, though what it waited for was there: nothing had woken it."""


class StalledStep(SimulationFailure):
    """A single step took longer than ten seconds of real time."""


class LeakedTask(SimulationFailure):
    """A task was cancelled at the end of the run, and did not end."""


class BlockedLoop(SimulationFailure):
    """A task slept with ``time.sleep``, and all others stood still."""


class UnhandledTaskError(SimulationFailure):
    """A task ended with an error that was never retrieved."""


class StrayCancellation(SimulationFailure):
    """A ``CancelledError`` ended a task that nothing had cancelled: what it awaited was cancelled with another task."""


class BrokenProperty(SimulationFailure):
    """A condition that must always hold in a world did not."""


class NotDeterministic(SimulationFailure):
    """Two processes did not do the same with the same seed."""


class NotReached(SimulationFailure):
    """A condition that had to become true in a world did not in time."""


class NotRestored(SimulationFailure):
    """A program that was restored from its snapshot has another state, or behaves differently afterwards."""


class SimulationWarning(UserWarning):
    """A simulated run says less than it seems to."""


def checked_number(name: str, value: Any, least: int, most: float = math.inf) -> int:
    """Return ``value``; raises SimulationError unless it is a whole number in these bounds."""
    if type(value) is not int or not least <= value <= most:
        limit = "" if most == math.inf else f" to {most:,}"
        raise SimulationError(f"{name} is {value!r:.100}", hint=f"write a whole number from {least}{limit}")
    return value


def checked_seconds(name: str, value: Any, most: float = math.inf) -> float:
    """Return ``value``; raises SimulationError unless it is a number of seconds above 0 and up to ``most``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= most:
        limit = "" if most == math.inf else f" and up to {most:g}"
        raise SimulationError(f"{name} is {value!r:.100}", hint=f"write a number of seconds above 0{limit}")
    return float(value)


def checked_share(name: str, value: Any) -> float:
    """Return ``value``; raises SimulationError unless it is a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise SimulationError(f"{name} is {value!r:.100}", hint="write a share from 0 to 1, such as 0.1")
    return float(value)
