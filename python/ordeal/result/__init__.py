"""The results of an exploration: its figures, its failures, and the snapshots for progress lines."""

from __future__ import annotations

from ordeal.config.options import SnapshotKind
from ordeal.result.exploration import Discovery, ExplorationResult, StoppedReason
from ordeal.result.failure import Failure
from ordeal.result.parts import (
    CodeLine,
    FailurePlace,
    FaultUse,
    FoundFailure,
    Inconclusive,
    KnownFailure,
    Note,
    NoteKind,
    Notes,
    ProgressSnapshot,
    RuleUse,
    SeedOutcome,
    SeedStatus,
    ShrinkSnapshot,
    UnderFault,
    WorkerProgress,
)

__all__ = [
    "CodeLine",
    "Discovery",
    "ExplorationResult",
    "Failure",
    "FailurePlace",
    "FaultUse",
    "FoundFailure",
    "Inconclusive",
    "KnownFailure",
    "Note",
    "NoteKind",
    "Notes",
    "ProgressSnapshot",
    "RuleUse",
    "SeedOutcome",
    "SeedStatus",
    "ShrinkSnapshot",
    "SnapshotKind",
    "StoppedReason",
    "UnderFault",
    "WorkerProgress",
]
