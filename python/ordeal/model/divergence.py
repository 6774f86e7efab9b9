"""The failure of a comparison."""

from __future__ import annotations


class DivergenceError(AssertionError):
    """Two things that should be equal differ: a system and its model, or what an oracle compares.

    ``operation`` is the name of the operation after which they differ, if it is not the one that raises.
    """

    # Buckets and names of seeds contain this name: moving this file must not change them.
    __module__ = "ordeal.model"

    operation: str = ""

    @classmethod
    def after(cls, operation: str, message: str) -> DivergenceError:
        """Return the error for what ``operation`` brought about and a later comparison shows."""
        error = cls(message)
        error.operation = operation
        return error
