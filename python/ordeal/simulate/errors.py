"""The error for wrong use of a simulated clock or file system."""

from __future__ import annotations

from ordeal.errors import OrdealError


class SimulationError(OrdealError, ValueError):
    """A simulation got an invalid value, or cannot do in its present state what is asked.

    It is a ``ValueError`` too, because most of its causes are arguments.
    """
