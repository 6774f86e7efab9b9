"""What the replay of a saved seed shows."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class SeedStatus(Enum):
    """What the replay of a saved seed shows."""

    REPRODUCED = "reproduced"  # it fails as recorded: a regression
    FAILS_DIFFERENTLY = "fails_differently"
    FIXED = "fixed"  # each of its steps ran with the recorded values, and nothing failed
    NO_LONGER_APPLIES = "no_longer_applies"  # it cannot run, or not with the recorded values: it shows nothing
    CLASS_UNUSABLE = "class_unusable"  # it is gone, cannot be imported or cannot run as a machine: an error
    UNREADABLE = "unreadable"

    @property
    def fails(self) -> bool:
        """Whether the run fails now, as recorded or differently."""
        return self in (SeedStatus.REPRODUCED, SeedStatus.FAILS_DIFFERENTLY)


@dataclass(frozen=True, slots=True)
class SeedOutcome:
    """The result of one saved seed that an exploration replayed before its first run.

    ``message`` is the failure as text, or why the seed does not apply or cannot be read; empty for a fixed one.
    """

    name: str
    path: str
    status: SeedStatus
    message: str = ""
