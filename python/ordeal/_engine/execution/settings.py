"""What an exploration is told, and what it counts while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ordeal.config.checks import one_of
from ordeal.config.options import SEED, ExplorationOptions, Option, options_of, saved_in_states
from ordeal.result import NoteKind, Notes, ProgressSnapshot, ShrinkSnapshot

Progress = Callable[[ProgressSnapshot], object]
ShrinkListener = Callable[[ShrinkSnapshot], object]

LAW = one_of("off", "coins", "sizes", "hypothesis", example="off")


@dataclass(frozen=True, kw_only=True)
class Settings(ExplorationOptions):
    """The options of one exploration, all checked, and what else it goes by.

    ``seed`` is that of the exploration; ``session_seed`` is that of this process, where several search. ``swarm`` is
    the law that the class names.
    """

    test_class: str
    session_seed: int = field(metadata=Option(SEED, saved=2, core="seed").metadata)
    swarm: str = field(metadata=Option(LAW, saved=13, core="swarm").metadata)
    progress: Progress | None
    shrink_progress: ShrinkListener | None

    def core_options(self) -> dict[str, Any]:
        """Return what the session of the core is told, by the names that it has there."""
        return {option.core: getattr(self, name) for name, option in options_of(Settings).items() if option.core}

    def saved_options(self) -> dict[str, Any]:
        """Return what decides the search, as a saved state holds it: another seed is refused, other changes noted."""
        return {name: getattr(self, name) for name in saved_in_states(Settings)}


@dataclass(slots=True)
class Tally:
    """What the report counts."""

    runs: int = 0
    steps: int = 0
    rejected: int = 0
    stuck: int = 0
    unconfirmed: int = 0
    barren_runs: int = 0
    notes: Notes = field(default_factory=Notes)

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Remember something that the user should know, once."""
        self.notes.add(text, kind)

    def counts(self) -> dict[str, int]:
        """The figures by name."""
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, int)}
