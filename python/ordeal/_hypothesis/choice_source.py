"""The source of a run's choices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import ordeal._native as _native

if TYPE_CHECKING:
    from ordeal._hypothesis.provider import RunProvider
    from ordeal._native import ChoiceValue

#: The core's source, which draws at random or reads a tape, or a stand-in.
type ChoiceSource = _native.ChoiceSource | StandInSource


class StandInSource(Protocol):
    """Makes the choices of a run in its own way, and gives Hypothesis the matching provider.

    The core's source has more methods, for what only a tape can record. See ``ChoiceSource`` in ``_native.pyi``.
    """

    def provider(self) -> RunProvider:
        """Make the provider from which Hypothesis' strategies draw in a run of this source."""

    @property
    def live(self) -> bool:
        """Whether choices are random, rather than recorded or enumerated."""

    @property
    def misaligned(self) -> int:
        """How many choices were recorded for another kind of draw."""

    @property
    def producer(self) -> int:
        """The step that made the value of the argument when it was recorded; negative without one."""

    @property
    def origin(self) -> int:
        """The number of the current step, which stays the same when earlier steps are removed."""

    def begin_argument(self, name: int) -> None:
        """Record the choices that follow under the argument ``name``."""

    def set_producer(self, producer: int) -> None:
        """Record that the argument is a value made by the step ``producer``."""

    def boolean(self, p: float) -> bool:
        """Draw True with probability ``p``."""

    def integer(self, low: int, high: int, toward: int) -> int:
        """Draw an integer within the bounds, both of 64 bits; ``toward`` is the simplest."""

    def position(self, size: int) -> int:
        """Draw an index below ``size``."""

    def put(self, value: ChoiceValue) -> None:
        """Record a choice that was made elsewhere."""

    def recorded_for(self, name: int) -> list[ChoiceValue]:
        """Return the choices that were recorded for the argument ``name`` of the current step."""

    def raw_unit(self) -> float:
        """Return a random number in [0, 1) that is not recorded."""
