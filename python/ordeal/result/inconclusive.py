"""Why an exploration without failures shows nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Inconclusive:
    """An exploration found no failure, but did not do enough work for this to be a claim.

    ``reason`` says what it did not do, ``hint`` what to change.
    """

    reason: str
    hint: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.hint}"
