"""The parts of a result: what it says of failures, faults, rules and seeds, its notes, and its progress."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Literal

import msgspec

from ordeal._base.formatting import counted, one_line
from ordeal._base.json_fields import Count
from ordeal._base.limits import LINE_CHARS_MAX
from ordeal._base.world_reach import OF_WORLDS


class NoteKind(Enum):
    """What a note is about, as far as a program acts on it."""

    OTHER = "other"
    STATE_NOT_SAVED = "state_not_saved"
    SEED_NOT_SAVED = "seed_not_saved"


class Note(str):
    """A sentence with its kind. Equal to the same sentence of any kind."""

    __slots__ = ("kind",)

    kind: NoteKind

    def __new__(cls, text: str, kind: NoteKind = NoteKind.OTHER) -> Note:
        """Make a note."""
        note = super().__new__(cls, text)
        note.kind = kind
        return note


class Notes(list[str]):
    """Notes in the order in which they came, each once."""

    def add(self, text: str, kind: NoteKind = NoteKind.OTHER) -> None:
        """Add ``text``, a sentence about ``kind``, unless it is there already."""
        if text not in self:
            self.append(Note(text, kind))

    def forget(self, kind: NoteKind) -> None:
        """Drop the notes of a kind, once a later success makes them void."""
        self[:] = [note for note in self if not (isinstance(note, Note) and note.kind is kind)]


def has_kind(notes: Iterable[str], kind: NoteKind) -> bool:
    """Return True if a note of ``kind`` is among ``notes``."""
    return any(isinstance(note, Note) and note.kind is kind for note in notes)


PlaceKind = Literal["rule", "initialize", "invariant", "teardown", "constructor", "other"]


class CodeLine(msgspec.Struct, frozen=True):
    """A line of a source file. The path is relative to the current folder, or to that of installed packages."""

    file: str
    line: int
    function: str
    code: str

    def __str__(self) -> str:
        return one_line(f"{self.file}:{self.line} in {self.function}", limit=2 * LINE_CHARS_MAX)


class FailurePlace(msgspec.Struct, frozen=True):
    """Where a failure happened.

    ``name`` is the rule or invariant that failed, as ``kind`` says, and ``at`` its line that failed. ``raised_at`` is
    the last line outside the machine, as in the library under test; None if the machine raised itself. ``asserted``
    holds the lines of a failed ``assert`` with its values; it is empty for other failures.
    """

    kind: PlaceKind
    name: str
    at: CodeLine
    raised_at: CodeLine | None = None
    asserted: tuple[str, ...] = ()


def broken_invariant(place: FailurePlace | None) -> str:
    """Return the name of the invariant that failed, if one did."""
    return place.name if place is not None and place.kind == "invariant" else ""


def where_lines(place: FailurePlace | None) -> list[str]:
    """Return the lines of a report that say where a failure happened; nothing if that is unknown."""
    if place is None:
        return []
    kind = "" if place.kind == "other" else f" ({place.kind})"
    lines = [f"At: {place.at}{kind}"]
    if place.raised_at is not None:
        code = f": {one_line(place.raised_at.code)}" if place.raised_at.code else ""
        lines.append(f"Raised at: {place.raised_at}{code}")
    return lines


def place_lines(place: FailurePlace | None) -> list[str]:
    """Return where a failure happened, and what was asserted there; nothing if that is unknown."""
    if place is None:
        return []
    label = f"{asserted_label(place.asserted)}: "
    return where_lines(place) + [
        f"{'' if number else label}{one_line(text)}" for number, text in enumerate(place.asserted)
    ]


def asserted_label(texts: Sequence[str]) -> str:
    """Return what the lines of ``FailurePlace.asserted`` are: a failed assertion, or only notes on a failure."""
    return "Asserted" if texts and texts[0].startswith("assert ") else "Note"


class FaultUse(msgspec.Struct, frozen=True):
    """What a fault did: the ``runs`` in which it was on, the ``calls`` that met it, and the ``hits`` that it changed.

    Replays are not counted, nor are runs that start from a state held by a process.
    """

    name: str
    runs: Count
    calls: Count
    hits: Count

    @property
    def is_of_world(self) -> bool:
        """Whether it is a fault of a simulated world."""
        return self.name.startswith(OF_WORLDS)

    def remark(self) -> str:
        """Return a remark on a fault that was on and did nothing; empty for one that did something, or was never on."""
        if not self.runs or self.hits:
            return ""
        if self.is_of_world:
            why = "changed nothing that it met" if self.calls else "met nothing: what it names was not there"
            return f"Fault {self.name} was part of {counted(self.runs, 'run')}, and {why}."
        on = f"Fault {self.name} was on in {counted(self.runs, 'run')}"
        if not self.calls:
            return f"{on}, met 0 calls: see that the rules call its target."
        return f"{on}, met {counted(self.calls, 'call')} and changed nothing in any of them."


def world_lines(uses: Sequence[FaultUse]) -> list[str]:
    """Return how often the faults of simulated worlds struck, for people."""
    own = [use for use in uses if use.is_of_world]
    if not own:
        return []
    head = f"World, in {counted(max(use.runs for use in own), 'run')}:"
    return [head, *(f"  {one_line(use.name)} struck {counted(use.hits, 'time')}" for use in own)]


#: A rule that did not run in this many runs is worth a remark.
RUNS_TO_REMARK = 500


class UnderFault(msgspec.Struct, frozen=True):
    """The ``steps`` of a rule under a fault, or without one where ``fault`` is None, and how many of them failed."""

    fault: str | None
    steps: Count
    failures: Count


class RuleUse(msgspec.Struct, frozen=True):
    """What a rule did in the runs of an exploration: first without a fault, then under each fault of the machine.

    A step with two faults on counts for both. One fails that raises or breaks an invariant, and no step is one that
    ``assume()`` rejects. Replays are not counted, nor are runs that start from a state held by a process.
    """

    name: str
    cells: tuple[UnderFault, ...]

    @property
    def ran(self) -> bool:
        """Whether there was a step of it."""
        return any(cell.steps for cell in self.cells)


def unused_remark(uses: Sequence[RuleUse], runs: int) -> str:
    """Return a remark on the rules that never ran; empty if all did, or none, or there were few runs."""
    never = [use.name for use in uses if not use.ran]
    if runs < RUNS_TO_REMARK or not never or len(never) == len(uses):
        return ""
    names = ", ".join(never[:5]) + (f" and {len(never) - 5} more" if len(never) > 5 else "")
    which, them = ("Rule", "it") if len(never) == 1 else ("Rules", "them")
    ran = f"{which} {names} never ran to the end in {counted(runs, 'run')}"
    return f"{ran}: `ordeal doctor` says what keeps {them} from it."


class Inconclusive(msgspec.Struct, frozen=True):
    """An exploration found no failure, but did not do enough work for this to be a claim.

    ``reason`` says what it did not do, ``hint`` what to change.
    """

    reason: str
    hint: str

    def __str__(self) -> str:
        return f"{self.reason}: {self.hint}"


class KnownFailure(msgspec.Struct, frozen=True):
    """A known failure: the ``entry`` of ``known`` or ``--ignore`` that names it, and how many runs met it.

    It was neither confirmed nor shrunk. ``count`` is 0 if only a saved seed showed it.
    """

    entry: str
    bucket: str
    error_type: str
    error_message: str
    count: Count


def known_lines(known: Sequence[KnownFailure]) -> list[str]:
    """Return what was met and is not reported, one line for each kind; nothing if there is none."""
    if not known:
        return []
    total = counted(sum(each.count for each in known), "time")
    lines = [f"Known, not reported: {counted(len(known), 'kind')}, {total}"]
    for each in known:
        error = f"{each.error_type}: {each.error_message}" if each.error_message else each.error_type
        what = one_line(error, limit=LINE_CHARS_MAX)
        lines.append(f"  {counted(each.count, 'run')}: {what} (known as {one_line(each.entry)!r})")
    return lines


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


class SeedOutcome(msgspec.Struct, frozen=True):
    """The result of one saved seed that an exploration replayed before its first run.

    ``message`` is the failure as text, or why the seed does not apply or cannot be read; empty for a fixed one.
    """

    name: str
    path: str
    status: SeedStatus
    message: str = ""


class ShrinkSnapshot(msgspec.Struct, frozen=True):
    """The progress of shrinking failure ``number`` of ``total``, from ``steps_before`` to ``steps`` steps.

    ``elapsed`` is in seconds since the exploration began; ``candidates`` counts the traces that were tried. With
    ``waits``, its last step is watched for up to this many seconds, to see whether it hangs.
    """

    elapsed: float
    number: int
    total: int
    steps_before: int
    steps: int
    candidates: int
    waits: float = 0.0


class FoundFailure(msgspec.Struct, frozen=True):
    """A failure that was found, and failed again from a fresh machine. Its trace has ``steps`` steps.

    It is not shrunk yet, unless it comes from a fleet.
    ``error`` is its type and message on one line. ``id`` and ``bucket`` name it; shrinking may show that it is the same
    as another one, or several.
    """

    id: str
    bucket: str
    error: str
    run_id: int
    steps: int


class WorkerProgress(msgspec.Struct, frozen=True):
    """What a worker has done. ``ended`` counts its processes that ended; each has a successor."""

    runs: Count
    steps: Count
    ended: Count


class ProgressSnapshot(msgspec.Struct, frozen=True):
    """The progress of an exploration, passed to ``progress`` after each run. ``elapsed`` is in seconds.

    ``found`` are the failures so far, in the order in which they were found; it is the same object until there is
    another one. ``lines`` counts the lines of the target modules that runs reached, without those that an import runs,
    and ``next_run_max`` bounds the probability that the next run shows something new (95 %), None while too little is
    known. Both are counted now and then, and only where separate processes explore, as are ``workers``, by number.
    """

    elapsed: float
    total_runs: int
    total_steps: int
    unique_edges: int
    checkpoints: int
    failures: int
    runs_per_second: float
    found: tuple[FoundFailure, ...] = ()
    lines: int = 0
    next_run_max: float | None = None
    workers: tuple[WorkerProgress, ...] = ()
