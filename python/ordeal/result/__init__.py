"""The results of an exploration: its figures, its failures, and the snapshots for progress lines."""

from __future__ import annotations

from ordeal.config import SnapshotKind
from ordeal.result.exploration import Discovery, ExplorationResult, StoppedReason
from ordeal.result.failure import Failure
from ordeal.result.inconclusive import Inconclusive
from ordeal.result.known import KnownFailure
from ordeal.result.notes import Note, NoteKind, Notes
from ordeal.result.place import CodeLine, FailurePlace
from ordeal.result.progress import FoundFailure, ProgressSnapshot, ShrinkSnapshot, WorkerProgress
from ordeal.result.seeds import SeedOutcome, SeedStatus
from ordeal.result.uses import FaultUse, RuleUse, UnderFault

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
