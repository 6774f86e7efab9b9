"""Notes are said once each, in their order, and a program can ask for those of a kind."""

from __future__ import annotations

import pytest
from hypothesis.stateful import RuleBasedStateMachine, rule

from ordeal.explore import Explorer
from ordeal.result import ProgressSnapshot, SeedStatus, ShrinkSnapshot
from ordeal.result.parts import (
    RUNS_TO_REMARK,
    FaultUse,
    Note,
    NoteKind,
    Notes,
    RuleUse,
    UnderFault,
    has_kind,
    unused_remark,
    world_lines,
)

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


class Failing(RuleBasedStateMachine):
    """Fails in its third step."""

    steps = 0

    @rule()
    def step(self) -> None:
        self.steps += 1
        assert self.steps < 3


def test_each_run_and_each_try_is_told_with_figures_that_only_grow() -> None:
    runs: list[ProgressSnapshot] = []
    tries: list[ShrinkSnapshot] = []
    result = Explorer(Failing).run(max_runs=20, progress=runs.append, shrink_progress=tries.append)
    assert [told.total_runs for told in runs] == list(range(1, 21))
    for name in ("elapsed", "total_steps", "failures", "checkpoints"):
        values = [getattr(told, name) for told in runs]
        assert values == sorted(values), name
    assert runs[-1].total_steps == result.total_steps
    assert runs[-1].failures == 1
    assert tries
    assert {(told.number, told.total) for told in tries} == {(1, 1)}
    assert [told.candidates for told in tries] == list(range(1, len(tries) + 1))
    assert all(told.steps <= told.steps_before for told in tries)
    assert tries[-1].steps == 3


@pytest.mark.parametrize(
    ("status", "fails"),
    [
        ("reproduced", True),
        ("fails_differently", True),
        ("fixed", False),
        ("no_longer_applies", False),
        ("class_unusable", False),
        ("unreadable", False),
    ],
)
def test_a_seed_fails_when_its_run_does_however(status: str, fails: bool) -> None:
    assert SeedStatus(status).fails is fails


RAN, NEVER = RuleUse("ran", (UnderFault(None, 1, 0),)), RuleUse("idle", (UnderFault(None, 0, 0),))


@pytest.mark.parametrize(("uses", "runs", "remark"), [
    ([RAN, NEVER], RUNS_TO_REMARK - 1, ""),
    ([RAN, RAN], RUNS_TO_REMARK, ""),
    ([NEVER, NEVER], RUNS_TO_REMARK, ""),  # the result is inconclusive, and says so
    ([RAN, NEVER], 500, "Rule idle never ran to the end in 500 runs: `ordeal doctor` says what keeps it from it."),
    ([RAN, *[NEVER] * 7], 500, ("Rules idle, idle, idle, idle, idle and 2 more never ran to the end in 500 runs: "
     "`ordeal doctor` says what keeps them from it.")),
])  # fmt: skip
def test_rules_that_never_ran_are_told(uses: list[RuleUse], runs: int, remark: str) -> None:
    assert unused_remark(uses, runs) == remark


CRASH = FaultUse("simulate.crash('*')", 40, 120, 31)


def test_who_struck_nothing_is_told_with_the_reason() -> None:
    assert CRASH.remark() == ""
    assert FaultUse("simulate.pause('x')", 40, 0, 0).remark().endswith("and met nothing: what it names was not there.")
    assert FaultUse("simulate.pause('x')", 0, 0, 0).remark() == ""
    assert "changed nothing that it met" in FaultUse("simulate.pause('*')", 40, 3, 0).remark()
    assert "see that the rules call its target" in FaultUse("timeout(a.b)", 40, 0, 0).remark()


def test_only_faults_of_worlds_are_listed() -> None:
    assert world_lines([FaultUse("timeout(a.b)", 40, 1, 1)]) == []
    assert world_lines([CRASH, FaultUse("timeout(a.b)", 40, 1, 1)]) == [
        "World, in 40 runs:",
        "  simulate.crash('*') struck 31 times",
    ]
