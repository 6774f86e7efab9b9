"""The settings of an exploration, and the figures that it counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ordeal.config.checks import one_of
from ordeal.config.option import Option
from ordeal.config.options import SEED, ExplorationOptions, saved_in_states
from ordeal.result import NoteKind, Notes, ProgressSnapshot, ShrinkSnapshot

Progress = Callable[[ProgressSnapshot], object]
ShrinkListener = Callable[[ShrinkSnapshot], object]

LAW = one_of("off", "coins", "sizes", "hypothesis", example="off")


@dataclass(frozen=True, kw_only=True)
class Settings(ExplorationOptions):
    """The checked options of one exploration, and what else it depends on.

    ``seed`` is the exploration's; ``session_seed`` is this process's, where several search. ``swarm`` is the
    distribution that the class names.
    """

    test_class: str
    session_seed: int = field(metadata=Option(SEED, saved=2, core="seed").metadata)
    swarm: str = field(metadata=Option(LAW, saved=13, core="swarm").metadata)
    progress: Progress | None
    shrink_progress: ShrinkListener | None

    def saved_options(self) -> dict[str, Any]:
        """Return what decides the search, as saved in a state: another seed is refused, other changes are noted."""
        return {name: getattr(self, name) for name in saved_in_states(Settings)}


@dataclass(slots=True)
class Tally:
    """What the report counts."""

    runs: int = 0
    steps: int = 0
    rejected: int = 0
    overrun: int = 0
    """How many of the rejected drew more than Hypothesis allows for a run."""
    stuck: int = 0
    unconfirmed: int = 0
    barren_runs: int = 0
    notes: Notes = field(default_factory=Notes)

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Add a note for the user, once."""
        self.notes.add(text, kind)

    def counts(self) -> dict[str, int]:
        """Return the figures by name."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, int)}
