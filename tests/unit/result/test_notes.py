"""Notes are said once each, in their order, and a program can ask for those of a kind."""

from __future__ import annotations

from ordeal.result.parts import Note, NoteKind, Notes, has_kind

NOT_SAVED = NoteKind.STATE_NOT_SAVED


def test_a_note_is_its_sentence_of_whatever_kind() -> None:
    note = Note("full", NOT_SAVED)
    assert note == "full"
    assert note == Note("full")
    assert hash(note) == hash("full")
    assert (note.kind, Note("full").kind) == (NOT_SAVED, NoteKind.OTHER)


def test_notes_stay_in_their_order_each_once_with_the_kind_that_came_first() -> None:
    notes = Notes()
    for text, kind in (("b", NOT_SAVED), ("a", NoteKind.OTHER), ("b", NoteKind.OTHER), ("a", NOT_SAVED)):
        notes.add(text, kind)
    assert notes == ["b", "a"]
    assert [note.kind for note in notes if isinstance(note, Note)] == [NOT_SAVED, NoteKind.OTHER]


def test_forgetting_a_kind_leaves_the_others_and_what_has_no_kind() -> None:
    notes = Notes(["read from a file"])
    notes.add("full", NOT_SAVED)
    notes.add("seed", NoteKind.SEED_NOT_SAVED)
    same = notes
    notes.forget(NOT_SAVED)
    assert same == ["read from a file", "seed"]
    notes.forget(NOT_SAVED)
    assert notes == ["read from a file", "seed"]


def test_a_forgotten_note_can_be_said_again() -> None:
    notes = Notes()
    notes.add("full", NOT_SAVED)
    notes.forget(NOT_SAVED)
    notes.add("full", NOT_SAVED)
    assert notes == ["full"]


def test_a_kind_is_found_among_notes_and_plain_sentences_have_none() -> None:
    notes = ["full", Note("seed", NoteKind.SEED_NOT_SAVED)]
    assert has_kind(notes, NoteKind.SEED_NOT_SAVED)
    assert not has_kind(notes, NOT_SAVED)
    assert not has_kind(["full"], NoteKind.OTHER)
    assert not has_kind([], NoteKind.OTHER)
