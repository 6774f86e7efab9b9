"""What a run draws its choices from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ordeal import _native

if TYPE_CHECKING:
    from ordeal._hypothesis.provider import RunProvider
    from ordeal._native import ChoiceValue

#: The core's source, which draws by chance or reads a tape, or one that stands in for it.
type ChoiceSource = _native.ChoiceSource | StandInSource


class StandInSource(Protocol):
    """Makes the choices of a run in a way of its own, and gives Hypothesis the provider that goes with it.

    The core's source has more: what only a tape can record. See ``ChoiceSource`` in ``_native.pyi``.
    """

    def provider(self) -> RunProvider:
        """Make what Hypothesis' strategies draw from in a run of this source."""

    @property
    def live(self) -> bool:
        """Whether chance decides, rather than a record or an order."""

    @property
    def misaligned(self) -> int:
        """How many choices were recorded for another kind of draw."""

    @property
    def producer(self) -> int:
        """The step that made the value which the argument was when it was recorded; negative without one."""

    @property
    def origin(self) -> int:
        """The number of the step that is under way, which stays the same when steps before it go."""

    def begin_argument(self, name: int) -> None:
        """Record the choices that follow under the argument ``name``."""

    def set_producer(self, producer: int) -> None:
        """Record that the argument is a value which the step ``producer`` made."""

    def boolean(self, p: float) -> bool:
        """Draw True with probability ``p``."""

    def integer(self, low: int, high: int, toward: int) -> int:
        """Draw an integer within the bounds, both of 64 bits; ``toward`` is the simplest."""

    def position(self, size: int) -> int:
        """Draw a place among ``size``."""

    def put(self, value: ChoiceValue) -> None:
        """Record a choice that was made elsewhere."""

    def recorded_for(self, name: int) -> list[ChoiceValue]:
        """The choices that were recorded for the argument ``name`` of the current step."""

    def raw_unit(self) -> float:
        """A number in [0, 1) that is not recorded, where chance decides."""
