"""The error of a simulated clock or file system that is used wrongly."""

from __future__ import annotations

from ordeal.errors import OrdealError


class SimulationError(OrdealError, ValueError):
    """A simulation is given a value that it cannot use, or is in a state in which it cannot do what is asked.

    It is a ``ValueError`` too, because most of its causes are arguments.
    """
