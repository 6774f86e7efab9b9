"""The settings of an exploration, and the figures that it counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import msgspec.structs

from ordeal.config.options import ExhaustiveOptions, ExplorationOptions
from ordeal.result import NoteKind, Notes, ProgressSnapshot, ShrinkSnapshot

Progress = Callable[[ProgressSnapshot], object]
ShrinkListener = Callable[[ShrinkSnapshot], object]

#: The options that decide the search, in the order in which saved states hold them.
_SAVED = (
    *("seed", "session_seed", "max_checkpoints", "checkpoint_prob", "checkpoint_strategy", "checkpoint_kind"),
    *("fault_toggle_prob", "seed_mutation_prob", "buggify_prob", "steps_per_run", "rule_swarm", "swarm_policy"),
    *("swarm", "coverage", "value_reuse_prob", "comparison_tracing"),
)


class Settings(ExplorationOptions):
    """The checked options of one exploration, and what else it depends on.

    ``seed`` is the exploration's; ``session_seed`` is this process's, where several search. ``swarm`` is the
    distribution that the class names.
    """

    test_class: str
    session_seed: int
    swarm: str
    progress: Progress | None
    shrink_progress: ShrinkListener | None

    def saved_options(self) -> dict[str, Any]:
        """Return what decides the search, as saved in a state: another seed is refused, other changes are noted."""
        return {name: getattr(self, name) for name in _SAVED}


class Scope(ExhaustiveOptions):
    """The checked options of a bounded search: the scope to run."""

    test_class: str
    progress: Progress | None
    corpus_dir: Path | None
    rule_timeout: float | None
    max_memory: int = 0
    known: tuple[str, ...] = ()
    # Options that triage asks for and this search does not have.
    seed: int = 0
    confirm_fresh: bool = False
    record_traces: bool = False


class Tally(msgspec.Struct):
    """What the report counts."""

    runs: int = 0
    steps: int = 0
    rejected: int = 0
    overrun: int = 0
    """How many of the rejected drew more than Hypothesis allows for a run."""
    emptied: int = 0
    """How many of the rejected drew from a bundle without values."""
    stuck: int = 0
    unconfirmed: int = 0
    runs_without_novelty: int = 0
    notes: Notes = msgspec.field(default_factory=Notes)

    def note(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Add a note for the user, once."""
        self.notes.add(text, kind)

    def counts(self) -> dict[str, int]:
        """Return the figures by name."""
        values = msgspec.structs.asdict(self)
        return {name: value for name, value in values.items() if isinstance(value, int)}
