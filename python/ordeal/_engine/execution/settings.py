"""What an exploration is told, and what it counts while it runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ordeal.config import CheckpointKind, SwarmPolicy
from ordeal.result import NoteKind, Notes, ProgressSnapshot, ShrinkSnapshot

Progress = Callable[[ProgressSnapshot], object]
ShrinkTold = Callable[[ShrinkSnapshot], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The options of one exploration, all checked.

    ``seed`` is that of the exploration; ``session_seed`` is that of this process, where several search.
    """

    test_class: str
    seed: int
    max_checkpoints: int
    checkpoint_prob: float | None
    checkpoint_strategy: str
    checkpoint_kind: CheckpointKind
    fault_toggle_prob: float
    seed_mutation_prob: float | None
    buggify_prob: float
    steps_per_run: int
    rule_swarm: bool | None
    swarm_policy: SwarmPolicy
    swarm: str
    coverage: str
    value_reuse_prob: float
    comparison_tracing: str
    max_time: float
    max_runs: int | None
    patience: int
    shrink: bool
    max_shrink_time: float
    confirm_fresh: bool
    record_traces: bool
    progress: Progress | None
    shrink_progress: ShrinkTold | None
    save_state_to: Path | None
    resume_from: Path | None
    corpus_dir: Path | None
    rule_timeout: float | None
    session_seed: int


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
