"""What an exploration has to say besides its figures: a sentence for people, and a kind for programs."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class NoteKind(Enum):
    """What a note is about, as far as a program acts on it."""

    OTHER = "other"
    STATE_NOT_SAVED = "state_not_saved"
    SEED_NOT_SAVED = "seed_not_saved"
    STORE_AWAY = "store_away"


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
        """Add a sentence that is not there yet."""
        if text not in self:
            self.append(Note(text, kind))

    def forget(self, kind: NoteKind) -> None:
        """Drop the notes of a kind, when a later success has outweighed them."""
        self[:] = [note for note in self if not (isinstance(note, Note) and note.kind is kind)]


def has_kind(notes: Iterable[str], kind: NoteKind) -> bool:
    """Return whether a note of ``kind`` is among ``notes``."""
    return any(isinstance(note, Note) and note.kind is kind for note in notes)
